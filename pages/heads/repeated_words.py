"""What is said of random tokens said twice: who does what, and what the best heads are worth."""

from collections.abc import Mapping

import pandas as pd

from core.inspection.captions import CLEAR_FACTOR, CLEAR_WEIGHT
from core.inspection.heads import head_name
from core.inspection.repeated_rows import NAMES, SCORES, Estimate, Repeated, RepeatedRow
from pages.heads.overview_words import cell, link_to_map
from pages.shared.text import plain

SORTS = {"": "layer and head", **NAMES}
DOES = {
    "previous_token": "look at the token before",
    "duplicate_token": "look at the same token, said before",
    "induction": "look at what followed on the same token",
}
MOST_NAMED = 4


def headline(found: Repeated) -> str:
    """The best head for induction, or that there is none."""
    best = found.sorted_by("induction")[0]
    weight, uniform = cell(best.induction.weight), cell(best.induction.uniform)
    if best.induction.is_clear:
        return (
            f"{best.name} looks at what followed last time: induction {weight}, uniform {uniform}"
        )
    return f"No head does induction: at most {weight} ({best.name}), uniform {uniform}"


def who_does_what(found: Repeated) -> str:
    """Each score in a sentence."""
    return " ".join(_who(found, name) for name in SCORES)


def what_it_costs(found: Repeated) -> str:
    """Whether the second half is cheaper, and what the best heads have to do with it."""
    losses, n = found.losses, len(found.losses.best)
    which = f"the {n} best heads" if n > 1 else "the best head"
    others = f"{n} random ones" if n > 1 else "a random one"
    above, names = losses.best_above_random, ", ".join(head_name(*head) for head in losses.best)
    if not found.looks_back:
        return (
            f"The second half costs {_nats(losses.second)} nats a token, the first "
            f"{_nats(losses.first)}: this model saves nothing by having read the same before, so "
            f"what changes without {which} for induction ({names}) says nothing of induction."
        )
    verdict = (
        "They are worth more than heads drawn at random."
        if above.low > 0
        else "They are worth no more than heads drawn at random."
    )
    return (
        f"The second half costs {_nats(losses.saved)} nats a token less than the first. Without "
        f"{which} for induction ({names}) it costs {_nats(losses.added_by_best)} more, without "
        f"{others} {_nats(losses.added_by_random)}. {verdict}"
    )


def setting(found: Repeated) -> str:
    """What was said to the model, and what the numbers are of."""
    front = "" if found.begin is None else f", token {found.begin} in front"
    effective = " Weights are effective ones: there is no softmax." * found.has_effective_weights
    return (
        f"{found.n_sequences} sequences of {found.n_tokens} different random tokens, said twice "
        f"(seed {found.seed}{front}). Scores are mean weights in the rows of the second half; a "
        f"head counts from {CLEAR_WEIGHT:g} on, if that is {CLEAR_FACTOR:g} times what uniform "
        "attention over all that a row can see would give. Losses are means over the tokens of a "
        f"half but its first, with 95 % intervals over sequences.{effective}"
    )


def heads_table(rows: list[RepeatedRow], link: Mapping[str, str], *, without_first: bool) -> str:
    """A line a head: each score beside what uniform attention gives, clear ones bold."""
    headings = ["head", *(f"{NAMES[name]} / uniform" for name in SCORES)]
    lines = [f"| {' | '.join(headings)} |", f"|:--|{'--:|' * len(SCORES)}"]
    for row in rows:
        cells = [link_to_map(row, link)]
        for name in SCORES:
            weight, uniform = row.score(name).shown(without_first=without_first)
            shown = f"**{cell(weight)}**" if row.score(name).is_clear else cell(weight)
            cells.append(f"{shown}\u00a0/\u00a0{cell(uniform)}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def losses_table(found: Repeated) -> str:
    """Nats a token, with every head on and with some off."""
    losses, (low, high) = found.losses, found.losses.range
    n = len(losses.best)
    lines = {
        "first half": _both(losses.first),
        "second half": _both(losses.second),
        f"without the {n} best": _both(losses.without_best),
        f"without {n} random heads": _both(losses.without_random),
        f"range of {len(losses.draws)} draws": f"| {_between(low, high)}",
        "a guess among all tokens": f"{found.chance:.2f} |",
    }
    head = ["| nats a token | mean | 95 % |", "|:--|--:|--:|"]
    return "\n".join([*head, *(f"| {plain(what)} | {said} |" for what, said in lines.items())])


def frame(found: Repeated) -> pd.DataFrame:
    """Every score of every head."""
    columns: dict[str, list[float | None]] = {}
    for name in SCORES:
        scores = [row.score(name) for row in found.rows]
        columns[name] = [score.weight for score in scores]
        columns[f"{name}_uniform"] = [score.uniform for score in scores]
        columns[f"{name}_without_first"] = [score.without_first for score in scores]
        columns[f"{name}_uniform_without_first"] = [score.uniform_without_first for score in scores]
    return pd.DataFrame(columns, index=[row.name for row in found.rows])


def _who(found: Repeated, name: str) -> str:
    """Which heads do it, with their scores."""
    clear = found.clear(name)
    if not clear:
        best = found.sorted_by(name)[0]
        score = best.score(name)
        return (
            f"**{NAMES[name].capitalize()}**: no head does it (at most {cell(score.weight)}, "
            f"{best.name}; uniform {cell(score.uniform)})."
        )
    listed = ", ".join(f"{row.name} {cell(row.score(name).weight)}" for row in clear[:MOST_NAMED])
    more = f" and {len(clear) - MOST_NAMED} more" if len(clear) > MOST_NAMED else ""
    verb = DOES[name] if len(clear) > 1 else DOES[name].replace("look", "looks", 1)
    uniform = cell(clear[0].score(name).uniform)
    return f"**{NAMES[name].capitalize()}**: {listed}{more} {verb} (uniform {uniform})."


def _nats(value: Estimate) -> str:
    return f"**{value.mean:.2f}** ({value.low:.2f} to {value.high:.2f})".replace("-", "−")


def _both(value: Estimate) -> str:
    return f"{value.mean:.2f} | {_between(value.low, value.high)}"


def _between(low: float, high: float) -> str:
    """A range that is not broken into two lines."""
    return f"{low:.2f}–\u2060{high:.2f}"
