"""What the page reads: stored machines and jobs. Without torch, so that it opens at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core import paths
from core.bench.record import Bench, read_bench
from core.jobs.bench_job import bench_of
from core.jobs.state import Job, list_all, list_benches
from pages.runtime import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a measurement is: a stored file, or the folder of a job."""

    id: str
    label: str
    path: Path
    job: Job | None = None


def sources() -> dict[str, Source]:
    """Jobs, the newest first, then stored machines; by what stands in the address."""
    found = [
        Source(id=job.id, label=words.job_label(job), path=paths.RUNS / job.id, job=job)
        for job in benches()
    ]
    found += [
        Source(id=path.stem, label=words.machine_label(path.stem, _stored(path)), path=path)
        for path in sorted(paths.BENCHMARKS.glob("*.json"))
    ]
    return {source.id: source for source in found}


def benches() -> list[Job]:
    """All measurements of this server, the newest first."""
    return list_benches(paths.RUNS)


def all_jobs() -> list[Job]:
    """Of every verb: what a new one may have to wait for."""
    return list_all(paths.RUNS)


def bench(source: Source) -> Bench:
    """What has been measured there so far. Raises ValueError for a damaged file."""
    if source.job is not None:
        return bench_of(source.path)
    return _read(source.path, source.path.stat().st_mtime)


def is_active(found: Sequence[Source]) -> bool:
    """Whether anything of it may still change by itself."""
    return any(source.job is not None and source.job.is_active for source in found)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(path: Path, modified: float) -> Bench:
    return read_bench(path)


def _stored(path: Path) -> Bench | None:
    """None where the file cannot be read; whoever chooses it is told why."""
    try:
        return _read(path, path.stat().st_mtime)
    except ValueError:
        return None
