"""One slot a device, first come, first served; whoever dies holds up nobody."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.jobs import actions, worker
from core.jobs.folder import LOCK, is_stop_requested, read_ticket
from core.jobs.locks import held, is_held, take
from core.jobs.state import read_job
from core.jobs.worker import wait_for_slot

Start = Callable[..., Path]


class WaitedTooLongError(AssertionError):
    """The turn did not come."""


def wait(folder: Path, *acts: Callable[[], Any]) -> Any:
    """Wait for this job's turn; between two looks the next act happens, and after all it fails."""
    todo = list(acts)

    def pause(_: float) -> None:
        if not todo:
            raise WaitedTooLongError
        todo.pop(0)()

    order = read_ticket(folder).order
    return wait_for_slot(
        folder,
        device="cpu",
        order=order,
        is_stopped=lambda: is_stop_requested(folder, 1),
        pause=pause,
    )


def slot(runs: Path) -> Path:
    return runs / worker.SLOTS / "cpu.lock"


def test_a_free_slot_is_taken_at_once(start: Start, runs: Path):
    lock = wait(start())
    assert is_held(slot(runs))
    lock.release()
    assert not is_held(slot(runs))


def test_a_taken_slot_is_waited_for(start: Start, runs: Path):
    folder = start()
    slot(runs).parent.mkdir()
    other = take(slot(runs), seconds=0)
    with pytest.raises(WaitedTooLongError):
        wait(folder, int, int)
    wait(folder, int, other.release).release()


def test_who_came_first_goes_first_even_if_its_worker_is_still_on_its_way(start: Start):
    first, second = start(), start()
    with pytest.raises(WaitedTooLongError):
        wait(second, int)
    wait(first).release()


def test_who_died_while_waiting_holds_up_nobody(start: Start, runs: Path, launcher: Any):
    launcher.patience = 0.0  # its worker never came
    start()
    launcher.patience = 30.0
    second, third = start(), start()
    with pytest.raises(WaitedTooLongError):
        wait(third, int)
    with held(second / LOCK, seconds=1):
        wait(second).release()


def test_who_is_asked_to_stop_while_waiting_is_passed_over_and_leaves(start: Start, runs: Path):
    first, second = start(), start()
    with held(first / LOCK, seconds=1):
        actions.stop(runs, first.name)
        assert read_job(first).state == "stopping"
        wait(second).release()
        assert wait(first) is None
    assert not is_held(slot(runs))


def test_a_stop_reaches_a_waiting_worker(start: Start, work: Callable[[Path], Any], runs: Path):
    folder = start()
    actions.stop(runs, folder.name)
    job = work(folder)
    assert (job.state, job.message) == ("stopped", "stopped as asked")
    assert not (folder / "run.json").exists()
