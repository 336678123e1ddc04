"""A worker whose folder is removed, renamed or replaced ends, and never brings that name back."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.jobs import worker
from core.jobs.folder import JOB, LOCK, STATUS
from core.jobs.locks import HeldError, held, take
from core.jobs.state import Job, list_all, read_job
from core.runs import kinds
from core.runs.folder import STATE
from core.training import loop

Work = Callable[[Path], Job]
Start = Callable[..., Path]
AtStep = Callable[[int, Callable[[], Any]], None]


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def remove_all(folder: Path) -> None:
    shutil.rmtree(folder.parent)


def rename(folder: Path) -> None:
    folder.rename(folder.with_name("20200101-000000-0a1b2c"))


def replace(folder: Path) -> None:
    """By a copy of itself, which is another folder under the same name."""
    shutil.copytree(folder, folder.with_name("copy"))
    shutil.rmtree(folder)
    folder.with_name("copy").rename(folder)


def begin_to_remove(folder: Path) -> None:
    (folder / JOB).unlink()


WAYS = [remove, remove_all, rename, replace, begin_to_remove]


def content(folder: Path) -> dict[str, bytes] | None:
    """All files that stand under a name; None if there is no such folder."""
    if not folder.exists():
        return None
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps that were taken, each once."""
    real, taken = loop.Trainer._step, list[int]()

    def step(trainer: Any) -> Any:
        ordered = real(trainer)
        taken.append(ordered.record.step)
        return ordered

    monkeypatch.setattr(loop.Trainer, "_step", step)
    return taken


@pytest.mark.parametrize("way", WAYS)
def test_a_training_ends_after_its_step_and_leaves_the_name_alone(
    start: Start,
    work: Work,
    at_step: AtStep,
    save_always: None,
    steps: list[int],
    way: Callable[[Path], None],
    capfd: pytest.CaptureFixture[str],
):
    folder, after = start(), list[Any]()
    at_step(5, lambda: (way(folder), after.append(content(folder))))
    work(folder)
    assert steps[-1] == 5
    assert [content(folder)] == after
    assert "is gone (removed, renamed or replaced" in capfd.readouterr().err


def test_a_training_in_its_place_takes_every_step(start: Start, work: Work, steps: list[int]):
    assert work(start()).state == "finished"
    assert steps[-1] == 20


def test_what_was_renamed_can_go_on_under_its_new_name(
    start: Start, work: Work, at_step: AtStep, save_always: None
):
    folder = start()
    at_step(5, lambda: rename(folder))
    work(folder)
    (job,) = list_all(folder.parent)
    assert (job.id, job.state, job.lost) == ("20200101-000000-0a1b2c", "lost", None)
    assert job.status is not None
    assert (job.can_resume, job.status.saved_step) == (True, 4)


@pytest.mark.parametrize("way", WAYS)
def test_a_worker_that_waits_for_its_turn_ends_and_is_waited_for_by_nobody(
    start: Start, way: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
):
    folder, after = start(), list[Any]()
    slot = folder.parent / worker.SLOTS / "cpu.lock"
    slot.parent.mkdir()
    looks: list[Callable[[], Any]] = [
        int,
        lambda: (way(folder), after.append(content(folder))),
    ]

    real = worker.wait_for_slot

    def wait(*given: Any, **named: Any) -> Any:
        def pause(_: float) -> None:
            looks.pop(0)()

        return real(*given, **named, pause=pause)

    monkeypatch.setattr(worker, "wait_for_slot", wait)
    with held(slot, seconds=0):
        assert worker.main([str(folder)]) == 1
    assert looks == []
    assert [content(folder)] == after


@pytest.mark.parametrize("way", [remove, replace])
def test_a_folder_that_goes_while_the_result_is_measured_gets_no_card(
    start: Start, work: Work, way: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
):
    folder, after, real = start(), list[Any](), kinds.evaluate

    def evaluate(*given: Any) -> Any:
        result = real(*given)
        if not after:
            way(folder)
            after.append(content(folder))
        return result

    monkeypatch.setattr(kinds, "evaluate", evaluate)
    work(folder)
    assert [content(folder)] == after


def test_a_folder_that_goes_before_the_run_has_begun_stays_away(
    start: Start, work: Work, monkeypatch: pytest.MonkeyPatch
):
    folder, real = start(minutes=1), kinds.make_vocabulary

    def make(*given: Any, **named: Any) -> Any:
        remove(folder)
        return real(*given, **named)

    monkeypatch.setattr(kinds, "make_vocabulary", make)
    work(folder)
    assert not folder.exists()


def test_a_worker_that_comes_too_late_makes_no_folder(start: Start):
    folder = start()
    remove(folder)
    assert worker.main([str(folder)]) == 2
    assert not folder.exists()


def test_a_lock_is_taken_in_a_folder_that_is_there_only(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        take(tmp_path / "nowhere" / LOCK, seconds=0)
    assert not (tmp_path / "nowhere").exists()
    with held(tmp_path / LOCK, seconds=0), pytest.raises(HeldError):
        take(tmp_path / LOCK, seconds=0)


def test_a_worker_whose_lock_alone_was_removed_ends_before_a_second_one_could_come(
    start: Start, work: Work, at_step: AtStep, save_always: None, steps: list[int]
):
    folder = start()
    at_step(5, (folder / LOCK).unlink)
    work(folder)
    assert steps[-1] == 5
    assert (folder / STATE).exists()
    assert read_job(folder).state == "lost"
    assert '"running"' in (folder / STATUS).read_text()  # no last words of who had lost its place
