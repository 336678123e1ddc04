"""What a sweep has found: one row a training, and the file that keeps them. No torch here."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self, cast

from core.files import read_json, write_json
from core.from_json import dataclass_from_dict
from core.pictures.pictures import Pictures
from core.pictures.shifts import DIRECTIONS, SHIFTS
from core.pictures.sweep_spec import Case, SweepSpec, sweep_spec_from_dict, with_tuples

LOOK = "look.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """After one pass over the pictures: `loss` is the mean of the pass itself, the rest is measured
    on the validation pictures.
    """

    loss: float
    validation_loss: float
    validation_accuracy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One training. It has `diverged` where a loss was no number: then it has fewer epochs, and
    `correct` counts nothing.

    correct: right answers of `n_test` test pictures. shifted_correct: those on the same pictures
    moved by 1, 2, 3, 4 points, in all four directions together, of 4 · n_test. `others` is the
    share of the machine that other processes had meanwhile, where it was measured.
    """

    network: str
    rate: float
    seed: int
    parameters: int
    diverged: bool
    epochs: tuple[Epoch, ...]
    correct: int
    n_test: int
    shifted_correct: tuple[int, ...]
    seconds: float
    others: float | None = None

    @property
    def case(self) -> Case:
        return Case(self.network, self.rate, self.seed)

    @property
    def accuracy(self) -> float | None:
        """The share of right answers on the test pictures; None where the training diverged."""
        return None if self.diverged else self.correct / self.n_test

    @property
    def validation_accuracy(self) -> float:
        """That of the last epoch, by which a rate is chosen; 0 where the training diverged."""
        return 0.0 if self.diverged else self.epochs[-1].validation_accuracy

    def shifted_accuracy(self, shift: int) -> float | None:
        """The mean over the four directions of a shift of SHIFTS; None where it diverged."""
        if self.diverged or shift == 0:
            return self.accuracy
        return self.shifted_correct[shift - 1] / (len(DIRECTIONS) * self.n_test)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; `run_from_dict` is the inverse."""
        data = asdict(self)
        data["epochs"] = {
            field.name: [round(getattr(epoch, field.name), 5) for epoch in self.epochs]
            for field in fields(Epoch)
        }
        return data | {"shifted_correct": list(self.shifted_correct)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSet:
    """Which pictures were looked at."""

    name: str
    source: str
    classes: tuple[str, ...]
    n_train: int
    n_validation: int
    n_test: int
    digest: str

    @classmethod
    def of(cls, pictures: Pictures) -> Self:
        return cls(
            name=pictures.name,
            source=pictures.source,
            classes=pictures.classes,
            n_train=len(pictures.train),
            n_validation=len(pictures.validation),
            n_test=len(pictures.test),
            digest=pictures.digest,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A sweep, whole or so far; `machine` and `environment` are what it was trained on and with."""

    machine: dict[str, Any]
    environment: dict[str, Any]
    pictures: PictureSet
    spec: SweepSpec
    runs: tuple[Run, ...]

    @property
    def is_whole(self) -> bool:
        return len(self.runs) == len(self.spec.cases)

    def of(self, network: str, rate: float) -> list[Run]:
        """The runs of one network at one rate, by seed."""
        return [run for run in self.runs if (run.network, run.rate) == (network, rate)]


def joined(parts: Sequence[Sweep]) -> Sweep:
    """One sweep of whole ones, at least one, that differ in their seeds alone; in any order.

    Its machine is that of the first seed, which names others under `also`. Raises ValueError where
    one is not whole or not like the others, or a seed is missing or there twice.
    """
    ordered = sorted(parts, key=lambda one: one.spec.first_seed)
    first, runs = ordered[0], list[Run]()
    for one in ordered:
        spec = replace(first.spec, first_seed=_next_seed(first.spec, runs), seeds=one.spec.seeds)
        if one.spec.first_seed != spec.first_seed:
            raise ValueError(f"seed {one.spec.first_seed} is there, {spec.first_seed} should be")
        if (one.spec, one.pictures) != (spec, first.pictures):
            raise ValueError(f"seed {spec.first_seed} was trained otherwise than the first")
        if not one.is_whole:
            n, of = len(one.runs), len(one.spec.cases)
            raise ValueError(f"seed {spec.first_seed}: {n} of {of} trainings are there")
        runs += one.runs
    also = [one.machine for one in ordered[1:] if one.machine != first.machine]
    machine = first.machine | ({"also": also} if also else {})
    n_seeds = sum(one.spec.seeds for one in ordered)
    spec = replace(first.spec, seeds=n_seeds)
    return replace(first, machine=machine, spec=spec, runs=tuple(runs))


def read_sweep(path: Path) -> Sweep:
    """A stored sweep. Raises ValueError naming the file and what is wrong with it."""
    data = read_json(path)
    rows = data.pop("runs", None)
    doors = {"pictures": _pictures_from_dict, "spec": sweep_spec_from_dict}
    try:
        if not isinstance(rows, list):
            raise ValueError(f"runs is {rows!r:.40}; a list is needed")  # noqa: TRY301
        if not all(isinstance(row, dict) for row in cast("list[Any]", rows)):
            raise ValueError("runs holds what is no object")  # noqa: TRY301
        runs = tuple(run_from_dict(row) for row in cast("list[dict[str, Any]]", rows))
        head = dataclass_from_dict(Sweep, {**data, "runs": ()}, doors=doors)
        refuse_other_cases(head.spec, runs)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return replace(head, runs=runs)


def write_sweep(path: Path, sweep: Sweep) -> None:
    """Keep a sweep, whole or so far."""
    pictures = asdict(sweep.pictures) | {"classes": list(sweep.pictures.classes)}
    head = {"machine": sweep.machine, "environment": sweep.environment, "pictures": pictures}
    runs = [run.to_dict() for run in sweep.runs]
    write_json(path, {**head, "spec": sweep.spec.to_dict(), "runs": runs})


def run_from_dict(data: dict[str, Any]) -> Run:
    """The inverse of `Run.to_dict`; `step`, which a journal adds, is passed over.

    Raises ValueError for what no training can have found.
    """
    try:
        plain = {key: value for key, value in data.items() if key != "step"}
        values = with_tuples(plain, "shifted_correct")
        run = dataclass_from_dict(Run, values, doors={"epochs": _epochs})
        _check(run)
    except ValueError as error:
        raise ValueError(f"not a training: {error}") from None
    return run


def refuse_other_cases(spec: SweepSpec, runs: Sequence[Run]) -> None:
    """Raise ValueError unless the runs are the first cases of the spec, in their order."""
    for case, run in zip(spec.cases[: len(runs)], runs, strict=False):
        if run.case != case:
            raise ValueError(f"{_said(run.case)} stands where {_said(case)} should")
    if len(runs) > len(spec.cases):
        raise ValueError(f"{len(runs)} trainings of {len(spec.cases)}")


def _next_seed(spec: SweepSpec, runs: Sequence[Run]) -> int:
    return runs[-1].seed + 1 if runs else spec.first_seed


def _said(case: Case) -> str:
    return f"{case.network:.20} at {case.rate:g}, seed {case.seed}"


def _check(run: Run) -> None:
    if not 0 <= run.correct <= run.n_test or run.n_test < 1:
        raise ValueError(f"{run.correct} of {run.n_test} test pictures")
    most, n = len(DIRECTIONS) * run.n_test, len(run.shifted_correct)
    if n != len(SHIFTS) - 1 or not all(0 <= one <= most for one in run.shifted_correct):
        raise ValueError(f"shifted_correct is {run.shifted_correct!r:.80}; 4 counts up to {most:,}")
    if not (run.diverged or run.epochs):
        raise ValueError("no epoch")


def _epochs(columns: dict[str, Any]) -> tuple[Epoch, ...]:
    names = [field.name for field in fields(Epoch)]
    whole = all(isinstance(columns.get(name), list) for name in names)
    if not whole or len(columns) > len(names) or len(set(map(len, columns.values()))) > 1:
        raise ValueError(f"epochs need lists of one length: {', '.join(names)}")
    rows = zip(*(columns[name] for name in names), strict=True)
    return tuple(dataclass_from_dict(Epoch, dict(zip(names, row, strict=True))) for row in rows)


def _pictures_from_dict(data: dict[str, Any]) -> PictureSet:
    return dataclass_from_dict(PictureSet, with_tuples(data, "classes"))
