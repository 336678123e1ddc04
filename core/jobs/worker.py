"""`python -m core.jobs.worker FOLDER`: one attempt at one job, from its ticket to its last words.

A device has one slot, whichever of its names a job says; jobs beyond it wait, first come, first
served. There is no daemon: every waiting worker looks for itself, and has loaded nothing heavy. The
slot is a lock, so it is free the
moment its holder dies; a waiting worker that dies is no longer queued, so it holds up nobody. A
holder whose folder is gone, which nobody sees any more, ends by itself between two steps; if it is
stuck, who waits ends it.

On a node of a cluster the scheduler has waited, and a worker takes no slot.

A worker holds its folder's lock as long as it
lives, and the slot of its device as long as it works. If its folder is removed, renamed or replaced
by another, it ends at its next look, also while it waits, and leaves that name alone.
"""

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

from core.devices import numbered
from core.jobs.assignment import Assignment, check_assignment, devices_of
from core.jobs.bench_job import BenchJob
from core.jobs.folder import (
    JOB,
    LOCK,
    Ticket,
    is_stop_requested,
    job_folders,
    read_ticket,
    sweep_unfinished,
)
from core.jobs.leftovers import Process, end_strays
from core.jobs.locks import HeldError, held, is_held, take
from core.jobs.look_job import LookJob
from core.jobs.on_node import is_on_node, on_node, why_ended, why_interrupted
from core.jobs.state import read_job, read_spec
from core.jobs.status import Reporter, WorkerState, sentence
from core.jobs.submission import is_sent
from core.runs.folder import Anchor, GoneError

LOCK_SECONDS = 10.0
SLOTS = ".slots"
LOOK_EVERY_SECONDS = 0.25
STRAYS_EVERY_LOOKS = 40  # the time that a worker without a folder has to end by itself


def main(arguments: Sequence[str]) -> int:
    """Run one attempt; returns the exit status: 0 if it has said its last words."""
    if len(arguments) != 1:
        print("exactly one argument is needed: the folder of a job", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    try:
        with held(folder / LOCK, seconds=LOCK_SECONDS):
            anchor = Anchor(folder / LOCK, JOB)
            with on_node(folder, anchor.check) as check:
                return _attempt(folder, read_ticket(folder), check)
    except (HeldError, ValueError, OSError) as error:
        _tell(f"no attempt: {error}")
        return 2


def _attempt(folder: Path, ticket: Ticket, check: Callable[[], None]) -> int:
    reporter = Reporter(folder, ticket.attempt, check)
    changes: dict[str, Any] = {}
    try:
        sweep_unfinished(folder)
        reporter.open()
        figures = _work(folder, ticket, reporter)
    except GoneError as error:
        _tell(str(error))
        return 1
    except KeyboardInterrupt:  # a second signal: what was saved is older than this step
        state, message = "stopped", why_interrupted()
    except Exception as error:  # noqa: BLE001 - whatever it was, the job has to say so
        _tell(traceback.format_exc())
        state, message = "failed", sentence(error)
    else:
        state, message = ("stopped", why_ended(folder)) if figures is None else ("finished", "")
        changes["figures"] = figures
    return _last_words(reporter, state, message, changes)


def _work(folder: Path, ticket: Ticket, reporter: Reporter) -> dict[str, Any] | None:
    """The figures of what was trained or measured, or None if it was stopped."""
    spec = read_spec(folder)
    check_assignment(spec)

    def is_stopped() -> bool:
        reporter.check()
        return is_stop_requested(folder, ticket.attempt)

    with ExitStack() as slots:
        # On a node the scheduler has waited for them. In the order of their numbers, so that two
        # jobs that need both of two cards never wait for each other.
        for device in () if is_on_node() else devices_of(spec):
            slot = wait_for_slot(folder, device=device, order=ticket.order, is_stopped=is_stopped)
            if slot is None:
                return None
            slots.callback(slot.release)
        reporter.write(state="running", started_at=time.time(), activity="loading")
        return _by_verb(spec, folder, reporter, is_stopped)


def _by_verb(
    spec: Assignment, folder: Path, reporter: Reporter, is_stopped: Callable[[], bool]
) -> dict[str, Any] | None:
    if isinstance(spec, BenchJob):
        from core.jobs.benching import work as work_bench

        return work_bench(spec, folder, reporter, is_stopped)
    if isinstance(spec, LookJob):
        from core.jobs.looking import work as work_look

        return work_look(spec, folder, reporter, is_stopped)
    if spec.processes > 1:
        from core.jobs.together import work_together

        return work_together(spec, folder, reporter)
    from core.jobs.training import work

    return work(spec, folder, reporter, is_stopped)


def wait_for_slot(
    folder: Path,
    *,
    device: str,
    order: int,
    is_stopped: Callable[[], bool],
    pause: Callable[[float], None] = time.sleep,
) -> FileLock | None:
    """The slot's lock, once it is free and nobody came earlier; None if stopped meanwhile."""
    slot = folder.parent / SLOTS / f"{numbered(device).replace(':', '-')}.lock"
    n_looks, strays = 0, set[Process]()
    while not is_stopped():
        slot.parent.mkdir(exist_ok=True)
        n_looks += 1
        if is_held(slot):
            if n_looks % STRAYS_EVERY_LOOKS == 0:
                strays = end_strays(folder.parent, strays)
        elif not _is_anybody_before(folder, device, order):
            try:
                return take(slot, seconds=0)
            except HeldError:
                pass
        pause(LOOK_EVERY_SECONDS)
    return None


def _is_anybody_before(folder: Path, device: str, order: int) -> bool:
    """A ticket is looked at first: with forty that wait, all of which look when a slot is free,
    whole jobs would be too much to read.
    """
    earlier = [other for other in job_folders(folder.parent) if _has_come_before(other, order)]
    jobs = [read_job(other) for other in earlier]
    return any(job.state == "queued" and job.slot == numbered(device) for job in jobs)


def _has_come_before(folder: Path, order: int) -> bool:
    with suppress(ValueError):  # its state is told by others
        return not is_sent(folder) and read_ticket(folder).order < order
    return False


def _last_words(
    reporter: Reporter, state: WorkerState, message: str, changes: dict[str, Any]
) -> int:
    _tell(f"{state}: {message}" if message else state)
    try:
        reporter.close(state, message, **changes)
    except (GoneError, OSError) as error:
        _tell(f"this could not be written into the status: {error}")
        return 1
    return 0


def _tell(text: str) -> None:
    """To the log, unless the disk is full."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
