"""Rows of the report card, read from the files that training and `evaluate --record` wrote.

Torch is not imported, so that a page can show them at once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from core.catalogue import model_label
from core.checkpoints.shelf import CARD, CONFIG, VOCABULARY, WEIGHTS, stated_digest
from core.files import read_json, sha256
from core.models.config import GPTConfig

COURSE = "course"
SELF_TAUGHT = "self-taught"
STALE = "the weights have changed since it was recorded"
BASELINES = ("constant_baseline", "nearest_name_baseline", "lookup_baseline", "ceiling")
VOCABULARIES = {"bpe": "pieces", "char": "characters"}
OBJECTIVES = {
    "shuffled_facts": "shuffled facts",
    "ordered_facts": "facts in order",
    "cued_facts": "facts after a cue",
    "salient_spans": "salient spans",
    "span_corruption": "span corruption",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One recorded evaluation: shares of 1, and counts of wrong answers by kind.

    `data` is the digest of the questions (core.data.corpus.questions_digest).
    """

    correct: int
    total: int
    accuracy: float
    interval: tuple[float, float]
    constant_answer: str
    baselines: dict[str, float]
    kinds: dict[str, int]
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One checkpoint; `variant` is its mechanism; of softmax its positions, vanilla or rotary.

    `measured` is None where no evaluation is recorded, or where it cannot be used: then `problem`
    says why. `objectives` of the pretraining and `seconds` are None where the card does not say
    (imported files). `self_taught` is the share of the reader's questions that it practised, 0 for
    none; `practised` how many, of how many people (None where its card does not say). Without
    weights (`has_weights`) it can be asked nothing; `command` trains them again.
    """

    name: str
    variant: str
    vocabulary: str
    objectives: tuple[str, ...] | None
    n_parameters: int
    seconds: float | None
    machine: str
    command: str
    measured: Measured | None
    problem: str
    self_taught: float = 0.0
    practised: tuple[int, int] | None = None
    has_weights: bool = True

    @property
    def kind(self) -> str:
        """Variant, vocabulary and who taught it in words: "rotary, pieces, self-taught"."""
        return f"{model_label(self.variant)}, {self.vocabulary}{self._mark}"

    @property
    def label(self) -> str:
        """What tells a row of a chart from the others."""
        return f"no pretraining{self._mark}" if self.pretrained is False else self.kind

    @property
    def _mark(self) -> str:
        return f", {SELF_TAUGHT}" if self.self_taught else ""

    @property
    def pretrained(self) -> bool | None:
        return None if self.objectives is None else bool(self.objectives)


def evaluation_file(folder: Path, split: str) -> Path:
    """Where `evaluate --record` writes."""
    return folder / f"evaluation-{split}.json"


def load_rows(folder: Path, *, digest: Callable[[Path], str] = sha256) -> list[Row]:
    """Every checkpoint that was trained on the course's files, the most accurate first.

    A recorded evaluation counts only for the very weights beside it; `digest` hashes those. Where
    they are not shipped it has to be of those that the card describes.
    A folder whose card cannot be read is left out: nobody can say what it was trained on. So is
    one whose card has no number where one belongs.
    """
    rows = [_row(path.parent, digest) for path in sorted(folder.glob(f"*/{CARD}"))]
    return sorted(filter(None, rows), key=lambda row: -_accuracy(row))


def distinct(texts: Sequence[str], names: Sequence[str]) -> list[str]:
    """The texts; those that occur more than once are told apart by their names."""
    counts = Counter(texts)
    return [
        text if counts[text] == 1 else f"{text} ({name})"
        for text, name in zip(texts, names, strict=True)
    ]


def named_objectives(phases: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """What is practised beside the questions in any of the phases, in words."""
    given = [*phases]
    return tuple(
        words for name, words in OBJECTIVES.items() if any(phase.get(name) for phase in given)
    )


def _row(folder: Path, digest: Callable[[Path], str]) -> Row | None:
    try:
        card = read_json(folder / CARD)
        recipe = _object(card.get("recipe"))
        if recipe.get("corpus") != COURSE:
            return None
        config = GPTConfig(**read_json(folder / CONFIG))
        kind = str(read_json(folder / VOCABULARY).get("kind"))
        n_parameters, seconds = int(card.get("n_parameters") or 0), card.get("seconds")
        seconds = None if seconds is None else float(seconds)
        self_taught, practised = self_taught_share(card), _practised(card)
    except (KeyError, ValueError, TypeError, OverflowError):  # the last from an infinite number
        return None
    measured, problem = _measured(folder, card, digest)
    return Row(
        name=folder.name,
        variant=_variant(config),
        vocabulary=VOCABULARIES.get(kind, kind),
        objectives=objectives_of(card),
        n_parameters=n_parameters,
        seconds=seconds,
        machine=str(card.get("machine") or ""),
        command=str(card.get("command") or ""),
        measured=measured,
        problem=problem,
        self_taught=self_taught,
        practised=practised,
        has_weights=(folder / WEIGHTS).exists(),
    )


def _measured(
    folder: Path, card: dict[str, Any], digest: Callable[[Path], str]
) -> tuple[Measured | None, str]:
    path = evaluation_file(folder, "dev")
    if not path.exists():
        return None, ""
    try:
        data = read_json(path)
        if data["weights_sha256"] != _weights(folder, card, digest):
            return None, STALE
        low, high = data["interval_95"]
        return Measured(
            correct=int(data["correct"]),
            total=int(data["total"]),
            accuracy=float(data["accuracy"]),
            interval=(float(low), float(high)),
            constant_answer=str(data["constant_answer"]),
            baselines={name: float(data[name]) for name in BASELINES},
            kinds={str(kind): int(n) for kind, n in data["kinds"].items()},
            data=str(data["data_sha256"]),
        ), ""
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        missing = isinstance(error, KeyError)
        reason = f"{path.name}: {error.args[0]} is missing" if missing else str(error)
        return None, reason.replace(f"{folder}/", "")


def _weights(folder: Path, card: dict[str, Any], digest: Callable[[Path], str]) -> str:
    """The digest of the weights; of those that the card describes where none are shipped."""
    path = folder / WEIGHTS
    stated = None if path.exists() else stated_digest(card)
    return digest(path) if stated is None else stated


def _variant(config: GPTConfig) -> str:
    if config.n_latents:
        return "perceiver"
    if config.attention != "softmax":
        return config.attention
    return "rotary" if config.positions == "rotary" else "vanilla"


def objectives_of(card: dict[str, Any]) -> tuple[str, ...] | None:
    """What a checkpoint practised beside questions, also before it was fine-tuned; None where its
    card does not say.
    """
    phases = _phases(card)
    return None if phases is None else named_objectives(phases)


def _phases(card: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Those of the training and, before them, of the checkpoints that it started from."""
    phases = _object(card.get("recipe")).get("phases")
    if not isinstance(phases, list):
        return None
    begun = _object(card.get("start_from"))
    before = (_phases(begun) or []) if begun else []
    return [*before, *map(_object, cast(list[Any], phases))]


def self_taught_share(card: dict[str, Any]) -> float:
    """The largest share of the reader's questions, in it and in what it started from."""
    begun = _object(card.get("start_from"))
    own = float(_object(card.get("recipe")).get("self_taught") or 0)
    return max(own, self_taught_share(begun)) if begun else own


def _practised(card: dict[str, Any]) -> tuple[int, int] | None:
    counts = _object(card.get("self_taught"))
    return (int(counts["practised"]), int(counts["read"])) if counts else None


def _accuracy(row: Row) -> float:
    return -1.0 if row.measured is None else row.measured.accuracy


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
