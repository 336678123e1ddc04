"""A sweep over networks of pictures as a job: its title, what is trained, and what its folder has.

No torch here.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.jobs.bench_job import check_title
from core.pictures.sources import sources
from core.pictures.sweep import LOOK, Run, Sweep, read_sweep, refuse_other_cases, run_from_dict
from core.pictures.sweep_spec import (
    MOST_SECONDS,
    SweepSpec,
    seconds_of,
    sweep_spec_from_dict,
)
from core.runs.journal import read_metrics

VERB = "look"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookJob:
    """What a worker trains; it takes the slot of the processor, as a training does."""

    verb: str = VERB
    name: str
    spec: SweepSpec

    @property
    def threads(self) -> int:
        return self.spec.threads

    @property
    def device(self) -> str:
        return "cpu"

    def to_dict(self) -> dict[str, Any]:
        """For job.json, with the arguments that repeat it for people to read."""
        spec = self.spec.to_dict()
        return {"verb": VERB, "name": self.name, "spec": spec, "arguments": self.arguments()}

    def arguments(self) -> list[str]:
        """What repeats the sweep behind `python -m core`."""
        return [VERB, "train", *sweep_arguments(self.spec)]


def sweep_arguments(spec: SweepSpec) -> list[str]:
    """The options that a spec is made of."""
    parts = ["--source", spec.source, "--networks", *spec.networks]
    parts += ["--rates", *(f"{rate:g}" for rate in spec.rates)]
    parts += ["--patch-rate", f"{spec.patch_rate:g}"]
    for name in ("seeds", "epochs", "batch", "padding", "threads"):
        parts += [f"--{name}", str(getattr(spec, name))]
    return parts


def look_job(spec: SweepSpec, *, name: str = "") -> LookJob:
    """A checked job. Raises ValueError for a title that is none, and for what takes hours."""
    job = LookJob(name=name.strip() or _title(spec), spec=spec)
    check_look(job)
    return job


def check_look(job: LookJob) -> None:
    """Raise ValueError for what is not trained on a server."""
    check_title(job.name)
    if (seconds := seconds_of(job.spec)) > MOST_SECONDS:
        raise ValueError(
            f"about {seconds / 3600:.0f} hours: at most {MOST_SECONDS / 3600:.0f} are allowed "
            "here; take fewer rates, seeds or epochs"
        )
    if job.spec.source not in (known := sources()):
        raise ValueError(f"no pictures named {job.spec.source!r:.60}; at hand: {', '.join(known)}")


def look_from_dict(data: dict[str, Any]) -> LookJob:
    """The inverse of `LookJob.to_dict`. Raises ValueError."""
    if extra := sorted(set(data) - {"verb", "name", "spec", "arguments"}):
        raise ValueError(f"unknown keys: {', '.join(extra)}")
    if not isinstance(data.get("name"), str) or not isinstance(data.get("spec"), dict):
        raise ValueError("a name and a spec are needed")
    return LookJob(name=data["name"], spec=sweep_spec_from_dict(data["spec"]))


def runs_of(folder: Path, spec: SweepSpec) -> list[Run]:
    """What a job has trained so far. Raises ValueError for lines that are not its own."""
    found = [run_from_dict(row) for row in read_metrics(folder)]
    refuse_other_cases(spec, found)
    return found


def sweep_of(folder: Path) -> Sweep | None:
    """The sweep so far; None before it has begun."""
    if not (folder / LOOK).exists():
        return None
    begun = read_sweep(folder / LOOK)
    return replace(begun, runs=tuple(runs_of(folder, begun.spec)))


def _title(spec: SweepSpec) -> str:
    return f"{len(spec.cases)} trainings on {spec.source:.40}, {spec.seeds} seeds"
