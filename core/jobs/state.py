"""The state of a job, derived from its lock and its files; nobody stores it.

The lock is looked at first. A worker writes its last words before it lets go of the lock, so
"not held, and no last words" can only be a worker that died.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from core.devices import numbered
from core.files import read_json
from core.jobs.assignment import Assignment
from core.jobs.bench_job import VERB as BENCH_VERB
from core.jobs.bench_job import BenchJob, bench_from_dict
from core.jobs.folder import (
    JOB,
    LOCK,
    StopRequest,
    SweepName,
    Ticket,
    job_folder,
    job_folders,
    read_owner,
    read_stop,
    read_sweep_name,
    read_ticket,
)
from core.jobs.locks import is_held
from core.jobs.look_job import VERB as LOOK_VERB
from core.jobs.look_job import LookJob, look_from_dict
from core.jobs.scheduler import look
from core.jobs.spec import TrainSpec, spec_from_dict
from core.jobs.standing import Standing, standing
from core.jobs.status import FINAL, State, Status, read_status
from core.jobs.submission import read_submission
from core.runs.folder import lost_file, why_lost

On = Literal["local", "slurm"]
ACTIVE: tuple[State, ...] = ("queued", "running", "stopping")
RESUMABLE: tuple[State, ...] = ("stopped", "lost", "failed")
LOST = "its worker is gone without a word (killed, or the machine was restarted)"
ENDED = "it was ended before it could save; it goes on from its last checkpoint"

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """All that is known of a job at one moment; what cannot be read of it is None.

    `spec` is that of a training, `bench` that of a measurement, `look` that of many short trainings
    on pictures. `place` is 1 for the next in the queue of its device. `lost` is the file for want
    of which it cannot go on. `owner` is a hash that says who started it on a page, `sweep` what it
    is a part of. `there` is how it stands on a cluster, where it was sent to one.
    """

    id: str
    state: State
    alive: bool
    message: str
    spec: TrainSpec | None
    ticket: Ticket | None
    status: Status | None
    stop: StopRequest | None
    place: int | None = None
    bench: BenchJob | None = None
    look: LookJob | None = None
    lost: str | None = None
    owner: str | None = None
    sweep: SweepName | None = None
    there: Standing | None = None

    @property
    def assignment(self) -> Assignment | None:
        """What is to be done, of whatever verb."""
        return self.spec or self.bench or self.look

    @property
    def name(self) -> str:
        return self.id if self.assignment is None else self.assignment.name

    @property
    def device(self) -> str | None:
        return None if self.assignment is None else self.assignment.device

    @property
    def slot(self) -> str | None:
        """The one name of its device: jobs of the same go one after the other."""
        return None if self.device is None else numbered(self.device)

    @property
    def on(self) -> On:
        return "local" if self.there is None else "slurm"

    @property
    def host(self) -> str | None:
        """Where its worker is, or was last."""
        told = None if self.status is None else self.status.host
        return told if self.there is None else self.there.host or told

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def can_resume(self) -> bool:
        return self.state in RESUMABLE and self.lost is None

    @property
    def progress(self) -> float:
        """Share of the steps that are done."""
        if self.status is None or not self.status.n_steps:
            return 0.0
        return self.status.step / self.status.n_steps

    def row(self) -> dict[str, Any]:
        """What a list tells of it."""
        started = None if self.status is None else self.status.started_at
        return {
            "id": self.id,
            "name": self.name,
            "verb": None if self.assignment is None else self.assignment.verb,
            "state": self.state,
            "step": 0 if self.status is None else self.status.step,
            "progress": self.progress,
            "started": None if started is None else iso(started),
            "device": self.device,
            "on": self.on,
            "host": self.host,
            "reason": (self.there.reason or None) if self.there is not None else None,
            "sweep": None if self.sweep is None else self.sweep.id,
        }


def list_jobs(root: Path) -> list[Job]:
    """All trainings, and what cannot be read; the newest first."""
    return [job for job in list_all(root) if job.bench is None and job.look is None]


def list_benches(root: Path) -> list[Job]:
    """All measurements, the newest first."""
    return [job for job in list_all(root) if job.bench is not None]


def list_looks(root: Path) -> list[Job]:
    """All sweeps over networks of pictures, the newest first."""
    return [job for job in list_all(root) if job.look is not None]


def list_all(root: Path) -> list[Job]:
    """Jobs of every verb, the newest first; those that wait know their place."""
    jobs = [read_job(folder) for folder in job_folders(root)]
    here = [job for job in jobs if job.there is None]
    for slot in {job.slot for job in here}:
        waiting = [job for job in here if job.state == "queued" and job.slot == slot]
        for place, job in enumerate(sorted(waiting, key=_order), 1):
            jobs[jobs.index(job)] = replace(job, place=place)
    return jobs[::-1]


def show(root: Path, job_id: str) -> Job:
    """One job. Raises ValueError if there is none of this id."""
    job_folder(root, job_id)
    for job in list_all(root):
        if job.id == job_id:
            return job
    raise ValueError(f"there is no job {job_id}")


def read_spec(folder: Path) -> Assignment:
    """What the job of a folder has to do, of whatever verb. Raises ValueError in one sentence."""
    data = read_json(folder / JOB)
    read = {BENCH_VERB: bench_from_dict, LOOK_VERB: look_from_dict}.get(str(data.get("verb")))
    if read is None:
        return spec_from_dict(data)
    try:
        return read(data)
    except ValueError as error:
        raise ValueError(f"{JOB}: {error}") from None


def read_job(folder: Path, *, now: float | None = None) -> Job:
    """One job by its folder, without its place in the queue."""
    alive = is_held(folder / LOCK)  # before anything is read
    problems: list[str] = []
    spec = _tried(read_spec, folder, problems)
    ticket = _tried(read_ticket, folder, problems)
    sent = _tried(read_submission, folder, problems)
    now = time.time() if now is None else now
    is_there = ticket is not None and sent is not None and sent.attempt == ticket.attempt
    seen = look(folder.parent, now=now) if is_there else None  # before last words are, too
    status = _tried(read_status, folder, problems)
    stop = _tried(read_stop, folder, problems)
    owner = _tried(read_owner, folder, problems)
    sweep = _tried(read_sweep_name, folder, problems)
    there = None
    if seen is None or ticket is None or sent is None:
        state, message = _derive(alive, ticket, status, stop, now)
    else:
        there = standing(folder.name, sent, seen, ticket=ticket, status=status, stop=stop, now=now)
        state, message, alive = there.state, there.message, there.is_alive
    if state == "lost":
        problems += [] if os.access(folder, os.W_OK) else ["its folder cannot be written to"]
        state, message = ("failed", "") if problems else (state, message)
    lost = lost_file(folder) if state in RESUMABLE and isinstance(spec, TrainSpec) else None
    if lost is not None:
        before = f"; before that: {message}" if message else ""
        message = f"it cannot go on: {why_lost(lost)}{before}"
    return Job(
        id=folder.name,
        state=state,
        alive=alive,
        message=message or "; ".join(problems[:1]),
        spec=spec if isinstance(spec, TrainSpec) else None,
        bench=spec if isinstance(spec, BenchJob) else None,
        look=spec if isinstance(spec, LookJob) else None,
        ticket=ticket,
        status=status,
        stop=stop,
        lost=lost,
        owner=owner,
        sweep=sweep,
        there=there,
    )


def iso(seconds: float) -> str:
    """Seconds since 1970 as people and spreadsheets read them."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _derive(
    alive: bool,  # noqa: FBT001
    ticket: Ticket | None,
    status: Status | None,
    stop: StopRequest | None,
    now: float,
) -> tuple[State, str]:
    """What belongs to an earlier attempt than the ticket's counts for nothing."""
    if ticket is None:
        return ("running" if alive else "lost"), ""
    said = status if status is not None and status.attempt == ticket.attempt else None
    if said is not None and said.state in FINAL:
        return said.state, said.message
    coming = said is None and abs(now - ticket.written_at) < ticket.patience
    if stop is not None and stop.attempt == ticket.attempt:
        return ("stopping", "") if alive or coming else ("stopped", ENDED)
    if said is not None and alive:
        return said.state, ""
    return ("queued", "") if alive or coming else ("lost", LOST)


def _order(job: Job) -> int:
    return 0 if job.ticket is None else job.ticket.order


def _tried(read: Callable[[Path], Read], folder: Path, problems: list[str]) -> Read | None:
    try:
        return read(folder)
    except ValueError as error:
        problems.append(str(error))
        return None
