"""The verb `look` of a worker: trains what is not trained yet, a line of metrics a training.

metrics.jsonl has a line for each run as it comes, `look.json` the pictures and what they are looked
at with; at the end, and at a stop, the runs go there too. A training that is stopped half way is
begun anew by the attempt that goes on: each takes a minute at most.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from core.bench.machine import OtherProcesses, describe_machine, describe_process
from core.jobs.look_job import LookJob, runs_of
from core.jobs.status import Reporter
from core.pictures.pictures import Pictures
from core.pictures.sources import load_pictures
from core.pictures.sweep import LOOK, PictureSet, Run, Sweep, read_sweep, write_sweep
from core.pictures.sweep_spec import Case, SweepSpec, seconds_of
from core.runs.journal import Journal
from core.runs.stopping import now_and_then, stop_requests
from core.training.pictures import Tell, runs

EVERY_LINE = 2**31


def work(
    job: LookJob, folder: Path, reporter: Reporter, is_stopped: Callable[[], bool]
) -> dict[str, Any] | None:
    """To the end: how many runs there are; or None if stopped, what there is being kept."""
    spec = job.spec
    torch.set_num_threads(spec.threads)
    pictures = load_pictures(spec.source)
    sweep = _begun(job, pictures, folder, reporter.check)
    with closing(Journal(folder, last_step=EVERY_LINE)) as journal, stop_requests() as signalled:
        found = runs_of(folder, spec)
        if (n_lost := reporter.status.step - len(found)) > 0:
            print(f"{n_lost} lost runs are trained again", file=sys.stderr, flush=True)
        progress = _Progress(spec, reporter, found)
        asked = now_and_then(lambda: signalled.is_set() or is_stopped())
        done = {run.case for run in found}
        for run in measured(
            spec, pictures, done=done, is_stopped=asked, tell=progress.doing, device=job.device
        ):
            found.append(run)
            journal.append({"step": len(found), **run.to_dict()})
            progress.write()
        journal.sync()
    reporter.check()
    write_sweep(folder / LOOK, replace(sweep, runs=tuple(found)))
    progress.write()
    return {"n_runs": len(found)} if len(found) == len(spec.cases) else None


def described(spec: SweepSpec, pictures: Pictures, device: str = "cpu") -> Sweep:
    """A sweep that has not trained anything yet, on this machine."""
    return Sweep(
        machine=describe_machine(device),
        environment=describe_process(spec.threads),
        pictures=PictureSet.of(pictures),
        spec=spec,
        runs=(),
    )


def measured(
    spec: SweepSpec,
    pictures: Pictures,
    *,
    done: Collection[Case],
    is_stopped: Callable[[], bool],
    tell: Tell,
    device: str = "cpu",
) -> Iterator[Run]:
    """The runs, each with the share of the machine that other processes had meanwhile."""
    others = OtherProcesses()
    for run in runs(spec, pictures, done=done, is_stopped=is_stopped, tell=tell, device=device):
        yield replace(run, others=round(others.share, 3))
        others = OtherProcesses()


def refuse_other_pictures(sweep: Sweep, pictures: Pictures) -> None:
    """Raise ValueError where a sweep was begun with pictures that are others now."""
    if sweep.pictures.digest != pictures.digest:
        raise ValueError(
            f"the pictures of {pictures.name!r:.60} are not those that it was begun with"
        )


def _begun(job: LookJob, pictures: Pictures, folder: Path, check: Callable[[], None]) -> Sweep:
    """What stands in look.json: of an earlier attempt, whose pictures must be the same, or new."""
    path = folder / LOOK
    if path.exists():
        begun = read_sweep(path)
        refuse_other_pictures(begun, pictures)
        return begun
    check()
    sweep = described(job.spec, pictures, job.device)
    write_sweep(path, sweep)
    return sweep


class _Progress:
    """What the status says while networks are trained."""

    def __init__(self, spec: SweepSpec, reporter: Reporter, found: list[Run]) -> None:
        self._spec, self._reporter, self._found = spec, reporter, found
        self._before, self._began = reporter.status.seconds, time.monotonic()
        self.write()

    def doing(self, case: Case, epoch: int) -> None:
        what = f"epoch {epoch} of {self._spec.epochs}" if epoch else "its tests"
        said = f"{case.network} at {case.rate:g}, seed {case.seed}: {what}"
        self._reporter.update(activity=said, **self._state())

    def write(self) -> None:
        self._reporter.write(**self._state())

    def _state(self) -> dict[str, Any]:
        n_done = len(self._found)
        return {
            "step": n_done,
            "saved_step": n_done,
            "n_steps": len(self._spec.cases),
            "seconds": self._before + time.monotonic() - self._began,
            "seconds_left": self._pace() * seconds_of(self._spec, n_done),
        }

    def _pace(self) -> float:
        """How many times as long it took so far as was estimated."""
        taken = sum(run.seconds for run in self._found)
        expected = sum(self._spec.seconds(run.network) for run in self._found)
        return taken / expected if expected else 1.0
