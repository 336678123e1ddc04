"""What is said of the recorded trainings, with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.evaluation.picture_figures import (
    Difference,
    Mean,
    does_pooling_help,
    network_figures,
    pooling_by_rate,
)
from core.figures.knowledge_measures import DIFFERENCE, Dot
from core.figures.named_rows import Named
from core.pictures.shifts import SHIFTS
from core.pictures.sweep import Sweep
from pages.look.names import NAMES, SHORT
from pages.shared.text import percent, plain, whole

AXIS = "percentage points gained by max-pooling"
COUNTS = (
    "Neither max-pooling nor a stride has parameters: for the homework's four classes both nets "
    "count 224,892 with a padding of 1 (576 numbers enter the first full layer) and 168,572 "
    "without (400). Two public solutions count 224,892 for both; a report's 168,572 “with pooling” "
    "is the net without padding, so that two sizes were compared. Here both have the same size."
)
VERDICTS = {"helps": "Yes", "hurts": "No, it hurts", "open": "That stays open"}


def pooling_title(sweep: Sweep) -> str:
    """The answer, with its interval."""
    found = does_pooling_help(sweep)
    answer = VERDICTS[found.verdict]
    if found.difference is None:
        return f"{answer}: no seed went well with both"
    return f"{answer}: {_points(found.difference)} percentage points at the best rate of each"


def pooling_meaning(sweep: Sweep) -> str:
    """How the rates were chosen, what is paired, and why one seed says little."""
    one, other = does_pooling_help(sweep).rates
    return (
        f"Best on validation pictures is rate {one:g} with pooling and {other:g} with strides. A "
        "difference is of two trainings from the same seed, with the same first parameters and "
        f"order of pictures; its interval is Student's t over {sweep.spec.seeds} seeds. Two public "
        "solutions, of one seed each, have opposite orders."
    )


def difference_rows(sweep: Sweep) -> tuple[list[Named], list[Dot], tuple[float, float]]:
    """A row for the best rates and for each rate; ends alike on both sides of 0."""
    found = [("best rate of each", does_pooling_help(sweep))]
    found += [(f"rate {one.rates[0]:g}", one) for one in pooling_by_rate(sweep)]
    rows = [Named(name, _note(one), _short(one)) for name, one in found]
    dots = [
        Dot(at, DIFFERENCE, 100 * mean.mean, *(100 * end for end in ends_of(mean)))
        for at, (_, one) in enumerate(found)
        if (mean := one.difference) is not None
    ]
    reach = max((max(abs(dot.low), abs(dot.high)) for dot in dots), default=1.0)
    end = float(np.ceil(1.1 * reach)) or 1.0
    return rows, dots, (-end, end)


def shift_title(found: Mapping[str, Sequence[Mean]]) -> str:
    """What the farthest shift leaves."""
    left = [f"{SHORT[name]} {percent(means[-1].mean)}" for name, means in found.items() if means]
    return f"Moved by {SHIFTS[-1]} points, right are: {', '.join(left)}"


def shift_meaning(sweep: Sweep) -> str:
    """What was measured."""
    return (
        f"All {sweep.pictures.n_test:,} test pictures moved up, down, left and right, each network "
        f"at its best rate; bands are 95 % intervals over {sweep.spec.seeds} seeds. None was "
        "trained on moved pictures."
    )


def curves_said(sweep: Sweep, networks: Sequence[str], rate: float) -> str:
    """What the bands are, and which trainings are missing."""
    lost = {name: sum(run.diverged for run in sweep.of(name, rate)) for name in networks}
    missing = [f"{n} with {SHORT[name]}" for name, n in lost.items() if n]
    text = f"Lines are means over {sweep.spec.seeds} seeds, bands their 95 % intervals."
    if missing:
        text += f" Left out, since their loss was no number any more: {', '.join(missing)}."
    return text


def network_rows(sweep: Sweep) -> list[dict[str, Any]]:
    """Each network at its best rate."""
    return [
        {
            "network": NAMES[row.name],
            "parameters": f"{row.parameters:,}",
            "rate": f"{row.rate:g}",
            "right": percent(row.accuracy),
            "95 %": _between(row.low, row.high),
            "seeds": row.seeds,
            "diverged": row.diverged,
        }
        for row in network_figures(sweep)
    ]


def origin(sweep: Sweep) -> str:
    """What was trained on what."""
    of, spec = sweep.pictures, sweep.spec
    return (
        f"Right answers on test pictures, with intervals over seeds. Pictures: {of.source}; "
        f"{of.n_train:,} to train on, {of.n_validation:,} to choose the rate, {of.n_test:,} to "
        f"test. {spec.epochs} epochs, batches of {spec.batch}."
    )


def ends_of(mean: Mean) -> tuple[float, float]:
    """Its interval; of one number, the number."""
    low = mean.mean if mean.low is None else mean.low
    high = mean.mean if mean.high is None else mean.high
    return low, high


def _note(found: Difference) -> str:
    if found.difference is None:
        return "diverged"
    lost = f", {found.diverged} diverged" if found.diverged else ""
    return f"{_points(found.difference)}{lost}"


def _short(found: Difference) -> str:
    return "diverged" if found.difference is None else f"{100 * found.difference.mean:+.2f}"


def _points(mean: Mean) -> str:
    low, high = ends_of(mean)
    return f"{100 * mean.mean:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"


def _between(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{percent(low)} to {percent(high)}"


def expected(n_trainings: int, n_jobs: int, seconds: float, *, at_once: bool) -> str:
    """How long a sweep takes, roughly; where jobs may run at once, how long one of them does."""
    jobs = "" if n_jobs == 1 else f" in {n_jobs} jobs"
    if at_once and n_jobs > 1:
        return f"{n_trainings} trainings{jobs}, each about {_minutes(seconds / n_jobs)} on its own."
    return (
        f"{n_trainings} trainings{jobs}, one after the other: about {_minutes(seconds)} on a quiet "
        "machine."
    )


def _minutes(seconds: float) -> str:
    return f"{max(1, round(seconds / 60))} min"


def job_line(name: str, state: str, progress: float) -> str:
    """One job of the list, or a sweep of several, in Markdown."""
    return f"**{plain(name)}**: {whole(f'{state}, {100 * progress:.0f} %')}"
