"""What the jobs of one pupil may come to, waiting or running, on a server in class."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from core.bench.estimate import estimate
from core.jobs.assignment import Assignment as Spec
from core.jobs.bench_job import BenchJob
from core.jobs.look_job import LookJob
from core.jobs.state import Job
from core.pictures.sweep_spec import seconds_of
from core.server import Server


def over_quota(
    server: Server, jobs: Iterable[Job], owners: Collection[str], specs: Sequence[Spec]
) -> str:
    """Why these are too much beside what the same `owners` have started already; "" if not."""
    own = [job for job in jobs if job.is_active and job.owner in owners]
    if len(own) + len(specs) > server.waiting_jobs:
        return (
            f"a pupil may have {server.waiting_jobs} jobs waiting or running here, and "
            f"{_n_yours(len(own))}"
        )
    before = sum(minutes_of(job.assignment) for job in own if job.assignment is not None)
    new = sum(map(minutes_of, specs))
    if before + new > server.minutes:
        return (
            f"about {new:.2g} minutes: the jobs of a pupil may take {server.minutes:g} minutes "
            f"together here, and {_n_yours(len(own))}"
        )
    return ""


def minutes_of(spec: Spec) -> float:
    """What is asked for, or after how many minutes it is ended."""
    if isinstance(spec, BenchJob):
        return estimate(spec.spec).seconds / 60
    if isinstance(spec, LookJob):
        return seconds_of(spec.spec) / 60
    return spec.limits.minutes if spec.minutes is None else spec.minutes


def shortened(server: Server, spec: Spec) -> Spec:
    """A training of so many steps says not how long it takes: for a pupil it is ended in time."""
    if isinstance(spec, (BenchJob, LookJob)) or spec.minutes is not None:
        return spec
    minutes = min(spec.limits.minutes, max(server.minutes, 0.1))
    return replace(spec, limits=replace(spec.limits, minutes=minutes))


def _n_yours(n: int) -> str:
    return f"{n} of yours {'is' if n == 1 else 'are'} there"
