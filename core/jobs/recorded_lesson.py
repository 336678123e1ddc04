"""The lesson as it once went: what a page shows before anybody has trained here.

One file of assets holds both runs: the command of each, its figures, and its lines of metrics.
`assets/make_recorded_lesson.py` makes it of the folders of two finished jobs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from core.files import read_json
from core.from_json import dataclass_from_dict
from core.jobs.curves import whole
from core.jobs.lesson import lesson_specs
from core.jobs.spec import TrainSpec
from core.jobs.state import Job, read_job
from core.jobs.status import Status
from core.paths import ASSETS
from core.runs.journal import read_metrics

RECORDED = ASSETS / "recorded_lesson.json"
DIGITS = 4  # of a loss
KEPT = ("step", "phase", "loss", "tokens", "seconds", "held_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One run of the lesson; `command` trains it again, `metrics` are its lines."""

    command: str
    n_steps: int
    n_parameters: int
    baseline: dict[str, Any]
    figures: dict[str, Any]
    metrics: list[dict[str, Any]]

    def job(self, spec: TrainSpec) -> Job:
        """The finished job that it was; its folder is gone."""
        status = Status(
            attempt=1,
            state="finished",
            pid=0,
            created_at=0.0,
            host="",
            updated_at=0.0,
            step=self.n_steps,
            n_steps=self.n_steps,
            n_parameters=self.n_parameters,
            baseline=self.baseline,
            figures=self.figures,
        )
        return Job(
            id="",
            state="finished",
            alive=False,
            message="",
            spec=spec,
            ticket=None,
            status=status,
            stop=None,
        )


def read_recorded(path: Path = RECORDED) -> tuple[Recorded, ...]:
    """Both runs, in the order of `lesson_specs`. Raises ValueError for a file that is not whole."""
    runs: Any = read_json(path).get("runs")
    wanted = len(lesson_specs())
    if not isinstance(runs, list) or len(cast("list[Any]", runs)) != wanted:
        raise ValueError(f"{path.name}: runs: a list of {wanted} runs is needed")
    try:
        return tuple(_read(run) for run in cast("list[Any]", runs))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def recorded_of(folders: Sequence[Path]) -> dict[str, Any]:
    """What the file holds of two finished jobs. Raises ValueError for one that is not finished."""
    return {"runs": [asdict(_recorded(folder)) for folder in folders]}


def _read(run: Any) -> Recorded:
    if not isinstance(run, dict):
        raise ValueError(f"a run is {run!r:.80}, an object is needed")
    found = dataclass_from_dict(Recorded, cast("dict[str, Any]", run))
    whole(found.metrics)
    return found


def _recorded(folder: Path) -> Recorded:
    job = read_job(folder)
    status, spec = job.status, job.spec
    if job.state != "finished" or status is None or spec is None:
        raise ValueError(f"{folder.name} is {job.state}; a finished training is needed")
    return Recorded(
        command=" ".join(["python -m core", *spec.arguments(status.n_steps)]),
        n_steps=status.step,
        n_parameters=status.n_parameters or 0,
        baseline=status.baseline or {},
        figures=status.figures or {},
        metrics=[_line(row) for row in whole(read_metrics(folder))],
    )


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in KEPT if name in row}
    return kept | {"loss": round(row["loss"], DIGITS)}
