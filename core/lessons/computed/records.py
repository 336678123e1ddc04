"""Figures that were written down with a checkpoint: its card, and the table of its heads."""

from pathlib import Path
from typing import Any, get_args

from core.checkpoints.any import folder_of
from core.checkpoints.shelf import CARD, content_hash
from core.files import read_json
from core.inspection.head_record import HeadRecord, load_record
from core.inspection.head_rows import MEASURES, HeadTable
from core.inspection.heads import Mode, parse_head
from core.lessons.computed.once import Once

SPLIT = "dev"


def right_share(once: Once, *, checkpoint: str, split: str = SPLIT) -> float:
    """Of the counts: the share that the card states is rounded."""
    return _figure(once, checkpoint, split, "correct") / _figure(once, checkpoint, split, "total")


def asked_questions(once: Once, *, checkpoint: str, split: str = SPLIT) -> float:
    """Whether they were answered right or wrong."""
    return _figure(once, checkpoint, split, "total")


def wrong_questions(once: Once, *, checkpoint: str, split: str = SPLIT) -> float:
    """All that are not right."""
    return _figure(once, checkpoint, split, "total") - _figure(once, checkpoint, split, "correct")


def right_share_at(once: Once, *, checkpoint: str, step: int) -> float:
    """Of the snapshot that was kept at this step. Raises ValueError for a step without one."""
    card = _card(once, checkpoint)
    try:
        kept = {
            int(one["step"]): int(one["correct"]) / int(one["total"]) for one in card["snapshots"]
        }
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"the card of {checkpoint} has no figures of snapshots") from None
    if step not in kept:
        raise ValueError(f"no snapshot of {checkpoint} at step {step}; steps: {sorted(kept)}")
    return kept[step]


def training_seconds(once: Once, *, checkpoint: str) -> float:
    """On the machine that the card names."""
    return _number(_card(once, checkpoint), checkpoint, "seconds")


def training_steps(once: Once, *, checkpoint: str) -> float:
    """Updates of the parameters."""
    return _number(_card(once, checkpoint), checkpoint, "n_steps")


def parameters(once: Once, *, checkpoint: str) -> float:
    """All that a model has learned."""
    return _number(_card(once, checkpoint), checkpoint, "n_parameters")


def recorded_of_head(once: Once, *, checkpoint: str, head: str, measure: str) -> float:
    """weight_on_name, contribution, attribution, accuracy_lost or log_probability_lost, with the
    head replaced by zero where it is switched off. Raises ValueError for anything else.
    """
    table = _table(once, checkpoint, "zero")
    if measure not in MEASURES:
        raise ValueError(f"unknown measure {measure!r}; measures: {', '.join(MEASURES)}")
    numbers = dict(zip((row.at for row in table.rows), table.values(measure), strict=True))
    found = numbers[_known(head, table)]
    if found is None:
        raise ValueError(f"{measure} of {head} is no number")
    return found


def right_share_without(once: Once, *, checkpoint: str, head: str, mode: str = "zero") -> float:
    """With this head alone switched off: `mode` is what takes its place, zero or mean."""
    table = _table(once, checkpoint, mode)
    rows = {row.at: row for row in table.rows}
    return rows[_known(head, table)].accuracy_without


def _known(head: str, table: HeadTable) -> tuple[int, int]:
    at = parse_head(head)
    if at not in {row.at for row in table.rows}:
        raise ValueError(f"there is no head {head} in the table")
    return at


def _table(once: Once, checkpoint: str, mode: str) -> HeadTable:
    found = once.get(("heads", checkpoint), lambda: _record(checkpoint))
    for known in get_args(Mode):
        if known == mode:
            return found.tables[known]
    raise ValueError(f"mode is {mode!r}; modes: {', '.join(get_args(Mode))}")


def _record(checkpoint: str) -> HeadRecord:
    folder = folder_of(checkpoint)
    found = load_record(folder, SPLIT, content_hash(folder))
    if found is None:
        raise ValueError(f"no table of the heads of {checkpoint} is recorded for its weights")
    return found


def _figure(once: Once, checkpoint: str, split: str, what: str) -> float:
    figures = _card(once, checkpoint).get("figures", {})
    if split not in figures:
        raise ValueError(f"the card of {checkpoint} has no figures of {split!r}")
    return _number(figures[split], f"{split} in the card of {checkpoint}", what)


def _number(table: dict[str, Any], where: str, what: str) -> float:
    try:
        return float(table[what])
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{where}: there is no number {what}") from None


def _card(once: Once, checkpoint: str) -> dict[str, Any]:
    folder: Path = folder_of(checkpoint)
    return once.get(("card", checkpoint), lambda: read_json(folder / CARD))
