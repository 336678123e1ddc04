"""A measurement as a job: its title, what is measured, and what its folder has of it. No torch."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.bench.estimate import estimate
from core.bench.record import Bench, Record, read_bench, record_from_dict
from core.bench.spec import GENERATION, BenchSpec, spec_from_dict
from core.runs.journal import read_metrics

VERB, BENCH = "bench", "bench.json"
LONGEST_NAME = 80
MOST_SECONDS = 4 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchJob:
    """What a worker measures; it takes the slot of its device, as a training does."""

    verb: str = VERB
    name: str
    spec: BenchSpec

    @property
    def threads(self) -> int:
        return self.spec.threads

    @property
    def device(self) -> str:
        return self.spec.device

    def to_dict(self) -> dict[str, Any]:
        """For job.json, with the arguments that repeat it for people to read."""
        return {
            "verb": self.verb,
            "name": self.name,
            "spec": self.spec.to_dict(),
            "arguments": self.arguments(),
        }

    def arguments(self) -> list[str]:
        """What repeats the measurement behind `python -m core`."""
        spec = self.spec
        lengths = map(str, spec.lengths)
        parts = [VERB, "--methods", *spec.methods, "--lengths", *lengths]
        parts += ["--head-dim", str(spec.head_dim), "--heads", str(spec.n_heads)]
        parts += ["--causal"] * spec.causal + ["--backward"] * spec.backward
        parts += ["--question", GENERATION] * spec.writes
        parts += ["--features", str(spec.sizes.n_features), "--terms", str(spec.sizes.n_terms)]
        parts += ["--window", str(spec.sizes.window), "--sinks", str(spec.sizes.n_sinks)]
        parts += ["--device", spec.device, "--dtype", spec.dtype, "--threads", str(spec.threads)]
        parts += ["--repeats", str(spec.repeats), "--seconds", f"{spec.seconds:g}"]
        return [*parts, "--seed", str(spec.seed)]


def bench_job(spec: BenchSpec, *, name: str = "") -> BenchJob:
    """A checked job. Raises ValueError for a title that is none, and for what takes hours."""
    job = BenchJob(name=name.strip() or _title(spec), spec=spec)
    check_bench(job)
    return job


def check_bench(job: BenchJob) -> None:
    """Raise ValueError for what is not measured on a server."""
    check_title(job.name)
    seconds = estimate(job.spec).seconds
    if seconds > MOST_SECONDS:
        raise ValueError(
            f"about {seconds / 3600:.0f} hours: at most {MOST_SECONDS / 3600:.0f} are allowed "
            "here; take fewer methods or shorter texts"
        )


def check_title(name: str) -> None:
    """Raise ValueError for a title that cannot be shown on one line."""
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(f"name {name!r}: 1 to {LONGEST_NAME} printable characters are needed")


def bench_from_dict(data: dict[str, Any]) -> BenchJob:
    """The inverse of `BenchJob.to_dict`. Raises ValueError."""
    known = {"verb", "name", "spec", "arguments"}
    if extra := sorted(set(data) - known):
        raise ValueError(f"unknown keys: {', '.join(extra)}")
    if not isinstance(data.get("name"), str) or not isinstance(data.get("spec"), dict):
        raise ValueError("a name and a spec are needed")
    return BenchJob(name=data["name"], spec=spec_from_dict(data["spec"]))


def records_of(folder: Path) -> list[Record]:
    """What a job has measured so far. Raises ValueError for a line that is no record."""
    return [record_from_dict(row) for row in read_metrics(folder)]


def bench_of(folder: Path) -> Bench:
    """The measurement so far; without machine and environment before it has begun."""
    path, nothing = folder / BENCH, Bench(machine={}, environment={}, records=())
    begun = read_bench(path) if path.exists() else nothing
    return replace(begun, records=tuple(records_of(folder)))


def _title(spec: BenchSpec) -> str:
    if spec.writes:
        return f"{len(spec.methods)} methods, one token behind up to {spec.lengths[-1]:,}"
    order = "causal" if spec.causal else "not causal"
    return f"{len(spec.methods)} methods to {spec.lengths[-1]:,} tokens, {order}, {spec.pass_name}"
