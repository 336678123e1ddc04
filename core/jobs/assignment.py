"""What a job can be asked to do, of whatever verb. No torch here."""

from core.jobs.bench_job import BenchJob, check_bench
from core.jobs.look_job import LookJob, check_look
from core.jobs.spec import TrainSpec, check

Assignment = TrainSpec | BenchJob | LookJob


def check_assignment(spec: Assignment) -> None:
    """Raise ValueError for what is not done on this server."""
    if isinstance(spec, BenchJob):
        check_bench(spec)
    elif isinstance(spec, LookJob):
        check_look(spec)
    else:
        check(spec)


def devices_of(spec: Assignment) -> list[str]:
    """What it takes: a card for each of several processes, else its one device."""
    if isinstance(spec, TrainSpec) and spec.processes > 1 and spec.device == "cuda":
        return [f"cuda:{number}" for number in range(spec.processes)]
    return [spec.device]
