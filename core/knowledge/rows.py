"""A record of knowledge as the rows of its pictures. Free of torch."""

from collections.abc import Mapping, Sequence
from math import floor
from typing import get_args

from core.figures.knowledge import Outcomes, Sureness
from core.figures.knowledge_measures import (
    ANSWERED,
    AUROC,
    MADE_UP,
    RIGHT,
    TRAINED,
    Calibrated,
    Dot,
)
from core.figures.named_rows import Named
from core.intervals import wilson_interval
from core.knowledge.record import (
    OUTCOMES,
    Auroc,
    Continent,
    Example,
    Group,
    GroupName,
    Knowledge,
    Outcome,
    Share,
)
from core.knowledge.words import Kinds, number, percent, ranked, right, steps

SHORT = {
    "probability": "probability of the answer",
    "margin": "margin to the second best",
    "entropy": "entropy of the first piece",
    "weight_on_name": "weight on the name, all heads",
    "best_head": "weight on the name, best head",
    "contribution": "contribution of the name",
    "agreement": "agreement of the layers",
}
COIN, AUROC_AXIS = 0.5, "AUROC (0.5 is a coin, 1 tells always)"
Beside = tuple[str, Mapping[str, Group]]  # a second model's name and its groups


def sureness(groups: Mapping[str, Group], beside: Beside | None = None) -> list[Sureness]:
    """A row a group; those of a second model below, in the order of the first."""
    return [
        Sureness(
            _named(
                group, owner, groups, _sure_note(group), f"{percent(group.n_sure / group.n)} sure"
            ),
            steps(group.probabilities),
            group.probability_median,
            beside=bool(owner),
        )
        for group, owner in _both(groups, beside)
    ]


def outcomes(
    groups: Mapping[str, Group], kinds: Kinds, beside: Beside | None = None
) -> list[Outcomes]:
    """A row a group: its shares of each kind of answer, which `kinds` names."""
    words = [kinds[kind] for kind in OUTCOMES]
    return [
        Outcomes(
            _named(group, owner, groups, _right_note(group), f"n {group.n}"),
            [group.counts.get(kind, 0) / group.n for kind in OUTCOMES],
            words,
        )
        for group, owner in _both(groups, beside)
    ]


def outcome_table(groups: Mapping[str, Group], kinds: Kinds) -> list[dict[str, str | int]]:
    """Every share with its 95 % interval, a line a group."""
    return [
        {
            "group": group.label,
            "n": group.n,
            **{kinds[kind]: _share_said(group, kind) for kind in OUTCOMES},
            "median probability": percent(group.probability_median),
        }
        for group in groups.values()
    ]


def example_table(examples: Sequence[Example], kinds: Kinds) -> list[dict[str, str]]:
    """Names with what was answered and what is true, a line each."""
    return [
        {
            "name": each.name,
            "answer": each.given,
            "right is": each.place or "–",
            "the answer is": kinds[each.outcome],
            "probability": percent(each.probability),
        }
        for each in examples
    ]


def calibrated(known: Knowledge) -> tuple[list[Calibrated], list[Calibrated]]:
    """The bins that have answers, and the groups that have a true place."""
    bins = [
        Calibrated(
            f"{percent(each.low)} to {percent(each.high)} likely",
            each.confidence,
            each.right / each.n,
            *wilson_interval(each.right, each.n),
            each.n,
        )
        for each in known.calibration
        if each.n
    ]
    groups = [
        Calibrated(
            group.label,
            group.probability_mean,
            group.counts["right"] / group.n,
            *group.intervals["right"],
            group.n,
        )
        for group in known.groups.values()
        if group.has_truth and group.n
    ]
    return bins, groups


def signals(known: Knowledge) -> tuple[list[Named], list[Dot]]:
    """The signals from the best to the worst, with their intervals."""
    found = ranked(known)
    rows = [
        Named(
            _signal(name, each),
            f"{number(each.value)} ({number(each.low)} to {number(each.high)})",
            number(each.value),
        )
        for name, each in found
    ]
    dots = [Dot(at, AUROC, each.value, each.low, each.high) for at, (_, each) in enumerate(found)]
    return rows, dots


def _signal(name: str, found: Auroc) -> str:
    """A signal by a short name; of the best head, which that is."""
    head = found.note.split(",")[0]
    return f"{SHORT[name]} {head}" if name == "best_head" and head else SHORT[name]


def signal_ends(known: Knowledge) -> tuple[float, float]:
    """The ends of a scale that shows every interval and the coin."""
    return min(COIN, *(floor(10 * each.low) / 10 for each in known.auroc.values())), 1.0


def breakdown(rows: Sequence[Share]) -> tuple[list[Named], list[Dot]]:
    """Right answers and made-up words of each row, with their intervals."""
    told = [row for row in rows if row.n]
    names = [
        Named(row.name, f"right {percent(row.right / row.n)} of {row.n}", f"n {row.n}")
        for row in told
    ]
    dots = [
        dot
        for at, row in enumerate(told)
        for dot in (
            Dot(at, RIGHT, row.right / row.n, row.low, row.high),
            Dot(at, MADE_UP, row.made_up / row.n, *wilson_interval(row.made_up, row.n)),
        )
    ]
    return names, dots


def continents(rows: Sequence[Continent]) -> tuple[list[Named], list[Dot]]:
    """Continents of the places that invented names were answered with, beside those of training."""
    names = [
        Named(
            row.name,
            f"{percent(row.share)} of invented, {percent(row.training_share)} in training",
            percent(row.share),
        )
        for row in rows
    ]
    dots = [
        dot
        for at, row in enumerate(rows)
        for dot in (
            Dot(at, ANSWERED, row.share, row.low, row.high),
            Dot(at, TRAINED, row.training_share, row.training_share, row.training_share),
        )
    ]
    return names, dots


def _both(groups: Mapping[str, Group], beside: Beside | None) -> list[tuple[Group, str]]:
    """Each group, then the second model's of the same name; what only the second has stands where
    its kind stands among all.
    """
    name, others = beside or ("", {})
    order = list(groups)
    for key in others:
        if key not in groups:
            order.insert(sum(_rank(other) < _rank(key) for other in order), key)
    sides = ((groups, ""), (others, name))
    return [(side[key], owner) for key in order for side, owner in sides if key in side]


def _rank(name: str) -> int:
    """Where a group stands among all kinds; one's own names come last."""
    kinds: tuple[str, ...] = get_args(GroupName)
    return kinds.index(name) if name in kinds else len(kinds)


def _named(group: Group, owner: str, first: Mapping[str, Group], note: str, short: str) -> Named:
    """A row; below that of the first model the second's own name is enough, and at the end of a row
    that the second has alone it stands before the numbers.
    """
    if not owner:
        return Named(group.label, note, short)
    if group.name in first:
        return Named(f"– {owner}", note, short)
    return Named(group.label, f"{owner} · {note}", owner)


def _sure_note(group: Group) -> str:
    found = right(group)
    said = "" if found is None else f"{percent(found / group.n)} right · "
    return (
        f"{said}{percent(group.n_sure / group.n)} surer than 90 % · median "
        f"{percent(group.probability_median)} · n {group.n}"
    )


def _right_note(group: Group) -> str:
    return f"n {group.n}" if group.has_truth else f"no true place · n {group.n}"


def _share_said(group: Group, kind: Outcome) -> str:
    if kind not in group.counts:
        return "–"
    low, high = group.intervals[kind]
    return f"{percent(group.counts[kind] / group.n)} ({percent(low)} to {percent(high)})"
