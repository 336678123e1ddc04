"""What a job is asked to do, checked once here and frozen into job.json.

Nothing that reaches a shell or a path is in it: numbers, names of presets, and a title that is
text wherever it is shown.
"""

import math
import os
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from core.data.task import TASKS
from core.devices import ASKED, AUTO, is_device
from core.from_json import dataclass_from_dict
from core.jobs.folder import JOB
from core.paths import COURSE_VARIABLE, course_folder
from core.runs.fine_tuning import TAKEN, shaped_like
from core.speech.spoken import found_spoken
from core.training.presets import FINE_TUNING
from core.training.presets import preset as preset_by_name
from core.training.recipe import Overrides, Recipe, overrides_from_dict
from core.training.where import Precision, Where
from core.training.written import READERS

VERBS = ("train", "bench", "look")
LONGEST_NAME = 80
MOST_PARAMETERS = 50_000_000
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one job may use."""

    minutes: float
    steps: int
    disk_bytes: int


# The most that anybody can ask for.
SERVER = Limits(minutes=720.0, steps=2_000_000, disk_bytes=2_000_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSpec:
    """A training; `recipe` is the preset with its overrides. Minutes or steps, never both.

    `start_from` names a checkpoint whose shape, vocabulary and parameters are the beginning.
    """

    verb: str = "train"
    name: str
    preset: str
    overrides: Overrides
    recipe: Recipe
    seed: int
    minutes: float | None
    steps: int | None
    threads: int
    device: str
    limits: Limits
    start_from: str | None = None
    precision: Precision = "float32"
    processes: int = 1

    @property
    def where(self) -> Where:
        """On which device, how exactly and in how many processes it is trained. Raises ValueError
        for what cannot be.
        """
        return Where(device=self.device, precision=self.precision, processes=self.processes)

    def moved(self, device: str | None, precision: Precision | None) -> "TrainSpec":
        """The same on another device, or rounded otherwise; what is None is kept as `Where.moved`
        keeps it. Raises ValueError for what cannot be.
        """
        where = self.where.moved(self.device if device is None else device, precision=precision)
        return replace(self, device=where.device, precision=where.precision)

    def to_dict(self) -> dict[str, Any]:
        """For job.json, with the arguments that repeat the job for people to read."""
        whole = {"overrides": self.overrides.given(), "recipe": self.recipe.to_dict()}
        return {**asdict(self), **whole, "arguments": self.arguments()}

    def arguments(self, steps: int | None = None) -> list[str]:
        """What repeats the job behind `python -m core`; with its steps, once they are known."""
        steps = self.steps if steps is None else steps
        length = ["--minutes", f"{self.minutes:g}"] if steps is None else ["--steps", str(steps)]
        parts = ["jobs", "start", "--preset", self.preset, *length, "--seed", str(self.seed)]
        parts += ["--threads", str(self.threads)]
        parts += [] if self.device == "cpu" else ["--device", self.device]
        parts += [] if self.precision == "float32" else ["--precision", self.precision]
        parts += [] if self.processes == 1 else ["--processes", str(self.processes)]
        parts += [] if self.start_from is None else ["--start-from", self.start_from]
        for key, value in self.overrides.given().items():
            parts += [f"--{key.removeprefix('n_').replace('_', '-')}", str(value)]
        return parts


def spec_from_dict(data: dict[str, Any]) -> TrainSpec:
    """The inverse of `TrainSpec.to_dict`: every key known, none missing, each value of its type.

    What it asks for is not checked: a server whose limits have changed still lists its old jobs.
    """
    if data.get("verb") not in VERBS:
        known = ", ".join(VERBS)
        raise ValueError(f"{JOB}: unknown verb {data.get('verb')!r}; this version knows {known}")
    plain = {key: value for key, value in data.items() if key != "arguments"}
    try:
        doors = {"recipe": _read_recipe, "overrides": overrides_from_dict}
        return dataclass_from_dict(TrainSpec, plain, doors=doors)
    except ValueError as error:
        raise ValueError(f"{JOB}: {error}") from None


def train_spec(
    preset: str,
    *,
    name: str = "",
    minutes: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    overrides: Overrides | None = None,
    start_from: Path | None = None,
    device: str = "cpu",
    precision: Precision = "float32",
    processes: int = 1,
) -> TrainSpec:
    """A checked spec. Raises ValueError: what is wrong, its value, what is allowed.

    Without minutes and steps the preset's own length is taken; without threads one less than the
    cores, so that pages stay quick. `start_from` is the folder of a checkpoint. Whether the device
    is at hand is seen where it is trained. Several `processes` share the threads out.
    """
    overrides = Overrides() if overrides is None else overrides
    _check_rate(overrides.learning_rate)
    recipe = _recipe(preset, overrides, start_from)
    if minutes is None and steps is None:
        minutes, steps = (
            (recipe.minutes, None) if recipe.n_steps is None else (None, recipe.n_steps)
        )
    _check_length(minutes, steps, SERVER)
    longest = SERVER.minutes if minutes is None else min(SERVER.minutes, 3 * minutes + 5)
    spec = TrainSpec(
        name=name.strip() or preset,
        preset=preset,
        overrides=overrides,
        recipe=overrides.apply(recipe),
        seed=seed,
        minutes=minutes,
        steps=steps,
        threads=max(1, n_cores() - 1) if threads is None else threads,
        device=device,
        limits=replace(SERVER, minutes=longest),
        start_from=None if start_from is None else start_from.name,
        precision=precision,
        processes=processes,
    )
    check(spec)
    return spec


def check(spec: TrainSpec) -> None:
    """Raise ValueError for what cannot be trained, or not on this server."""
    if not 1 <= len(spec.name) <= LONGEST_NAME or not spec.name.isprintable():
        raise ValueError(f"name {spec.name!r}: 1 to {LONGEST_NAME} printable characters are needed")
    if not 0 <= spec.seed < 2**31:
        raise ValueError(f"seed {spec.seed}: a whole number from 0 to {2**31 - 1} is needed")
    if not 1 <= spec.threads <= n_cores():
        raise ValueError(f"{spec.threads} threads: 1 to {n_cores()} are possible here")
    if not is_device(spec.device):
        known = ", ".join(name for name in ASKED if name != AUTO)
        raise ValueError(f"device {spec.device!r:.40}; devices: {known}")
    _ = spec.where  # refuses what the device does not do
    if spec.start_from is not None and _FOLDER.fullmatch(spec.start_from) is None:
        raise ValueError(f"start_from {spec.start_from!r} is no name of a checkpoint")
    _check_rate(spec.overrides.learning_rate)
    _check_limits(spec.limits)
    _check_length(spec.minutes, spec.steps, spec.limits)
    spec.recipe.check_sizes()
    if (n_parameters := spec.recipe.rough_parameters) > MOST_PARAMETERS:
        raise ValueError(
            f"about {n_parameters / 1e6:.0f} million parameters: "
            f"at most {MOST_PARAMETERS / 1e6:.0f} million are allowed here"
        )
    corpus_folder(spec.recipe)


def corpus_folder(recipe: Recipe) -> Path | None:
    """Where the course's files lie, or what was spoken; no other folder can be named. Raises
    ValueError without it.
    """
    if recipe.corpus == "spoken":
        return found_spoken()
    if recipe.corpus == "pairs":  # drawn, of no file
        return None
    if TASKS[recipe.corpus].is_shipped:
        return None
    folder = course_folder()
    if folder is None or not folder.is_dir():
        raise ValueError(
            f"the course's files are not shipped: set {COURSE_VARIABLE} to their folder"
        )
    return folder


def n_cores() -> int:
    """The most threads that a job can have."""
    return os.cpu_count() or 1


def _read_recipe(data: dict[str, Any]) -> Recipe:
    """By its kind; ours are read without torch, for pages list jobs."""
    if (kind := data.get("kind")) in READERS:
        return READERS[kind](data)
    from core.runs.kinds import kind_of_dict

    return kind_of_dict(data).read_recipe(data)


def _recipe(preset: str, overrides: Overrides, start_from: Path | None) -> Recipe:
    """The preset, with the shape of the checkpoint that it begins with."""
    recipe = preset_by_name(preset)
    if start_from is None:
        if preset in FINE_TUNING:
            raise ValueError(f"preset {preset} goes on with a checkpoint: name one to start from")
        return recipe
    if preset not in FINE_TUNING:
        names = f"{', '.join(FINE_TUNING[:-1])} and {FINE_TUNING[-1]}"
        raise ValueError(f"preset {preset} begins anew; {names} start from a checkpoint")
    if given := sorted(set(overrides.given()) & set(TAKEN)):
        raise ValueError(f"{given[0]} cannot be set: it is that of checkpoint {start_from.name}")
    return shaped_like(recipe, start_from)


def _check_rate(rate: float | None) -> None:
    if rate is not None and not 0 < rate <= 1:
        raise ValueError(f"learning rate {rate}: more than 0 and at most 1 is needed")


def _check_limits(limits: Limits) -> None:
    for name, value in asdict(limits).items():
        most = getattr(SERVER, name)
        if not 0 < value <= most:
            raise ValueError(f"the limit {name} is {value}: more than 0 and at most {most:g}")


def _check_length(minutes: float | None, steps: int | None, limits: Limits) -> None:
    if (minutes is None) == (steps is None):
        raise ValueError("a length is needed: minutes or steps, not both")
    if minutes is not None and not (math.isfinite(minutes) and 0 < minutes <= limits.minutes):
        raise ValueError(f"{minutes} minutes: more than 0 and at most {limits.minutes:g}")
    if steps is not None and not 1 <= steps <= limits.steps:
        raise ValueError(f"{steps} steps: 1 to {limits.steps}")
