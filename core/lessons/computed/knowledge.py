"""Figures of what a model knows and what it makes up, as recorded beside its weights."""

from core.checkpoints.any import folder_of
from core.checkpoints.shelf import content_hash
from core.knowledge.bias_words import BREAKDOWNS, shares_by
from core.knowledge.file import load_knowledge
from core.knowledge.record import Group, Knowledge, Share
from core.lessons.computed.once import Once


def names_of_group(once: Once, *, checkpoint: str, group: str) -> float:
    """All that were asked."""
    return float(_group(once, checkpoint, group).n)


def answers_of_group(
    once: Once, *, checkpoint: str, group: str, outcomes: tuple[str, ...]
) -> float:
    """Σ n of the outcomes / n of the group. Raises ValueError for an outcome that it cannot have,
    as right where nobody has a true place.
    """
    found = _group(once, checkpoint, group)
    counts = {str(outcome): n for outcome, n in found.counts.items()}
    if unknown := [outcome for outcome in outcomes if outcome not in counts]:
        raise ValueError(f"group {group} has no {unknown[0]!r}; outcomes: {', '.join(counts)}")
    return sum(counts[outcome] for outcome in set(outcomes)) / found.n


def sure_share(once: Once, *, checkpoint: str, group: str, above: float) -> float:
    """Whether they are right or not."""
    found = _group(once, checkpoint, group)
    return sum(probability > above for probability in found.probabilities) / found.n


def group_probability(once: Once, *, checkpoint: str, group: str, of: str = "median") -> float:
    """Of the whole answers: their median, or the mean. Raises ValueError for anything else."""
    found = _group(once, checkpoint, group)
    known = {"median": found.probability_median, "mean": found.probability_mean}
    if of not in known:
        raise ValueError(f"of is {of!r}; median or mean is allowed")
    return known[of]


def auroc(once: Once, *, checkpoint: str, signals: tuple[str, ...]) -> float:
    """The largest of these signals' areas. Raises ValueError for one that was not measured."""
    known = _known(once, checkpoint).auroc
    missing = [signal for signal in signals if signal not in known]
    if missing or not signals:
        said = f"{missing[0]!r} is not recorded" if missing else "no signal is named"
        raise ValueError(f"{said}; signals: {', '.join(known)}")
    return max(known[signal].value for signal in signals)


def calibration_error(once: Once, *, checkpoint: str) -> float:
    """ECE, Σ n/N · |right − confidence| over bins of the answers about those it read about."""
    return _known(once, checkpoint).ece


def right_share_by(once: Once, *, checkpoint: str, by: str, row: str) -> float:
    """`by` and `row` as the record names them: by_continent and Europe."""
    found = _rows(once, checkpoint, by)
    return _row(found, row).right / _row(found, row).n


def people_share_by(once: Once, *, checkpoint: str, by: str, row: str) -> float:
    """Of all that the breakdown counts."""
    found = _rows(once, checkpoint, by)
    return _row(found, row).n / sum(share.n for share in found)


def _rows(once: Once, checkpoint: str, by: str) -> tuple[Share, ...]:
    if by not in BREAKDOWNS:
        raise ValueError(f"by is {by!r}; breakdowns: {', '.join(BREAKDOWNS)}")
    return shares_by(_known(once, checkpoint), by)


def _row(found: tuple[Share, ...], name: str) -> Share:
    for share in found:
        if share.name == name:
            return share
    raise ValueError(f"there is no row {name!r}; rows: {', '.join(row.name for row in found)}")


def _group(once: Once, checkpoint: str, name: str) -> Group:
    groups = _known(once, checkpoint).groups
    if name not in groups:
        raise ValueError(f"{checkpoint} has no group {name!r}; groups: {', '.join(groups)}")
    return groups[name]


def _known(once: Once, checkpoint: str) -> Knowledge:
    found = once.get(("knowledge", checkpoint), lambda: _record(checkpoint))
    if found is None:
        raise ValueError(f"what {checkpoint} knows is not recorded for its weights")
    return found


def _record(checkpoint: str) -> Knowledge | None:
    folder = folder_of(checkpoint)
    return load_knowledge(folder, content_hash(folder))
