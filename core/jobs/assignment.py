"""What a job can be asked to do, of whatever verb, and where it goes on. No torch here."""

from pathlib import Path

from core.files import write_json
from core.jobs.bench_job import BenchJob, check_bench
from core.jobs.folder import JOB
from core.jobs.look_job import LookJob, check_look
from core.jobs.spec import TrainSpec, check
from core.training.where import Precision

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


def moved(spec: Assignment, device: str | None, precision: Precision | None) -> Assignment:
    """What goes on, where it was asked for. Raises ValueError for what cannot be there."""
    if device is None and precision is None:
        return spec
    if not isinstance(spec, TrainSpec):
        raise ValueError("only a training can go on on another device")
    found = spec.moved(device, precision)
    check(found)
    return found


def rewrite(folder: Path, spec: Assignment, before: Assignment) -> None:
    """Before the ticket: whoever works by it reads the new one."""
    if spec != before:
        write_json(folder / JOB, spec.to_dict())
