"""The verb `bench` of a worker: measures what is not measured yet, a line of metrics a case.

metrics.jsonl has a line for each record as it comes, `bench.json` what it was measured with; at the
end, and at a stop, the records go there too. An attempt that goes on leaves out what is there.
"""

import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.bench.estimate import estimate
from core.bench.machine import describe_environment, describe_machine
from core.bench.measure import measure
from core.bench.record import Bench, Record, merged, read_bench, write_bench
from core.bench.summary import summaries_of
from core.devices import resolve_device
from core.jobs.bench_job import BENCH, BenchJob, records_of
from core.jobs.status import Reporter
from core.runs.journal import Journal
from core.runs.stopping import now_and_then, stop_requests

EVERY_LINE = 2**31


def work(
    job: BenchJob, folder: Path, reporter: Reporter, is_stopped: Callable[[], bool]
) -> dict[str, Any] | None:
    """To the end: how many records there are; or None if stopped, what there is being kept."""
    spec = job.spec
    resolve_device(spec.device)
    bench = _begun(job, folder, reporter.check)
    with closing(Journal(folder, last_step=EVERY_LINE)) as journal, stop_requests() as signalled:
        records = records_of(folder)
        if (n_lost := reporter.status.step - len(records)) > 0:
            print(f"{n_lost} lost records are measured again", file=sys.stderr, flush=True)
        progress = _Progress(job, reporter, bench, records)
        is_stopped_now = now_and_then(lambda: signalled.is_set() or is_stopped())
        done = {(record.method, record.seq_len) for record in records}
        for record in measure(spec, done=done, is_stopped=is_stopped_now, tell=progress.doing):
            records.append(record)
            journal.append({"step": len(records), **record.to_dict()})
            progress.update()
        journal.sync()
    bench = replace(bench, records=tuple(records))
    reporter.check()
    write_bench(folder / BENCH, bench, summaries_of(bench))
    progress.write()
    return {"n_records": len(records)} if len(records) == len(spec.cases) else None


def _begun(job: BenchJob, folder: Path, check: Callable[[], None]) -> Bench:
    """Machine and environment; those of an earlier attempt must be the same."""
    here = Bench(
        machine=describe_machine(job.device),
        environment=describe_environment(job.spec),
        records=(),
    )
    path = folder / BENCH
    if path.exists():
        return replace(merged(read_bench(path), here), records=())
    check()
    write_bench(path, here, {})
    return here


class _Progress:
    """What the status says while it is measured."""

    def __init__(
        self, job: BenchJob, reporter: Reporter, bench: Bench, records: list[Record]
    ) -> None:
        self._spec, self._reporter, self._records = job.spec, reporter, records
        self._rate: float = bench.environment["roof"]["operations_per_second"] / job.threads
        self._before, self._began = reporter.status.seconds, time.monotonic()
        self.write()

    def doing(self, _done: int, _total: int, what: str) -> None:
        self._reporter.update(activity=f"measuring: {what}", **self._state())

    def update(self) -> None:
        self._reporter.update(**self._state())

    def write(self) -> None:
        self._reporter.write(**self._state())

    def _state(self) -> dict[str, Any]:
        done = {(record.method, record.seq_len) for record in self._records}
        left = estimate(self._spec, operations_per_second=self._rate, done=done).seconds
        return {
            "step": len(self._records),
            "saved_step": len(self._records),
            "n_steps": len(self._spec.cases),
            "seconds": self._before + time.monotonic() - self._began,
            "seconds_left": left,
        }
