"""What the reader reaches that has the sentence before it: the ceiling of what it can teach."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from core.files import read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Right answers of one split, with the 95 % interval.

    `in_sentence` is the share of answers that stand in the sentence at all, `surest_90` the share
    of right ones among the nine tenths that the reader is surest of.
    """

    correct: int
    total: int
    accuracy: float
    interval: tuple[float, float]
    surest_90: float
    in_sentence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderFigures:
    """One record of `n_nets` averaged networks: questions they wrote, and those that were kept."""

    machine: str
    seed: int
    n_nets: int
    seconds: float
    held_out: Reached
    dev: Reached
    written: int
    kept: int
    data: str


def load_reader(path: Path) -> ReaderFigures | None:
    """What `python -m core reader --record` wrote; None before anybody has run it.

    Raises ValueError for anything else: a key that is missing, a share that is none, counts that do
    not agree.
    """
    if not path.exists():
        return None
    data = read_json(path)
    try:
        written, kept = _counts(data["kept"], "kept", "written")
        return ReaderFigures(
            machine=str(data["machine"]),
            seed=int(data["seed"]),
            n_nets=int(data["n_nets"]),
            seconds=float(data["seconds"]),
            held_out=_reached(data, "held_out"),
            dev=_reached(data, "dev"),
            written=written,
            kept=kept,
            data=str(data["data_sha256"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path}: not the figures of a reader ({error!r})") from None


def _reached(data: dict[str, Any], split: str) -> Reached:
    found = cast(dict[str, Any], data[split])
    total, correct = _counts(found, "correct", "total")
    accuracy = _share(found["accuracy"])
    if abs(accuracy - correct / total) > 5e-4:
        raise ValueError(f"accuracy is {accuracy}, {correct} of {total} is {correct / total:.4f}")
    low, high = cast(Sequence[float], found["interval_95"])
    return Reached(
        correct=correct,
        total=total,
        accuracy=accuracy,
        interval=(_share(low), _share(high)),
        surest_90=_share(found["surest_90"]),
        in_sentence=_share(data["in_sentence"][split]["accuracy"]),
    )


def _counts(found: dict[str, Any], part: str, whole: str) -> tuple[int, int]:
    """The whole and its part. Raises ValueError for a part of nothing, or of less."""
    n_part, n_whole = int(found[part]), int(found[whole])
    if not 0 <= n_part <= n_whole or n_whole < 1:
        raise ValueError(f"{n_part} of {n_whole}: needs 0 <= {part} <= {whole} and {whole} >= 1")
    return n_whole, n_part


def _share(value: object) -> float:
    share = float(cast(float, value))
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is no share: 0 to 1 is needed")
    return share
