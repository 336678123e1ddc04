"""A device has one slot; jobs beyond it wait, first come, first served.

There is no daemon: every waiting worker looks for itself. The slot is a lock, so it is free the
moment its holder dies; a waiting worker that dies is no longer queued, so it holds up nobody. A
holder whose folder is gone, which nobody sees any more, ends by itself between two steps; if it is
stuck, who waits ends it.
"""

import time
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from core.jobs.folder import job_folders
from core.jobs.leftovers import Process, end_strays
from core.jobs.locks import HeldError, is_held, take
from core.jobs.state import look

SLOTS = ".slots"
LOOK_EVERY_SECONDS = 0.25
STRAYS_EVERY_LOOKS = 40  # the time that a worker without a folder has to end by itself


def wait_for_turn(
    folder: Path,
    *,
    device: str,
    order: int,
    is_stopped: Callable[[], bool],
    pause: Callable[[float], None] = time.sleep,
) -> FileLock | None:
    """The slot's lock, once it is free and nobody came earlier; None if stopped meanwhile."""
    slot = folder.parent / SLOTS / f"{device}.lock"
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
    jobs = [look(other) for other in job_folders(folder.parent) if other != folder]
    waiting = [job for job in jobs if job.state == "queued" and job.device == device]
    return any(job.ticket is not None and job.ticket.order < order for job in waiting)
