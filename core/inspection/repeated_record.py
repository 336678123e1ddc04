"""What heads do with random tokens said twice, as a file beside the weights. No torch here.

`python -m core repeated --checkpoint NAME --record` writes it; it counts only for the very weights
whose digest it states.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from core.beside_weights import read_beside
from core.files import write_json
from core.from_json import dataclass_from_dict
from core.inspection.heads import Head, head_name, parse_head
from core.inspection.repeated_rows import Draw, Estimate, Losses, Repeated, RepeatedRow

FILE = "repeated.json"
ESTIMATES = (
    "first",
    "second",
    "saved",
    "without_best",
    "without_random",
    "added_by_best",
    "added_by_random",
    "best_above_random",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRecord:
    """A result, how long it took on which machine, and the digest of the weights."""

    result: Repeated
    seconds: float
    machine: str
    weights: str


def repeated_file(folder: Path) -> Path:
    """Where `repeated --record` writes."""
    return folder / FILE


def load_repeated(folder: Path, weights: str) -> RepeatedRecord | None:
    """The record of these very weights (their digest), None if there is none.

    Raises ValueError for a file that is not whole.
    """
    return read_beside(repeated_file(folder), weights, _record)


def save_repeated(folder: Path, record: RepeatedRecord) -> None:
    """Write it beside the weights, numbers with five significant digits."""
    data = {
        **_rounded(repeated_dict(record.result)),
        "seconds": round(record.seconds, 1),
        "machine": record.machine,
        "weights_sha256": record.weights,
    }
    write_json(repeated_file(folder), data)


def repeated_dict(result: Repeated) -> dict[str, Any]:
    """The whole result for JSON: heads by name, except for the row of each."""
    losses = result.losses
    return {
        "checkpoint": result.checkpoint,
        "mechanism": result.mechanism,
        "sequences": result.n_sequences,
        "tokens": result.n_tokens,
        "seed": result.seed,
        "begin": result.begin,
        "ordinary_tokens": result.n_ordinary,
        "chance": result.chance,
        "heads": [asdict(row) for row in result.rows],
        "losses": {
            **{name: asdict(getattr(losses, name)) for name in ESTIMATES},
            "best": _names(losses.best),
            "draws": [{**asdict(draw), "heads": _names(draw.heads)} for draw in losses.draws],
        },
    }


def _record(data: dict[str, Any]) -> RepeatedRecord:
    return RepeatedRecord(
        result=_result(data),
        seconds=float(data["seconds"]),
        machine=str(data["machine"]),
        weights=str(data["weights_sha256"]),
    )


def _result(data: dict[str, Any]) -> Repeated:
    rows = tuple(dataclass_from_dict(RepeatedRow, row) for row in data["heads"])
    last = rows[-1].at if rows else (-1, -1)
    whole = [(layer, head) for layer in range(last[0] + 1) for head in range(last[1] + 1)]
    if not rows or [row.at for row in rows] != whole:
        raise ValueError("heads: not one row for each head of each layer")
    if int(data["ordinary_tokens"]) < 1:
        raise ValueError(f"ordinary_tokens is {data['ordinary_tokens']}, at least 1 is needed")
    return Repeated(
        checkpoint=str(data["checkpoint"]),
        mechanism=str(data["mechanism"]),
        n_sequences=int(data["sequences"]),
        n_tokens=int(data["tokens"]),
        seed=int(data["seed"]),
        begin=None if data["begin"] is None else int(data["begin"]),
        n_ordinary=int(data["ordinary_tokens"]),
        rows=rows,
        losses=_losses(data["losses"]),
    )


def _losses(data: dict[str, Any]) -> Losses:
    estimates = {name: dataclass_from_dict(Estimate, data[name]) for name in ESTIMATES}
    draws = tuple(
        Draw(seed=int(draw["seed"]), heads=_heads(draw["heads"]), loss=float(draw["loss"]))
        for draw in data["draws"]
    )
    if not draws:
        raise ValueError("draws: there is none")
    return Losses(**estimates, best=_heads(data["best"]), draws=draws)


def _names(heads: Sequence[Head]) -> list[str]:
    return [head_name(*head) for head in heads]


def _heads(names: Sequence[str]) -> tuple[Head, ...]:
    return tuple(parse_head(name) for name in names)


def _rounded(value: Any) -> Any:
    """The same lists and objects, their numbers with five significant digits."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_rounded(part) for part in cast(list[Any], value)]
    return float(f"{value:.5g}") if isinstance(value, float) else value
