"""What belongs to no job is told, and removed without touching a job or what was trained."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.files import read_json, write_json
from core.jobs import actions, leftovers, worker
from core.jobs.folder import JOB, LOCK, STATUS
from core.jobs.launcher import WORKER, is_process, worker_command
from core.jobs.leftovers import Leftover
from core.jobs.locks import held, is_held, queue_lock
from core.jobs.state import list_all
from core.jobs.status import Reporter
from core.runs.folder import STATE
from core.runs.journal import METRICS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="jobs need Linux or macOS")

Start = Callable[..., Path]
Process = subprocess.Popen[str]
GONE = "20260131-235959-0a1b2c"
# A worker that hangs, with the lock of its slot.
STUCK = """
import fcntl, os, signal, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)
print(flush=True)
signal.pause()
"""


@pytest.fixture
def hang(runs: Path) -> Iterator[Callable[..., Process]]:
    """Start a process that looks like the worker of a folder, holds the slot and does nothing."""
    started = list[Process]()

    def start(folder: Path, slot: Path = runs / worker.SLOTS / "cpu.lock") -> Process:
        slot.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-c", STUCK, str(slot), *worker_command(folder)[1:]]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    yield start
    for process in started:
        process.kill()
        process.wait(timeout=300)
        assert process.stdout is not None
        process.stdout.close()


def told(found: list[Leftover]) -> dict[str, str]:
    return {left.path.name: left.why for left in found}


def test_jobs_their_locks_and_the_runs_of_train_are_no_leftovers(start: Start, runs: Path):
    assert leftovers.leftovers(runs) == []
    folder = start()
    with held(folder / LOCK, seconds=1):
        Reporter(folder, 1).open()
        (folder / f".{STATUS}.abc").touch()  # its worker is writing it
        (runs / "mine").mkdir()
        (runs / "mine" / STATE).touch()
        (runs / worker.SLOTS).mkdir()
        (runs / worker.SLOTS / "cpu.lock").touch()
        assert leftovers.leftovers(runs) == []
        assert actions.clean(runs) == []
    assert (folder / f".{STATUS}.abc").exists()


def test_what_the_killed_have_left_is_told_and_removed(start: Start, runs: Path):
    folder = start()
    for name in (f".new-{GONE}", f".removed-{GONE}", ".keep-x", GONE):
        (runs / name / "snapshots").mkdir(parents=True)
        (runs / name / "snapshots" / "file").write_bytes(b"12345")
    (folder / f".{STATE}.abc").write_bytes(b"123")
    found = leftovers.leftovers(runs)
    half = "half made or half removed"
    assert told(found) == {
        ".keep-x": half,
        f".new-{GONE}": half,
        f".removed-{GONE}": half,
        f".{STATE}.abc": "a file half written",
        GONE: "has no job.json",
    }
    assert f"runs/{GONE}, 0.0 MB: has no job.json" in [left.text for left in found]
    assert min(left.n_bytes for left in found if left.path.suffix != ".abc") >= 5
    assert actions.clean(runs) == found
    assert leftovers.leftovers(runs) == []
    assert sorted(path.name for path in runs.iterdir()) == [".queue.lock", folder.name]
    assert [job.id for job in list_all(runs)] == [folder.name]
    assert actions.clean(runs) == []


def test_what_may_be_in_use_just_now_is_passed_over(start: Start, runs: Path):
    start()
    (runs / f".new-{GONE}").mkdir()
    with queue_lock(runs):
        assert leftovers.leftovers(runs) == []
    assert told(leftovers.leftovers(runs)) == {f".new-{GONE}": "half made or half removed"}


def test_what_was_trained_stays_until_it_is_named(start: Start, runs: Path):
    folder = start()
    (folder / JOB).unlink()
    (folder / STATE).touch()
    (left,) = leftovers.leftovers(runs)
    why = f"has no job.json, but state.safetensors: put it back, or jobs remove {folder.name}"
    assert (left.why, left.is_kept) == (why, True)
    assert actions.clean(runs) == []
    assert (folder / STATE).exists()
    actions.remove(runs, folder.name)
    assert not folder.exists()
    with pytest.raises(ValueError, match=f"there is no job {folder.name}"):
        actions.remove(runs, folder.name)


def test_a_half_removed_folder_whose_worker_still_ends_is_left_to_it(
    start: Start, runs: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(actions, "ENDING_SECONDS", 0.05)
    folder = start()
    (folder / JOB).unlink()
    with held(folder / LOCK, seconds=1):
        assert told(leftovers.leftovers(runs)) == {
            folder.name: "has no job.json; its worker is about to end"
        }
        assert actions.clean(runs) == []
        with pytest.raises(ValueError, match="is still ending; try again"):
            actions.remove(runs, folder.name)
    assert told(actions.clean(runs)) == {folder.name: "has no job.json"}


def test_a_job_under_another_name_is_told_and_stays(start: Start, runs: Path):
    folder = start()
    folder.rename(runs / "my best")
    (left,) = leftovers.leftovers(runs)
    assert left.why.startswith("a job under another name: call it 20260131-235959-0a1b2c")
    assert actions.clean(runs) == []
    (runs / "my best").rename(folder)
    assert leftovers.leftovers(runs) == []


def test_a_worker_whose_folder_is_gone_is_told_and_ended(runs: Path, start: Start, hang: Any):
    folder, other = start(), start()
    process = hang(folder)
    assert leftovers.leftovers(runs) == []
    shutil.rmtree(folder)
    (left,) = leftovers.leftovers(runs)
    assert left.row() == {
        "path": str(folder),
        "why": f"process {process.pid} works for this folder, which is not its own any more",
        "bytes": 0,
        "pid": process.pid,
    }
    assert left.text == f"runs/{folder.name}: {left.why}"
    assert actions.clean(runs) == [left]
    assert process.wait(timeout=300) == -9
    assert not is_held(runs / worker.SLOTS / "cpu.lock")
    assert [job.id for job in list_all(runs)] == [other.name]


def test_workers_are_found_when_all_jobs_are_removed_at_once(runs: Path, start: Start, hang: Any):
    process = hang(start())
    shutil.rmtree(runs)
    (left,) = actions.clean(runs)
    assert left.worker is not None
    assert left.worker[0] == process.pid
    assert process.wait(timeout=300) == -9
    assert not runs.exists()


@pytest.mark.parametrize(
    ("said", "is_stray"),
    [
        ({}, False),
        ({"created_at": 1.0}, True),
        ({"created_at": 1.0, "attempt": 7}, False),  # its own attempt has said nothing yet
        ({"created_at": 1.0, "host": "another"}, False),
    ],
)
def test_a_worker_is_a_stray_if_its_folder_is_beyond_doubt_anothers(
    runs: Path, start: Start, hang: Any, said: dict[str, Any], is_stray: bool
):
    folder = start()
    process = hang(folder)
    Reporter(folder, 1).write()
    own = {"pid": process.pid, "created_at": psutil.Process(process.pid).create_time()}
    write_json(folder / STATUS, {**read_json(folder / STATUS), **own, **said})
    assert bool(leftovers.leftovers(runs)) is is_stray


def test_workers_of_other_folders_and_other_processes_are_nobodys_business(
    runs: Path, start: Start, hang: Any, tmp_path: Path
):
    start()
    elsewhere = hang(tmp_path / "elsewhere" / GONE)
    no_job = hang(runs / "mine", slot=runs / "free.lock")
    assert WORKER in psutil.Process(elsewhere.pid).cmdline()
    assert leftovers.leftovers(runs) == []
    assert actions.clean(runs) == []
    assert (elsewhere.poll(), no_job.poll()) == (None, None)


def test_a_process_is_the_one_that_was_created_then():
    created_at = psutil.Process().create_time()
    assert is_process(os.getpid(), created_at)
    assert not is_process(os.getpid(), created_at - 10)
    assert not is_process(2**22 + 1, created_at)


def test_a_measurement_is_never_taken_for_something_trained(start: Start, runs: Path):
    folder = start()
    (folder / JOB).unlink()
    (folder / METRICS).write_text("{}\n")
    assert told(actions.clean(runs)) == {folder.name: "has no job.json"}


def test_who_waits_ends_a_stuck_worker_that_nobody_sees_and_no_other(
    runs: Path, start: Start, hang: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(worker, "STRAYS_EVERY_LOOKS", 1)
    folder, second = start(), start()
    process = hang(folder)
    acts: list[Callable[[], Any]] = [
        int,
        int,
        lambda: (process.poll() is None, shutil.rmtree(folder)),  # until now it is to be seen
        lambda: process.poll() is None,  # it may be about to end by itself
        lambda: process.wait(timeout=300),
    ]
    results = list[Any]()
    lock = worker.wait_for_slot(
        second,
        device="cpu",
        order=2,
        is_stopped=lambda: False,
        pause=lambda _: results.append(acts.pop(0)()),
    )
    assert lock is not None
    lock.release()
    assert (results[2:], acts) == ([(True, None), True, -9], [])
