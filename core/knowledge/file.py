"""What a model knows, as a file beside the weights that it was measured on. No torch here.

`python -m core knowledge --checkpoint NAME --record` writes it; it counts only for the very weights
whose digest it states. `knowledge_dict` is what `--json` prints, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from core.beside_weights import read_beside
from core.files import write_json
from core.from_json import dataclass_from_dict
from core.knowledge.record import (
    OUTCOMES,
    SIGNALS,
    Auroc,
    Bin,
    Continent,
    Example,
    Group,
    GroupName,
    Knowledge,
    Outcome,
    Share,
)

TASK = "task"
_RENAMED = {"weights": "weights_sha256", "data": "data_sha256"}
Row = TypeVar("Row", Share, Bin, Continent, Auroc, Example)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a file says beside groups, tables and figures that have rows of their own."""

    checkpoint: str
    split: str
    read: str
    never: str
    ece: float
    lacking: dict[str, str]
    most_frequent: str
    seconds: float
    machine: str
    weights_sha256: str
    data_sha256: str
    reads: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _SaidOfGroup:
    label: str
    n: int
    has_truth: bool
    probability_median: float
    probability_mean: float


def knowledge_file(folder: Path, split: str = TASK) -> Path:
    """Where `knowledge --record` writes; `split` is the name of a question set or "task"."""
    return folder / ("knowledge.json" if split == TASK else f"knowledge-{split}.json")


def load_knowledge(folder: Path, weights: str, split: str = TASK) -> Knowledge | None:
    """What is recorded of these very weights (their digest), None if there is nothing.

    Raises ValueError for a file that is not whole.
    """
    path = knowledge_file(folder, split)
    found = read_beside(path, weights, knowledge_from_dict)
    if found is not None and found.split != split:
        raise ValueError(f"{path.name}: it is about {found.split!r:.80}, not {split!r}")
    return found


def save_knowledge(folder: Path, knowledge: Knowledge) -> None:
    """Write it beside the weights."""
    write_json(knowledge_file(folder, knowledge.split), knowledge_dict(knowledge))


def knowledge_dict(knowledge: Knowledge) -> dict[str, Any]:
    """All of it for JSON, numbers with five significant digits.

    Of a group stand the counts beside each other under the outcomes' names; `right` is null where
    there is no truth.
    """
    data = {_RENAMED.get(name, name): value for name, value in asdict(knowledge).items()}
    data["groups"] = {name: group_dict(group) for name, group in knowledge.groups.items()}
    return cast(dict[str, Any], _rounded(data))


def group_dict(group: Group) -> dict[str, Any]:
    """One group for JSON, its numbers as they are."""
    data = asdict(group)
    counts = {outcome: data["counts"].get(outcome) for outcome in OUTCOMES}
    del data["counts"], data["name"]
    return {"n": data.pop("n"), **counts, "sure": group.n_sure, **data}


def knowledge_from_dict(data: dict[str, Any]) -> Knowledge:
    """The inverse of `knowledge_dict`. Raises ValueError, TypeError or KeyError for anything else.

    That figures fit each other is looked at, too: a page draws what it is given.
    """
    said = dataclass_from_dict(_Said, data, passes_over_others=True)
    groups = {name: _group(name, part) for name, part in _object(data, "groups").items()}
    for key, name in (("read", said.read), ("never", said.never)):
        if name not in groups:
            raise ValueError(f"{key} is {name!r:.80}, one of {', '.join(groups)} is needed")
    auroc = {name: dataclass_from_dict(Auroc, row) for name, row in _object(data, "auroc").items()}
    if unknown := sorted(set(auroc) - set(SIGNALS)):
        raise ValueError(f"auroc: {unknown[0]!r:.80} is none of {', '.join(SIGNALS)}")
    _refuse_outside("ece", said.ece)
    for name, found in auroc.items():
        _refuse_outside(f"auroc, {name}", found.low, found.value, found.high)
    values = {name: value for name, value in asdict(said).items() if name not in _RENAMED.values()}
    return Knowledge(
        **values,
        groups=groups,
        auroc=auroc,
        calibration=_bins(data),
        by_continent=_shares(data, "by_continent"),
        by_pronoun=_shares(data, "by_pronoun"),
        by_century=_shares(data, "by_century"),
        by_frequency=_shares(data, "by_frequency"),
        continents_of_invented=_continents(data),
        weights=said.weights_sha256,
        data=said.data_sha256,
    )


def _group(name: str, data: dict[str, Any]) -> Group:
    if name not in get_args(GroupName):
        raise ValueError(f"groups: {name!r:.80} is none of {', '.join(get_args(GroupName))}")
    said = dataclass_from_dict(_SaidOfGroup, data, passes_over_others=True)
    known = OUTCOMES if said.has_truth else OUTCOMES[1:]
    counts: dict[Outcome, int] = {outcome: data[outcome] for outcome in known}
    intervals: dict[Outcome, tuple[float, float]] = {
        outcome: _pair(data["intervals"][outcome]) for outcome in known
    }
    if not said.has_truth and data["right"] is not None:
        raise ValueError(f"group {name}: right is {data['right']!r:.80} where nothing is true")
    group = Group(
        name=name,
        counts=counts,
        intervals=intervals,
        probabilities=tuple(float(value) for value in data["probabilities"]),
        examples=_rows(Example, data, "examples"),
        **asdict(said),
    )
    _refuse_odd(group)
    return group


def _refuse_odd(group: Group) -> None:
    where, counts, found = f"group {group.name}", group.counts.values(), group.probabilities
    if any(type(n) is not int or n < 0 for n in counts) or not sum(counts) == group.n > 0:
        raise ValueError(f"{where}: the outcomes are not those of {group.n} answers")
    if len(found) != group.n or list(found) != sorted(found):
        raise ValueError(f"{where}: {group.n} sorted probabilities are needed")
    _refuse_outside(where, *found[:1], *found[-1:])
    _refuse_outside(where, group.probability_median)
    _refuse_outside(where, group.probability_mean)
    for low, high in group.intervals.values():
        _refuse_outside(where, low, high)
    for example in group.examples:
        _refuse_outside(where, example.probability)


def _bins(data: Mapping[str, Any]) -> tuple[Bin, ...]:
    bins = _rows(Bin, data, "calibration")
    for row in bins:
        _refuse_outside("calibration", row.low, row.high)
        _refuse_outside("calibration", row.confidence)
        _refuse_counts("calibration", row.n, row.right)
    return bins


def _shares(data: Mapping[str, Any], name: str) -> tuple[Share, ...]:
    rows = _rows(Share, data, name)
    for row in rows:
        _refuse_outside(name, row.low, row.high)
        if min(row.right, row.made_up) < 0 or not 0 < row.n >= row.right + row.made_up:
            raise ValueError(f"{name}: {row.right} right and {row.made_up} made up of {row.n}")
    return rows


def _continents(data: Mapping[str, Any]) -> tuple[Continent, ...]:
    rows = _rows(Continent, data, "continents_of_invented")
    for row in rows:
        _refuse_outside("continents_of_invented", row.low, row.share, row.high)
        _refuse_outside("continents_of_invented", row.training_share)
        _refuse_counts("continents_of_invented", row.n, 0)
    return rows


def _rows(kind: type[Row], data: Mapping[str, Any], name: str) -> tuple[Row, ...]:
    rows = data[name]
    if not isinstance(rows, list):
        raise ValueError(f"{name}: a list is needed")
    return tuple(dataclass_from_dict(kind, row) for row in cast(list[Any], rows))


def _object(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(data[name], dict):
        raise ValueError(f"{name}: an object is needed")
    return data[name]


def _pair(values: Sequence[Any]) -> tuple[float, float]:
    low, high = values
    return float(low), float(high)


def _refuse_outside(where: str, *values: float) -> None:
    """Raise ValueError unless they go from 0 to 1 in this order."""
    if not all(a <= b for a, b in zip((0, *values), (*values, 1), strict=True)):
        raise ValueError(f"{where}: {values} do not go up between 0 and 1")


def _refuse_counts(where: str, n: int, part: int) -> None:
    if not 0 <= part <= n:
        raise ValueError(f"{where}: {part} of {n}")


def _rounded(value: Any) -> Any:
    """The same lists and objects, their numbers with five significant digits."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in cast(dict[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in cast(Sequence[Any], value)]
    return float(f"{value:.5g}") if isinstance(value, float) else value
