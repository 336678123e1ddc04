"""A worker on a node of a cluster: its heartbeat, whether it is still the one that is wanted, and
why it was told to end.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from core.jobs.cluster import WARNING_SECONDS
from core.jobs.folder import is_stop_requested, read_ticket
from core.jobs.squeue import MissingError, SilentError, listed
from core.jobs.submission import (
    TOKEN_VARIABLE,
    Heartbeat,
    read_submission,
    write_heartbeat,
)
from core.runs.folder import GoneError
from core.runs.stopping import now_and_then

BEAT_SECONDS = 3.0
PATIENCE_SECONDS = 15.0  # with a scheduler that restarts; a cancelled worker is killed after 30
PAUSE_SECONDS = 1.0
EARLY_SECONDS = 60.0  # so much earlier than told does the scheduler give its warning
ASKED, INTERRUPTED = "stopped as asked", "interrupted before it could save"
TIME_LIMIT = "the cluster's time limit was near"
BY_CLUSTER = "the cluster told it to end"
SAVED = "its state is saved, and it can go on"
UNSAVED = "before it could save; it goes on from its last checkpoint"
Check = Callable[[], None]


def is_on_node() -> bool:
    """Whether this process was begun by a submission, which has waited for its turn already."""
    return TOKEN_VARIABLE in os.environ


@contextmanager
def on_node(folder: Path, check: Check) -> Generator[Check, None, None]:
    """A heart that beats for a block, and what else `check` has to ask; elsewhere nothing.

    Raises GoneError, now or from the check, if another submission is wanted.
    """
    if not is_on_node():
        yield check
        return
    token, over = os.environ[TOKEN_VARIABLE], threading.Event()
    is_other = now_and_then(lambda: _is_other(folder, token))

    def check_both() -> None:
        check()
        if is_other():
            raise GoneError(f"another submission of {folder.name} is wanted: this one ends here")

    check_both()
    heart = threading.Thread(target=_beat, args=(folder, token, check_both, over), daemon=True)
    heart.start()
    try:
        with _hearing_of_the_end():
            yield check_both
    finally:
        over.set()
        heart.join()


def why_ended(folder: Path) -> str:
    """Why a worker was stopped and has saved, which nobody may have asked for on a cluster."""
    if not is_on_node() or is_stop_requested(folder, read_ticket(folder).attempt):
        return ASKED
    return f"{_why()}: {SAVED}"


def why_interrupted() -> str:
    """Why a worker was ended between two saves."""
    return f"{_why()} {UNSAVED}" if is_on_node() else INTERRUPTED


def _why() -> str:
    left = _seconds_left(os.environ.get("SLURM_JOB_ID", ""))
    is_late = left is not None and left < WARNING_SECONDS + EARLY_SECONDS
    return TIME_LIMIT if is_late else BY_CLUSTER


@contextmanager
def _hearing_of_the_end() -> Generator[None, None, None]:
    """Where no training hears of it between two steps, the scheduler's warning interrupts."""
    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _is_other(folder: Path, token: str) -> bool:
    submission = read_submission(folder)
    return submission is None or submission.token != token


def _beat(folder: Path, token: str, check: Check, over: threading.Event) -> None:
    """Until it is over, or the folder is another's: from then on nothing is written there."""
    number = 0
    while True:
        number += 1
        try:
            check()
            write_heartbeat(folder, _heartbeat(token, number))
        except GoneError:
            return
        except (OSError, ValueError):  # a full disk, or a file replaced just now: the next may do
            pass
        if over.wait(BEAT_SECONDS):
            return


def _heartbeat(token: str, number: int) -> Heartbeat:
    base, task = (os.environ.get(f"SLURM_ARRAY_{part}") for part in ("JOB_ID", "TASK_ID"))
    job = f"{base}_{task}" if base and task else os.environ.get("SLURM_JOB_ID")
    restarts = os.environ.get("SLURM_RESTART_COUNT", "0")
    return Heartbeat(
        token=token,
        beat=number,
        host=socket.gethostname(),
        job=job,
        restarts=int(restarts) if restarts.isdecimal() else 0,
    )


def _seconds_left(job: str) -> float | None:
    """Until the time of a job is over; None if the scheduler does not say, or ends it by itself."""
    over = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            rows = listed([job], ("State", "EndTime"))
        except MissingError:
            return None
        except SilentError:
            if time.monotonic() > over:
                return None
            time.sleep(PAUSE_SECONDS)
            continue
        state, end = rows[0] if rows else ("", "")
        goes_on = state == "RUNNING" and end.isdecimal()  # one that is cancelled ends now
        return float(end) - time.time() if goes_on else None
