"""The table of all heads as a file beside the weights that it was measured on. No torch here.

`python -m core heads --checkpoint NAME --record` writes it; it counts only for the very weights
whose digest it states.
"""

from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from core.beside_weights import read_beside
from core.data.question_set import RESERVED, QuestionSet, set_from_dict
from core.files import write_json
from core.inspection.head_rows import OTHER_SCORES, HeadRow, HeadTable, Scores, Together
from core.inspection.heads import HeadMeans, Mode
from core.inspection.patterns import PATTERNS

SCORES = PATTERNS + OTHER_SCORES
WITHOUT = "_without_first"
# What older files lack, which are all of decoders without a learned sink: what it is made of there.
ADDED = {"next token": None, "sink_share": "first token"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadRecord:
    """The tables of one split in both modes; `means` over the dev questions took heads' places.

    weights, data: digests of the weights and of the questions. Of a question set the split is its
    name, `asked` holds it whole, and the means are those over its own questions.
    """

    checkpoint: str
    split: str
    tables: dict[Mode, HeadTable]
    means: HeadMeans
    seconds: float
    machine: str
    weights: str
    data: str
    asked: QuestionSet | None = None


def heads_file(folder: Path, split: str) -> Path:
    """Where `heads --record` writes."""
    return folder / f"heads-{split}.json"


def load_record(folder: Path, split: str, weights: str) -> HeadRecord | None:
    """The record of these very weights (their digest), None if there is none.

    Raises ValueError for a file that is not whole.
    """
    return read_beside(heads_file(folder, split), weights, _record)


def recorded_sets(folder: Path, weights: str) -> list[QuestionSet]:
    """The question sets for which there is a table of these very weights (their digest), by name.

    A file that is not whole is passed over: it is named where its table would be shown.
    """
    found: list[QuestionSet] = []
    for path in sorted(folder.glob(heads_file(folder, "*").name)):
        name = path.stem.removeprefix("heads-")
        if name in RESERVED:
            continue
        try:
            record = load_record(folder, name, weights)
        except ValueError:
            continue
        if record is not None and record.asked is not None and record.asked.name == name:
            found.append(record.asked)
    return found


def save_record(folder: Path, record: HeadRecord) -> None:
    """Write it beside the weights."""
    any_table = next(iter(record.tables.values()))
    data = {
        "checkpoint": record.checkpoint,
        "split": record.split,
        **_set_dict(record.asked),
        "total": any_table.total,
        "accuracy": any_table.accuracy,
        "modes": {mode: _table_dict(table) for mode, table in record.tables.items()},
        **_scores_dict(any_table.scores),
        "means": {
            "reading": _rounded(record.means.reading),
            "writing": _rounded(record.means.writing),
        },
        "seconds": round(record.seconds, 1),
        "machine": record.machine,
        "weights_sha256": record.weights,
        "data_sha256": record.data,
    }
    write_json(heads_file(folder, record.split), data)


def _set_dict(asked: QuestionSet | None) -> dict[str, Any]:
    return {} if asked is None else {"right": asked.right, "set": asked.to_dict()}


def _scores_dict(scores: Scores) -> dict[str, Any]:
    """Scores and baselines, and the same without the first token."""
    found: dict[str, Any] = {
        side: {name: _rounded(getattr(scores, of)[name]) for name in SCORES}
        for side, of in (("scores", "heads"), ("uniform", "uniform"))
    }
    if scores.without_first is None:
        return found
    others = _scores_dict(scores.without_first)
    return {
        **found,
        **{f"{side}{WITHOUT}": values for side, values in others.items()},
        "captions_without_first": scores.apart,
    }


def _table_dict(table: HeadTable) -> dict[str, Any]:
    return {
        "heads": [asdict(row) for row in table.rows],
        "most": _together_dict(table.most),
        "least": _together_dict(table.least),
    }


def _together_dict(together: Together) -> dict[str, Any]:
    heads = [list(head) for head in together.heads]
    return {"heads": heads, "accuracy_without": together.accuracy_without}


def _record(data: dict[str, Any]) -> HeadRecord:
    scores = _scores(data)
    means = {
        name: _array(data["means"][name], 3).astype(np.float32) for name in HeadMeans.__slots__
    }
    every = [scores] if scores.without_first is None else [scores, scores.without_first]
    n_heads = {table.shape for one in every for table in one.heads.values()}
    n_layers = {table.shape for one in every for table in one.uniform.values()}
    if {shape[:2] for shape in map(np.shape, means.values())} != n_heads or len(n_heads) > 1:
        raise ValueError("scores and means are of models of different sizes")
    if n_layers != {shape[:1] for shape in n_heads}:
        raise ValueError("scores and their baselines are of models of different sizes")
    return HeadRecord(
        checkpoint=str(data["checkpoint"]),
        split=str(data["split"]),
        tables={mode: _table(data, mode, scores) for mode in get_args(Mode)},
        means=HeadMeans(**means),
        seconds=float(data["seconds"]),
        machine=str(data["machine"]),
        weights=str(data["weights_sha256"]),
        data=str(data["data_sha256"]),
        asked=set_from_dict(data["set"]) if "set" in data else None,
    )


def _scores(data: dict[str, Any], which: str = "") -> Scores:
    """The scores whose names end with `which`; those without the first token with them."""
    other = not which and f"scores{WITHOUT}" in data
    return Scores(
        heads=_arrays(data[f"scores{which}"], 2),
        uniform=_arrays(data[f"uniform{which}"], 1),
        without_first=_scores(data, WITHOUT) if other else None,
        apart=other and bool(data["captions_without_first"]),
        renormalised=bool(which),
    )


def _arrays(values: dict[str, Any], n_axes: int) -> dict[str, NDArray[np.float64]]:
    found = {
        name: _array(values[name], n_axes) for name in SCORES if name in values or name not in ADDED
    }
    for name, same in ADDED.items():
        if name not in found:
            nothing = np.full_like(found[SCORES[0]], np.nan)
            found[name] = nothing if same is None else found[same]
    return found


def _table(data: dict[str, Any], mode: Mode, scores: Scores) -> HeadTable:
    found = data["modes"][mode]
    rows = tuple(HeadRow(**row) for row in found["heads"])
    shape = scores.heads[SCORES[0]].shape
    if [row.at for row in rows] != list(np.ndindex(shape)):
        raise ValueError(f"mode {mode}: not one row for each of {shape[0]} x {shape[1]} heads")
    return HeadTable(
        mode=mode,
        total=int(data["total"]),
        accuracy=float(data["accuracy"]),
        rows=rows,
        most=_together(found["most"]),
        least=_together(found["least"]),
        scores=scores,
    )


def _together(data: dict[str, Any]) -> Together:
    heads = tuple((int(layer), int(head)) for layer, head in data["heads"])
    return Together(heads=heads, accuracy_without=float(data["accuracy_without"]))


def _rounded(values: NDArray[np.floating[Any]]) -> Any:
    """Nested lists with five significant digits; what is no number becomes null."""
    if values.ndim > 1:
        return [_rounded(part) for part in values]
    numbers = cast(list[float], values.tolist())
    return [float(f"{number:.5g}") if isfinite(number) else None for number in numbers]


def _array(values: Any, n_axes: int) -> NDArray[np.float64]:
    found = np.array(values, dtype=np.float64)
    if found.ndim != n_axes:
        raise ValueError(f"an array of {found.ndim} axes; {n_axes} are needed")
    return found
