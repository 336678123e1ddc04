"""What else stands on the report card, read from assets: published figures, ablation, seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from core.files import read_json
from core.intervals import Rate, wilson_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A figure from elsewhere: a public one, or that of a numbered report we start from."""

    public: bool
    report: str
    variant: str
    pretraining: bool | None
    accuracy: float
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """Every figure from elsewhere; `source` says what they are, in sentences."""

    source: str
    figures: tuple[Published, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationRun:
    """One training of the ablation; `preset` is empty where the file does not name it.

    `character_error` is a recogniser's, None for who answers questions.
    """

    preset: str
    label: str
    differs: str
    n_steps: int
    n_parameters: int
    correct: int
    total: int
    character_error: Rate | None = None

    @property
    def accuracy(self) -> float:
        return self.correct / self.total

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.correct, self.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """Runs of the same length and seed; the first is the base of all others.

    `minutes` is None where all have as many steps instead. Raises ValueError where neither holds.
    """

    minutes: float | None
    seed: int
    machine: str
    split: str
    runs: tuple[AblationRun, ...]

    def __post_init__(self) -> None:
        if self.minutes is None and len({run.n_steps for run in self.runs}) > 1:
            raise ValueError("neither minutes nor a number of steps is the same in all runs")

    @property
    def length(self) -> str:
        """What all runs share: "10 minutes", "1,800 steps"."""
        if self.minutes is None:
            return f"{self.runs[0].n_steps:,} steps"
        return f"{self.minutes:.3g} minutes"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedSpread:
    """Accuracies of one preset, trained anew with each seed.

    All have the `n_steps` that `minutes` gave the first; `seconds` is what each took.
    """

    preset: str
    minutes: float
    n_steps: int
    seconds: tuple[float, ...]
    machine: str
    split: str
    accuracies: dict[int, float]

    @property
    def mean(self) -> float:
        return mean(self.accuracies.values())

    @property
    def range(self) -> tuple[float, float]:
        return min(self.accuracies.values()), max(self.accuracies.values())


def load_published(path: Path) -> PublishedTable:
    """Public figures and reports, in the order of the file."""
    data = read_json(path)
    try:
        figures = tuple(
            Published(
                public=part == "public",
                report=str(entry.get("report") or ""),
                variant=entry["variant"],
                pretraining=entry["pretraining"],
                accuracy=float(entry["accuracy"]),
                note=entry["note"],
            )
            for part in ("public", "reports")
            for entry in data[part]
        )
        return PublishedTable(source=str(data["source"]), figures=figures)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path}: not a table of published figures ({error!r})") from None


def load_ablation(path: Path) -> Ablation | None:
    """The runs in the order they are shown; None before anybody has made them."""
    if not path.exists():
        return None
    data = read_json(path)
    try:
        runs = tuple(
            AblationRun(
                preset=str(run.get("preset") or ""),
                label=run["label"],
                differs=run["differs"],
                n_steps=int(run["n_steps"]),
                n_parameters=int(run["n_parameters"]),
                correct=int(run["correct"]),
                total=int(run["total"]),
                character_error=_character_error(run),
            )
            for run in data["runs"]
        )
        minutes = None if data["minutes"] is None else float(data["minutes"])
        ablation = Ablation(
            minutes=minutes,
            seed=int(data["seed"]),
            machine=data["machine"],
            split=data["split"],
            runs=runs,
        )
        _ = [run.interval for run in runs]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path}: not the result of an ablation ({error!r})") from None
    return ablation if runs else None


def _character_error(run: Mapping[str, Any]) -> Rate | None:
    if "character_error" not in run:
        return None
    low, high = run["character_error_range"]
    return Rate(value=float(run["character_error"]), low=float(low), high=float(high))


def load_seeds(path: Path) -> SeedSpread | None:
    """What `seeds` wrote; None before anybody has run it.

    Raises ValueError for anything else, also for runs of different numbers of steps.
    """
    if not path.exists():
        return None
    data = read_json(path)
    try:
        if not data["runs"]:
            return None
        (n_steps,) = {int(run["n_steps"]) for run in data["runs"]}
        return SeedSpread(
            preset=data["preset"],
            minutes=float(data["minutes"]),
            n_steps=n_steps,
            seconds=tuple(float(run["seconds"]) for run in data["runs"]),
            machine=data["machine"],
            split=data["split"],
            accuracies={int(run["seed"]): float(run["accuracy"]) for run in data["runs"]},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not the accuracies of several seeds ({error!r})") from None


def published_for(
    variant: str, figures: Sequence[Published], *, pretrained: bool | None
) -> list[Published]:
    """Figures of the same variant; without pretraining, every figure without."""
    if pretrained is False:
        return [figure for figure in figures if figure.pretraining is False]
    return [f for f in figures if f.pretraining and f.variant == variant]
