"""What can be done with jobs: start, stop, resume, remove.

Every function takes the folder of all jobs and reads the disk anew, so two servers and a terminal
see the same. Whoever changes what is wanted of a job holds the queue's lock.
"""

import shutil
import signal
import socket
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from core.files import write_json
from core.jobs.assignment import Assignment, check_assignment, moved, rewrite
from core.jobs.folder import (
    JOB,
    LOCK,
    StopRequest,
    SweepName,
    Ticket,
    job_folder,
    named_folder,
    new_id,
    new_sweep_id,
    write_owner,
    write_stop,
    write_sweep_name,
    write_ticket,
)
from core.jobs.launcher import Launcher, send
from core.jobs.leftovers import UNFINISHED, Leftover, clear
from core.jobs.locks import HeldError, held, is_held, queue_lock
from core.jobs.slurm import press_on, withdraw_waiting
from core.jobs.state import RESUMABLE, Job, State, list_all, read_job
from core.training.where import Precision

MOST_WAITING = 20
MOST_IN_SWEEPS = 40  # beside them; each that waits is a process of about 26 MB
LEAST_FREE_BYTES = 200_000_000
ENDING_SECONDS = 2.0
SIGTERM_AFTER_SECONDS, SIGKILL_AFTER_SECONDS = 15.0, 45.0


def _anybody(jobs: list[Job]) -> None:
    """No quota."""


def start(
    root: Path,
    spec: Assignment,
    launcher: Launcher,
    *,
    owner: str | None = None,
    allow: Callable[[list[Job]], None] = _anybody,
) -> str:
    """Put a job into the queue and launch its worker, which waits for its turn; returns the id.

    `owner` says whose it is; `allow` raises ValueError for one job too many beside all others.
    Raises ValueError if it cannot be started here, OSError if the disk refuses.
    """
    (job_id,) = _start_all(root, [spec], launcher, sweep=None, owner=owner, allow=allow)
    return job_id


def start_sweep(
    root: Path,
    specs: Sequence[Assignment],
    launcher: Launcher,
    *,
    name: str,
    owner: str | None = None,
    allow: Callable[[list[Job]], None] = _anybody,
) -> tuple[str, list[str]]:
    """Put all jobs of a sweep into the queue at once, or none; returns its id and theirs.

    The ids of the jobs sort in the order of the specs. Raises as `start` does, for all together.
    """
    sweep = SweepName(id=new_sweep_id(datetime.now(UTC)), name=name)
    return sweep.id, _start_all(root, specs, launcher, sweep=sweep, owner=owner, allow=allow)


def _start_all(
    root: Path,
    specs: Sequence[Assignment],
    launcher: Launcher,
    *,
    sweep: SweepName | None,
    owner: str | None,
    allow: Callable[[list[Job]], None],
) -> list[str]:
    _refuse_obstacle(launcher)
    for spec in specs:
        check_assignment(spec)
    with queue_lock(root):
        tidy(root)
        jobs = list_all(root)
        _refuse_crowd(root, jobs, in_sweep=sweep is not None, n_new=len(specs))
        allow(jobs)
        now = datetime.now(UTC)
        ids = sorted(new_id(now) for _ in specs)
        parts, folders = [root / f".new-{one}" for one in ids], [root / one for one in ids]
        first = _ticket(1, jobs, launcher)
        try:
            for number, (spec, part) in enumerate(zip(specs, parts, strict=True)):
                ticket = replace(first, order=first.order + number)
                _write_job(part, spec, ticket, owner=owner, sweep=sweep)
            for part, folder in zip(parts, folders, strict=True):
                part.rename(folder)  # a folder with an id is a whole job
            launcher.launch_all(folders, threads=specs[0].threads)
        except (OSError, ValueError):  # a full disk; a cluster that does not take them
            for path in (*parts, *folders):
                shutil.rmtree(path, ignore_errors=True)
            raise
    return ids


def _write_job(
    part: Path, spec: Assignment, ticket: Ticket, *, owner: str | None, sweep: SweepName | None
) -> None:
    part.mkdir()
    write_json(part / JOB, spec.to_dict())
    write_ticket(part, ticket)
    if owner is not None:
        write_owner(part, owner)
    if sweep is not None:
        write_sweep_name(part, sweep)


def resume(
    root: Path,
    job_id: str,
    launcher: Launcher,
    *,
    device: str | None = None,
    precision: Precision | None = None,
) -> None:
    """Put a job that ended without finishing at the end of the queue, from its last checkpoint.

    A training may go on on another device, and says so from then on. Raises ValueError.
    """
    _refuse_obstacle(launcher)
    folder = job_folder(root, job_id)
    with queue_lock(root):
        job = read_job(folder)
        if job.state not in RESUMABLE:
            raise ValueError(f"job {job_id} is {job.state}; only {_either(RESUMABLE)} can go on")
        if job.lost is not None:
            raise ValueError(f"job {job_id} is {job.state}, but {job.message}")
        if job.assignment is None or job.ticket is None:
            raise ValueError(f"job {job_id} cannot go on: {job.message}")
        spec = moved(job.assignment, device, precision)
        jobs = list_all(root)
        _refuse_crowd(root, jobs, in_sweep=job.sweep is not None)
        with _without_worker(folder):
            rewrite(folder, spec, job.assignment)
            write_ticket(folder, _ticket(job.ticket.attempt + 1, jobs, launcher))
        try:
            launcher.launch(folder, threads=spec.threads)
        except (OSError, ValueError):  # as if nobody had asked
            rewrite(folder, job.assignment, spec)
            write_ticket(folder, job.ticket)
            raise


def stop(root: Path, job_id: str) -> State:
    """Ask a job to end after its step, and return at once with its state.

    Called again while it is stopping, this presses on: after 15 s by SIGTERM to the worker's
    process group, after 45 s by SIGKILL. On a cluster a job that waits leaves the line at once.
    """
    folder = job_folder(root, job_id)
    with queue_lock(root):
        job = read_job(folder)
        if not job.is_active or job.ticket is None:
            raise ValueError(f"job {job_id} is {job.state}; only a queued or running one can stop")
        now, request, attempt = time.time(), job.stop, job.ticket.attempt
        if request is None or request.attempt != attempt:
            write_stop(folder, StopRequest(attempt=attempt, requested_at=now))
            withdraw_waiting(root, job)
        elif now - request.requested_at > SIGKILL_AFTER_SECONDS:
            _signal(folder, job, signal.SIGKILL)
        elif now - request.requested_at > SIGTERM_AFTER_SECONDS and request.terminated_at is None:
            write_stop(folder, replace(request, terminated_at=now))
            _signal(folder, job, signal.SIGTERM)
    return read_job(folder).state


def remove(root: Path, job_id: str) -> None:
    """Delete a job that no worker holds, with all that it trained, or what is left of one."""
    folder = named_folder(root, job_id)
    away = root / f".removed-{job_id}"
    with queue_lock(root):
        tidy(root)
        if (folder / JOB).is_file() and (job := read_job(folder)).is_active:
            raise ValueError(f"job {job_id} is {job.state}: stop it first")
        with _without_worker(folder):
            folder.rename(away)  # at once: nobody ever sees a half of it
    shutil.rmtree(away, ignore_errors=True)


def tidy(root: Path) -> None:
    """Delete what a killed start, remove or keep has left; only under the queue's lock."""
    for pattern in UNFINISHED:
        for path in root.glob(pattern):
            shutil.rmtree(path, ignore_errors=True)


def clean(root: Path) -> list[Leftover]:
    """Remove what killed workers and verbs have left, and end workers whose folder is gone.

    Returns what was removed. Jobs stay, and so does whatever else holds something trained.
    """
    if not root.is_dir():  # their workers may be there still
        return clear(root)
    with queue_lock(root):
        return clear(root)


@contextmanager
def _without_worker(folder: Path) -> Generator[None, None, None]:
    """Its lock is taken: a worker that has said its last words may still be ending."""
    try:
        with held(folder / LOCK, seconds=ENDING_SECONDS):
            yield
    except HeldError:
        raise ValueError(f"the worker of job {folder.name} is still ending; try again") from None


def _signal(folder: Path, job: Job, number: signal.Signals) -> None:
    """Signal the worker of the present attempt, if it is beyond doubt that this is the process."""
    if job.there is not None:
        press_on(folder.parent, job, number)
        return
    status = job.status
    if status is None or job.ticket is None or status.attempt != job.ticket.attempt:
        return
    if status.host != socket.gethostname() or not is_held(folder / LOCK):
        return
    send(status.pid, status.created_at, number)


def _ticket(attempt: int, jobs: list[Job], launcher: Launcher) -> Ticket:
    order = 1 + max((job.ticket.order for job in jobs if job.ticket is not None), default=0)
    return Ticket(attempt=attempt, order=order, written_at=time.time(), patience=launcher.patience)


def _refuse_obstacle(launcher: Launcher) -> None:
    if (obstacle := launcher.obstacle()) is not None:
        raise ValueError(obstacle)


def _refuse_crowd(root: Path, jobs: list[Job], *, in_sweep: bool, n_new: int = 1) -> None:
    """Jobs of sweeps have a limit of their own, so that a large one keeps nobody else out."""
    crowd = [job for job in jobs if job.state == "queued" and (job.sweep is not None) is in_sweep]
    most, whose = (MOST_IN_SWEEPS, "jobs of sweeps") if in_sweep else (MOST_WAITING, "jobs")
    if len(crowd) + n_new > most:
        raise ValueError(
            f"{most} {whose} are waiting already; remove one or come back later"
            if n_new == 1
            else f"{n_new} jobs beside {len(crowd)} {whose} that wait: at most {most} may wait"
        )
    free, needed = shutil.disk_usage(root).free, n_new * LEAST_FREE_BYTES
    if free < needed:
        who = "a job needs" if n_new == 1 else f"{n_new} jobs need"
        raise ValueError(f"the disk has {free / 1e6:.0f} MB left; {who} {needed / 1e6:.0f} MB")


def _either(states: tuple[str, ...]) -> str:
    return f"{', '.join(states[:-1])} or {states[-1]} ones"
