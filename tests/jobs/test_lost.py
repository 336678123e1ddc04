"""A training that lost what it needs to go on says so, and writes over nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import SNAPSHOTS
from core.checkpoints.state import load_state
from core.jobs import actions
from core.jobs.state import Job, read_job
from core.runs.folder import RUN, STATE, lost_file
from core.runs.journal import read_metrics

Work = Callable[[Path], Job]
Start = Callable[..., Path]
AtStep = Callable[[int, Callable[[], Any]], None]


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", [STATE, RUN])
def test_a_job_that_lost_its_state_or_its_run_is_not_resumed_and_keeps_what_it_has(
    stopped_at_7: Path, runs: Path, launcher: Any, name: str
):
    (stopped_at_7 / name).rename(runs / name)
    before = content(stopped_at_7)
    job = read_job(stopped_at_7)
    assert (job.state, job.can_resume, job.lost) == ("stopped", False, name)
    why = f"it cannot go on: {name} is missing, and the training had begun: put the file back"
    assert job.message.startswith(why)
    assert job.message.endswith("; before that: stopped as asked")
    with pytest.raises(ValueError, match=f"is stopped, but {why}"):
        actions.resume(runs, stopped_at_7.name, launcher)
    assert content(stopped_at_7) == before
    (runs / name).rename(stopped_at_7 / name)
    actions.resume(runs, stopped_at_7.name, launcher)
    assert read_job(stopped_at_7).state == "queued"


@pytest.mark.parametrize("name", [STATE, RUN])
def test_a_worker_that_finds_the_state_or_the_run_lost_fails_and_takes_no_step(
    stopped_at_7: Path, work: Work, runs: Path, launcher: Any, name: str
):
    lines = read_metrics(stopped_at_7)
    actions.resume(runs, stopped_at_7.name, launcher)
    (stopped_at_7 / name).unlink()
    job = work(stopped_at_7)
    assert (job.state, job.lost) == ("failed", name)
    assert read_metrics(stopped_at_7) == lines
    assert not (stopped_at_7 / name).exists()


def test_a_job_that_died_before_its_first_save_begins_again_and_says_so(
    start: Start, work: Work, at_step: AtStep, runs: Path, launcher: Any, capfd: Any
):
    folder = start()

    def die() -> None:
        raise MemoryError

    at_step(7, die)
    assert work(folder).state == "failed"
    assert load_state(folder / STATE)[1]["cursor"]["step"] == 0
    assert [row["step"] for row in read_metrics(folder)] == [2, 4, 6]
    capfd.readouterr()
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
    told = "goes on behind step 0, the last one saved; 3 lines of metrics behind it are measured"
    assert told in capfd.readouterr().err


def test_a_job_that_goes_on_from_its_last_step_measures_nothing_again(
    stopped_at_7: Path, work: Work, runs: Path, launcher: Any, capfd: Any
):
    actions.resume(runs, stopped_at_7.name, launcher)
    assert work(stopped_at_7).state == "finished"
    assert "measured again" not in capfd.readouterr().err


def test_a_job_that_has_not_begun_or_has_finished_has_lost_nothing(start: Start, work: Work):
    folder = start()
    assert lost_file(folder) is None
    assert work(folder).state == "finished"
    assert (read_job(folder).lost, (folder / SNAPSHOTS).exists()) == (None, True)


def test_a_run_that_died_as_it_began_can_begin_again(start: Start, work: Work, monkeypatch: Any):
    folder = start()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("core.runs.folder.write_json", fail_for(RUN, fail))
        assert work(folder).state == "failed"
    assert (folder / STATE).exists()
    assert not (folder / RUN).exists()
    assert lost_file(folder) is None


def fail_for(name: str, fail: Callable[..., None]) -> Callable[..., None]:
    from core.files import write_json

    def write(path: Path, *given: Any, **named: Any) -> None:
        (fail if path.name == name else write_json)(path, *given, **named)

    return write
