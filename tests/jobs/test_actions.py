"""Start, stop, resume, remove: what they leave on the disk, and what they refuse."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.files import read_json
from core.jobs import actions
from core.jobs.folder import JOB, LOCK, read_stop, read_ticket
from core.jobs.locks import held
from core.jobs.spec import TrainSpec
from core.jobs.state import list_jobs, read_job, read_spec
from core.jobs.status import Reporter

Start = Callable[..., Path]
MakeSpec = Callable[..., TrainSpec]


def end(folder: Path, state: str) -> None:
    """As if its worker had said so."""
    Reporter(folder, read_ticket(folder).attempt).write(state=state)


def test_a_start_writes_a_whole_folder_and_launches_its_worker(
    runs: Path, make_spec: MakeSpec, launcher: Any
):
    spec = make_spec(name="Ada's first", seed=4)
    folder = runs / actions.start(runs, spec, launcher)
    assert launcher.launched == [folder]
    assert sorted(path.name for path in folder.iterdir()) == ["job.json", "ticket.json"]
    assert read_spec(folder) == spec
    assert (read_ticket(folder).attempt, read_ticket(folder).order) == (1, 1)
    arguments = "jobs start --preset tiny --steps 20 --seed 4 --threads 1".split()
    assert read_json(folder / JOB)["arguments"] == arguments


def test_ids_differ_and_orders_rise_when_many_start_at_once(
    runs: Path, make_spec: MakeSpec, launcher: Any
):
    spec = make_spec()
    threads = [
        threading.Thread(target=actions.start, args=(runs, spec, launcher)) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    jobs = list_jobs(runs)
    assert len({job.id for job in jobs}) == 6
    assert sorted(job.ticket.order for job in jobs if job.ticket) == [1, 2, 3, 4, 5, 6]
    assert sorted(job.place for job in jobs if job.place) == [1, 2, 3, 4, 5, 6]


def test_a_launch_that_fails_leaves_no_job(runs: Path, make_spec: MakeSpec):
    class Broken:
        patience = 30.0

        def obstacle(self) -> str | None:
            return None

        def launch(self, folder: Path, *, threads: int) -> None:
            raise OSError(11, "Resource temporarily unavailable")

        def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
            for folder in folders:
                self.launch(folder, threads=threads)

    with pytest.raises(OSError, match="temporarily unavailable"):
        actions.start(runs, make_spec(), Broken())
    assert list_jobs(runs) == []


def test_an_obstacle_refuses_start_and_resume(start: Start, runs: Path, make_spec: MakeSpec):
    class Elsewhere:
        patience = 30.0

        def obstacle(self) -> str | None:
            return "cannot start jobs here: Linux or macOS is needed"

        def launch(self, folder: Path, *, threads: int) -> None:
            raise AssertionError

        def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
            for folder in folders:
                self.launch(folder, threads=threads)

    folder = start()
    end(folder, "stopped")
    with pytest.raises(ValueError, match="cannot start jobs here"):
        actions.start(runs, make_spec(), Elsewhere())
    with pytest.raises(ValueError, match="cannot start jobs here"):
        actions.resume(runs, folder.name, Elsewhere())


def test_a_crowd_is_refused(start: Start, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(actions, "MOST_WAITING", 2)
    for _ in range(2):
        start()
    with pytest.raises(ValueError, match="2 jobs are waiting already"):
        start()


def test_a_disk_that_is_nearly_full_refuses_a_start(start: Start, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(actions, "LEAST_FREE_BYTES", 10**18)
    with pytest.raises(ValueError, match="MB left; a job needs"):
        start()


def test_a_resume_is_a_new_attempt_at_the_end_of_the_queue(start: Start, runs: Path, launcher: Any):
    first, second = start(), start()
    end(first, "stopped")
    actions.resume(runs, first.name, launcher)
    assert launcher.launched == [first, second, first]
    assert (read_ticket(first).attempt, read_ticket(first).order) == (2, 3)
    assert [read_job(folder).state for folder in (first, second)] == ["queued", "queued"]


@pytest.mark.parametrize("state", ["queued", "running", "finished"])
def test_only_what_ended_unfinished_can_be_resumed(
    start: Start, runs: Path, launcher: Any, state: str
):
    folder = start()
    with held(folder / LOCK, seconds=1):
        end(folder, state)
        with pytest.raises(ValueError, match=f"is {state}; only stopped, lost or failed ones can"):
            actions.resume(runs, folder.name, launcher)
    assert len(launcher.launched) == 1


def test_a_job_that_cannot_be_read_cannot_be_resumed(start: Start, runs: Path, launcher: Any):
    folder = start()
    end(folder, "failed")
    (folder / JOB).write_text("{}")
    with pytest.raises(ValueError, match="cannot go on: job.json: unknown verb None"):
        actions.resume(runs, folder.name, launcher)


def test_a_stop_is_a_request_for_this_attempt_alone(start: Start, runs: Path):
    folder = start()
    assert actions.stop(runs, folder.name) == "stopping"
    request = read_stop(folder)
    assert request is not None
    assert (request.attempt, request.terminated_at) == (1, None)
    assert actions.stop(runs, folder.name) == "stopping"
    assert read_stop(folder) == request


@pytest.mark.parametrize("state", ["stopped", "failed", "finished"])
def test_what_is_over_cannot_be_stopped(start: Start, runs: Path, state: str):
    folder = start()
    end(folder, state)
    with pytest.raises(ValueError, match=f"is {state}; only a queued or running one can stop"):
        actions.stop(runs, folder.name)


def test_remove_deletes_all_of_a_job_that_is_over(start: Start, runs: Path):
    folder, other = start(), start()
    end(folder, "failed")
    actions.remove(runs, folder.name)
    assert [path.name for path in runs.iterdir() if path.is_dir()] == [other.name]
    with pytest.raises(ValueError, match="there is no job"):
        actions.remove(runs, folder.name)


@pytest.mark.parametrize("state", ["queued", "running"])
def test_an_active_job_cannot_be_removed(start: Start, runs: Path, state: str):
    folder = start()
    with held(folder / LOCK, seconds=1):
        end(folder, state)
        with pytest.raises(ValueError, match=f"is {state}: stop it first"):
            actions.remove(runs, folder.name)
    assert folder.exists()


def test_a_worker_that_is_still_ending_is_waited_for(
    start: Start, runs: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(actions, "ENDING_SECONDS", 0.05)
    folder = start()
    with held(folder / LOCK, seconds=1):
        end(folder, "stopped")
        with pytest.raises(ValueError, match="is still ending; try again"):
            actions.remove(runs, folder.name)
        with pytest.raises(ValueError, match="is still ending; try again"):
            actions.resume(runs, folder.name, launcher)
    assert read_ticket(folder).attempt == 1
    actions.remove(runs, folder.name)


def test_what_a_killed_start_or_remove_left_is_swept(start: Start, runs: Path):
    start()
    for name in (".new-20261128-101112-0a1b2c", ".removed-x", ".keep-y"):
        (runs / name).mkdir()
        (runs / name / "file").touch()
    start()
    hidden = sorted(path.name for path in runs.glob(".*"))
    assert hidden == [".queue.lock"]
    assert len(list_jobs(runs)) == 2
