"""What a measurement leaves in its job's folder, read while it goes on and afterwards. No torch."""

from dataclasses import replace
from pathlib import Path

from core.bench.record import Bench, Record, read_bench, record_from_dict
from core.jobs.metrics import read_metrics

BENCH = "bench.json"


def records_of(folder: Path) -> list[Record]:
    """What a job has measured so far. Raises ValueError for a line that is no record."""
    return [record_from_dict(row) for row in read_metrics(folder)]


def bench_of(folder: Path) -> Bench:
    """The measurement so far; without machine and environment before it has begun."""
    path, nothing = folder / BENCH, Bench(machine={}, environment={}, records=())
    begun = read_bench(path) if path.exists() else nothing
    return replace(begun, records=tuple(records_of(folder)))
