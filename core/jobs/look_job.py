"""A sweep over networks of pictures as jobs, one a seed: titles, what is trained, what is there.

No torch here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.devices import ASKED, AUTO, is_device
from core.jobs.bench_job import check_title
from core.pictures.sources import sources
from core.pictures.sweep import (
    LOOK,
    Run,
    Sweep,
    joined,
    read_sweep,
    refuse_other_cases,
    run_from_dict,
)
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
    """What a worker trains; it takes the slot of its device, as a training does."""

    verb: str = VERB
    name: str
    spec: SweepSpec
    device: str = "cpu"

    @property
    def threads(self) -> int:
        return self.spec.threads

    def to_dict(self) -> dict[str, Any]:
        """For job.json, with the arguments that repeat it for people to read."""
        return {
            "verb": VERB,
            "name": self.name,
            "spec": self.spec.to_dict(),
            "device": self.device,
            "arguments": self.arguments(),
        }

    def arguments(self) -> list[str]:
        """What repeats the sweep behind `python -m core`."""
        device = [] if self.device == "cpu" else ["--device", self.device]
        return [VERB, "train", *sweep_arguments(self.spec), *device]


def sweep_arguments(spec: SweepSpec) -> list[str]:
    """The options that a spec is made of."""
    parts = ["--source", spec.source, "--networks", *spec.networks]
    parts += ["--rates", *(f"{rate:g}" for rate in spec.rates)]
    parts += ["--patch-rate", f"{spec.patch_rate:g}"]
    for name in ("seeds", "epochs", "batch", "padding", "threads"):
        parts += [f"--{name}", str(getattr(spec, name))]
    parts += ["--first-seed", str(spec.first_seed)] if spec.first_seed else []
    return parts


def look_job(spec: SweepSpec, *, name: str = "", device: str = "cpu") -> LookJob:
    """A checked job. Raises ValueError for a title that is none, and for what takes hours."""
    job = LookJob(name=name.strip() or title(spec), spec=spec, device=device)
    check_look(job)
    return job


def look_jobs(spec: SweepSpec, *, device: str = "cpu") -> tuple[LookJob, ...]:
    """A job for each seed, in their order. Raises ValueError for what a job cannot be."""
    return tuple(look_job(part, device=device) for part in spec.by_seed)


def check_look(job: LookJob) -> None:
    """Raise ValueError for what is not trained on a server."""
    check_title(job.name)
    if (seconds := seconds_of(job.spec)) > MOST_SECONDS:
        raise ValueError(
            f"about {seconds / 3600:.0f} hours: at most {MOST_SECONDS / 3600:.0f} are allowed "
            "here; take fewer rates, seeds or epochs"
        )
    if not is_device(job.device):
        known = ", ".join(name for name in ASKED if name != AUTO)
        raise ValueError(f"device {job.device!r:.40}; devices: {known}")
    if job.spec.source not in (known := sources()):
        raise ValueError(f"no pictures named {job.spec.source!r:.60}; at hand: {', '.join(known)}")


def look_from_dict(data: dict[str, Any]) -> LookJob:
    """The inverse of `LookJob.to_dict`. Raises ValueError."""
    if extra := sorted(set(data) - {"verb", "name", "spec", "device", "arguments"}):
        raise ValueError(f"unknown keys: {', '.join(extra)}")
    if not isinstance(data.get("name"), str) or not isinstance(data.get("spec"), dict):
        raise ValueError("a name and a spec are needed")
    if not isinstance(device := data.get("device", "cpu"), str):
        raise ValueError(f"device is {device!r:.40}; the name of one is needed")
    return LookJob(name=data["name"], spec=sweep_spec_from_dict(data["spec"]), device=device)


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


def sweep_of_all(folders: Sequence[Path]) -> Sweep:
    """What the jobs of a sweep have trained together. Raises ValueError before all are done."""
    parts = [sweep_of(folder) for folder in folders]
    if missing := [path.name for path, part in zip(folders, parts, strict=True) if part is None]:
        raise ValueError(f"job {missing[0]} has not begun")
    return joined([part for part in parts if part is not None])


def title(spec: SweepSpec) -> str:
    """What is trained, in words."""
    seeds = f"seed {spec.first_seed}" if spec.seeds == 1 else f"{spec.seeds} seeds"
    return f"{len(spec.cases)} trainings on {spec.source:.40}, {seeds}"
