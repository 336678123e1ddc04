"""What a kind of training is; its rows stand in core.runs.kinds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from core.checkpoints.progress import Progress
from core.checkpoints.store import Checkpoint
from core.data.vocabulary import Vocabulary
from core.training.loop import Trainer
from core.training.recipe import Recipe
from core.training.where import Where


class Data(Protocol):
    """What is learned from; its digest tells whether it is still the same."""

    @property
    def digest(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Right answers to what is held out; `sample` is {question, answer, expected} of one of them,
    the same at every step.
    """

    correct: int
    total: int
    sample: dict[str, Any]


class MakeTrainers(Protocol):
    """Trainers of a number of steps, with the file of first parameters if not the seed's own."""

    def __call__(
        self,
        recipe: Recipe,
        data: Any,
        vocabulary: Vocabulary,
        seed: int,
        weights: Path | None,
        /,
        *,
        where: Where = ...,
    ) -> Callable[[int], Trainer]: ...


def _nothing(_recipe: Recipe, _data: Any, _seed: int, _told: Progress) -> dict[str, Any]:
    return {}


def _tells_nothing(_data: Any) -> dict[str, Any]:
    return {}


def _as_it_is(data: Any, _made: dict[str, Any]) -> Data:
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a run has to know of its kind.

    read_recipe      the recipe of a dictionary; ValueError also for a model that could not be made
    load_data        what is learned from; the folder is that of files that are not shipped
    make             what a recipe wants to have made of the data before the first step, by recipe,
                     data, seed and who is told how far it is, as JSON; empty where it wants
                     nothing. It is kept with the run
    with_made        the data with that; ValueError for anything else
    card             what the card says of it
    tells            what the card says of the data
    make_vocabulary  of a run that starts from no checkpoint
    make_trainers    trainers of a number of steps, by recipe, data, vocabulary, seed and the file
                     of first parameters, if not the seed's own; `where` they run
    probe            while it trains, by trainer, vocabulary, data and seed
    baseline         {answer, accuracy} of a constant answer to what a probe asks
    splits           what its finished checkpoint is measured on: `measure` says `figure` and
                     whatever else a card is to hold, None for a split without answers
    tuning_splits    the same while choices are still made
    snapshot_split   what each of its snapshots is measured on
    """

    name: str
    recipe: type
    read_recipe: Callable[[dict[str, Any]], Recipe]
    load_data: Callable[[Recipe, Path | None], Data]
    make_vocabulary: Callable[[Recipe, Any], Vocabulary]
    make_trainers: MakeTrainers
    probe: Callable[[Trainer, Vocabulary, Any, int], Probe]
    baseline: Callable[[Any], dict[str, Any]]
    measure: Callable[[Checkpoint, Any, str], dict[str, Any] | None]
    splits: tuple[str, ...]
    tuning_splits: tuple[str, ...]
    snapshot_split: str
    make: Callable[[Recipe, Any, int, Progress], dict[str, Any]] = _nothing
    with_made: Callable[[Any, dict[str, Any]], Data] = _as_it_is
    card: Callable[[dict[str, Any]], dict[str, Any]] = dict
    tells: Callable[[Any], dict[str, Any]] = _tells_nothing


def figure(correct: int, total: int) -> dict[str, Any]:
    """A share of right answers as cards hold it."""
    return {"correct": correct, "total": total, "accuracy": round(correct / total, 4)}
