"""What the page says: what c looks like, the table of theory and sample, the common slip."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.montecarlo.compare import FALSE_VERDICTS, Row, Verdict
from core.montecarlo.result import Measured, Sample
from core.montecarlo.spec import PerturbationSpec

TASK = "Each draw perturbs the keys; c should still be the average of v_a and v_b"
MIDDLE = "near the midpoint of v_a and v_b, every time"
MOSTLY = "near the midpoint mostly, now and then far off"
ENDS = "at v_a or at v_b, hardly ever between"
ASIDE = "mostly at one place, but off the midpoint"
SPREAD = "all over: no place holds most of it"
UNCLEAR = "not to be told from so few draws"
SHAPES = (MIDDLE, MOSTLY, ENDS, ASIDE, SPREAD)
QUANTITIES = {
    "mean_share_a": "mean of the share on a",
    "variance_share_a": "variance of the share on a",
    "p_off_center": "P(share < 0.1 or > 0.9)",
    "p_head_fails": "P(a head that asks for a fails)",
    "total_variance_c": "total variance of c",
    "p_ignored": "P(k_a·q < 0)",
}
AGREES, DISAGREES = ":material/check: agrees", ":material/close: disagrees"
SAMPLE_ONLY, TOO_FEW = "sample only", ":material/help: too few draws"
AGREEMENTS: dict[Verdict, str] = {
    "agrees": AGREES,
    "disagrees": DISAGREES,
    "too few draws": TOO_FEW,
    "sample only": SAMPLE_ONLY,
}
NO_NUMBER = "–"
_SCALED = r"$\lVert v_a {} v_b\rVert^2\,\mathrm{{Var}}[t]$"
MOST, ALWAYS, LITTLE = 0.5, 0.95, 1e-3
# With fewer draws another seed often tells another shape, or another number of peaks.
ENOUGH_FOR_SHAPE, ENOUGH_FOR_PEAKS = 100, 1000


def shape_of(drawn: Sample) -> str:
    """Which of `SHAPES` the sample is, by tenths of the share on a; `UNCLEAR` of too few draws.

    Near the midpoint is a share from 0.4 to 0.6; off it, at least half of the draws lie in two
    neighbouring tenths elsewhere; ends are the outermost tenths, each with a tenth of the draws.
    """
    if drawn.n_kept < ENOUGH_FOR_SHAPE:
        return UNCLEAR
    parts = drawn.coarse_counts(10) / drawn.n_kept
    middle = float(parts[4:6].sum())
    if middle >= ALWAYS:
        return MIDDLE
    if middle >= MOST:
        return MOSTLY
    if parts[0] + parts[9] >= MOST and min(parts[0], parts[9]) >= 0.1:
        return ENDS
    if float((parts[1:] + parts[:-1]).max()) >= MOST:
        return ASIDE
    return SPREAD


def headline(drawn: Sample) -> str:
    """One sentence: what c does, with its number and error."""
    off = percent_with_error(drawn.p_off_center())
    spread = with_error(drawn.variance_share_a)
    return {
        MIDDLE: f"c stays near ½(v_a + v_b): the variance of its share on a is {spread}.",
        MOSTLY: f"c is near ½(v_a + v_b) mostly, not always: in {off} of the draws its share on a "
        "is below 0.1 or above 0.9.",
        ENDS: f"c is nearly v_a or nearly v_b in {off} of the draws, and seldom the average.",
        ASIDE: "c is mostly at one place, but not at ½(v_a + v_b): its share on a is "
        f"{with_error(drawn.mean_share_a)} in the mean.",
        SPREAD: f"c is all over: the variance of its share on a is {spread}.",
        UNCLEAR: f"{count_of_draws(drawn)} cannot tell what c looks like; {ENOUGH_FOR_SHAPE} "
        "draws can.",
    }[shape_of(drawn)]


def peaks_sentence(drawn: Sample) -> str:
    """Whether mean ± sd can stand for the law."""
    mean, deviation = drawn.mean_share_a.value, drawn.deviation_share_a.value
    if drawn.n_kept < 2:
        return "The diamond is the one draw; it has no spread."
    bar = "The diamond with its bar is mean ± sd."
    if drawn.n_kept < ENOUGH_FOR_PEAKS:
        return f"Too few draws to count peaks: mean ± sd is {mean:.3g} ± {deviation:.2g}. {bar}"
    if drawn.is_bimodal:
        return (
            f"**Two peaks** (bimodal): {mean:.2f} ± {deviation:.2g}, mean ± sd, misleads. "
            f"Read the bars. {bar}"
        )
    return f"One peak: mean ± sd is {mean:.3g} ± {deviation:.2g}. {bar}"


def verdict(answer: str, drawn: Sample) -> str:
    """The prediction beside what happened."""
    happened = shape_of(drawn)
    parts = drawn.coarse_counts(10) / drawn.n_kept
    ends, middle = parts[0] + parts[9], parts[4:6].sum()
    numbers = (
        f"{middle:.1%} of the draws within 0.1 of the midpoint, {ends:.1%} within 0.1 of an end."
    )
    if happened == UNCLEAR:
        return f":material/help: **{count_of_draws(drawn)} cannot tell.** {numbers}"
    if answer == happened:
        return f":material/check: **As you said.** {numbers}"
    return f":material/close: **It is {happened}.** {numbers}"


def steadier_not_certain(rows: Sequence[Row], spec: PerturbationSpec) -> str:
    """That more heads are steadier, not certain; empty where no head asks for a alone."""
    several = spec.heads > 1 if isinstance(spec.heads, int) else spec.heads == "two"
    if not several:
        return ""
    row = next(row for row in rows if row.quantity == "p_head_fails")
    if row.sample is None or row.standard_error is None or (row.sample == 0 and not row.theory):
        return ""
    return (
        f"Steadier, not certain: the head on the long key puts less than half on it in "
        f"{percent_with_error(Measured(row.sample, row.standard_error))} of the draws."
    )


def why_not_steadier(spec: PerturbationSpec) -> str:
    """Why more heads than two need not be steadier still."""
    h = spec.heads if isinstance(spec.heads, int) else 8
    on_a = int((replace(spec, heads=h).coefficients[:, 0] > 0).sum())
    return (
        f"By the coin of this seed {on_a} of the {h} heads are on a, and they fail together, for "
        "they see the same key: more than two heads need not be steadier."
    )


def agreement_table(rows: Sequence[Row]) -> str:
    """Quantity, theory, sample, standard error, agreement as a Markdown table.

    A quantity stands on one line: on a phone the table moves sideways instead.
    """
    lines = [
        f"| {_whole(QUANTITIES[row.quantity])} | {_theory(row)} | {_number(row.sample, '.4g')} "
        f"| {_number(row.standard_error, '.1g')} | {AGREEMENTS[row.verdict]} |"
        for row in rows
    ]
    head = ["| quantity | theory | sample | standard error | agreement |", "|:--|--:|--:|--:|:--|"]
    return "\n".join([*head, *lines])


def agreement_note(drawn: Sample) -> str:
    """What stands behind a verdict."""
    return (
        f"While theory is right, some row fails in at most {FALSE_VERDICTS:.0%} of all samples; "
        "where none could, the draws are too few. "
        f"{count_of_draws(drawn)}, seed {drawn.spec.seed}."
    )


def common_slip(
    drawn: Sample, right: float, wrong: float, along: tuple[float, float]
) -> tuple[str, str]:
    """The common slip: its formula, and what the sample says of it."""
    formula = (
        r"\begin{gathered}c = t v_a + (1-t) v_b\\"
        r"\mathrm{Var}[c] = \lVert v_a - v_b\rVert^2\,\mathrm{Var}[t]\end{gathered}"
    )
    a, b = drawn.spec.value_rows[:2]
    same = bool(np.isclose(((a - b) ** 2).sum(), ((a + b) ** 2).sum()))
    total = drawn.total_variance_c
    if drawn.n_kept < 2:
        return formula, "One draw has no variance that could tell the slip from what is right."
    text = (
        "The slip writes $(v_a + v_b)\\,\\mathrm{Var}[t]$, as if $t$ and $1 - t$ varied "
        f"apart. Here {_SCALED.format('-')} = {right:.3g}; with the slip's direction "
        f"{_SCALED.format('+')} = {wrong:.3g}; total variance in the sample: {with_error(total)}. "
        f"$c$ varies by {along[0]:.3g} along $v_a - v_b$ and by {along[1]:.2g} along $v_a + v_b$."
    )
    if same:
        text += (
            " For orthogonal values both lengths are equal: only the direction tells them apart."
        )
    aside = 1.0 - float(drawn.mean_weights[:2].sum())
    if aside < LITTLE:
        return formula, text + " c stays on the segment, so the formula holds."
    return formula, (
        f"{text} The formula does not hold here: a weight of {aside:.2g} in the mean lies on other "
        "values, and c leaves the segment."
    )


def count_of_draws(drawn: Sample) -> str:
    """How many draws there are."""
    return "1 draw" if drawn.n_kept == 1 else f"{drawn.n_kept:,} draws"


def with_error(found: Measured) -> str:
    """A number and its standard error, where there is one."""
    error = "" if found.standard_error is None else f" ± {found.standard_error:.1g}"
    return f"{found.value:.3g}{error}"


def percent_with_error(found: Measured) -> str:
    """A probability and its standard error, where there is one, in percent."""
    error = "" if found.standard_error is None else f" ± {100 * found.standard_error:.1g}"
    return f"{100 * found.value:.3g}{error} %"


def _whole(text: str) -> str:
    return text.replace(" ", "\u00a0")


def _theory(row: Row) -> str:
    return SAMPLE_ONLY if row.theory is None else f"{row.theory:.4g}"


def _number(number: float | None, form: str) -> str:
    return NO_NUMBER if number is None else format(number, form)
