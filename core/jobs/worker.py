"""`python -m core.jobs.worker FOLDER`: one attempt at one job, from its ticket to its last words.

While it waits for its turn it has loaded nothing heavy. It holds its folder's lock as long as it
lives, and the slot of its device as long as it works. If its folder is removed, renamed or replaced
by another, it ends at its next look, also while it waits, and leaves that name alone.
"""

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.jobs.anchor import Anchor, GoneError
from core.jobs.bench_spec import BenchJob, check_bench
from core.jobs.failures import sentence
from core.jobs.folder import JOB, LOCK, Ticket, is_stop_requested, read_ticket, sweep_unfinished
from core.jobs.locks import HeldError, held
from core.jobs.spec import check
from core.jobs.spec_file import read_job
from core.jobs.status import Reporter, WorkerState
from core.jobs.turn import wait_for_turn

LOCK_SECONDS = 10.0


def main(arguments: Sequence[str]) -> int:
    """Run one attempt; returns the exit status: 0 if it has said its last words."""
    if len(arguments) != 1:
        print("exactly one argument is needed: the folder of a job", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    try:
        with held(folder / LOCK, seconds=LOCK_SECONDS):
            anchor = Anchor(folder / LOCK, JOB)
            return _attempt(folder, read_ticket(folder), anchor.check)
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
        state, message = "stopped", "interrupted before it could save"
    except Exception as error:  # noqa: BLE001 - whatever it was, the job has to say so
        _tell(traceback.format_exc())
        state, message = "failed", sentence(error)
    else:
        state, message = ("stopped", "stopped as asked") if figures is None else ("finished", "")
        changes["figures"] = figures
    return _last_words(reporter, state, message, changes)


def _work(folder: Path, ticket: Ticket, reporter: Reporter) -> dict[str, Any] | None:
    """The figures of what was trained or measured, or None if it was stopped."""
    spec = read_job(folder)
    if isinstance(spec, BenchJob):
        check_bench(spec)
    else:
        check(spec)

    def is_stopped() -> bool:
        reporter.check()
        return is_stop_requested(folder, ticket.attempt)

    slot = wait_for_turn(folder, device=spec.device, order=ticket.order, is_stopped=is_stopped)
    if slot is None:
        return None
    try:
        reporter.write(state="running", started_at=time.time(), activity="loading")
        if isinstance(spec, BenchJob):
            from core.jobs.benching import work as work_bench

            return work_bench(spec, folder, reporter, is_stopped)
        from core.jobs.training import work

        return work(spec, folder, reporter, is_stopped)
    finally:
        slot.release()


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
