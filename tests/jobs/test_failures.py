"""However a job fails: one sentence, and the last good state is kept."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError

from core.checkpoints.state import load_state, save_state
from core.data.course import WIKI
from core.files import read_json, write_json
from core.jobs import actions, status, training, worker
from core.jobs.folder import JOB, LOCK, STATUS, TICKET
from core.jobs.locks import held
from core.jobs.state import Job, read_job
from core.jobs.status import RESERVE, sentence
from core.paths import COURSE_VARIABLE
from core.runs.folder import STATE
from core.runs.journal import METRICS

Work = Callable[[Path], Job]
Start = Callable[..., Path]
AtStep = Callable[[int, Callable[[], Any]], None]


def change(path: Path, **values: Any) -> None:
    write_json(path, {**read_json(path), **values})


def state_step(folder: Path) -> int:
    return load_state(folder / STATE)[1]["cursor"]["step"]


def test_a_loss_that_is_no_number_fails_and_keeps_the_last_good_state(
    start: Start, work: Work, at_step: AtStep, save_always: None, monkeypatch: pytest.MonkeyPatch
):
    folder = start()
    nan = torch.tensor(torch.nan)
    at_step(
        6, lambda: monkeypatch.setattr(torch.nn.functional, "cross_entropy", lambda *_, **__: nan)
    )
    job = work(folder)
    assert job.state == "failed"
    assert job.message == "the loss is nan at step 6; the last good state is kept"
    assert state_step(folder) == 5


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "the memory is not enough: take a smaller model"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9"), "the memory is not enough"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full: free some space"),
        (OSError(errno.EROFS, "Read-only file system"), "the job's folder cannot be written to"),
        (KeyError("width"), "unexpected KeyError: 'width'; the log says where"),
    ],
)
def test_whatever_goes_wrong_is_one_sentence_and_the_state_is_kept(
    start: Start,
    work: Work,
    at_step: AtStep,
    save_always: None,
    capfd: pytest.CaptureFixture[str],
    error: Exception,
    message: str,
):
    folder = start()

    def fail() -> None:
        raise error

    at_step(4, fail)
    job = work(folder)
    assert job.state == "failed"
    assert job.message.startswith(message)
    assert "Traceback" in capfd.readouterr().err
    assert state_step(folder) == 3
    assert job.can_resume


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_disk_that_is_really_full_is_told(start: Start, work: Work):
    folder = start()
    (folder / METRICS).symlink_to("/dev/full")
    job = work(folder)
    assert (job.state, job.message) == (
        "failed",
        "the disk is full: free some space, then resume",
    )


def test_last_words_on_a_full_disk_use_the_reserve(
    start: Start, work: Work, at_step: AtStep, save_always: None, monkeypatch: pytest.MonkeyPatch
):
    folder = start()
    real = status.write_json

    def write_if_there_is_room(path: Path, data: dict[str, Any]) -> None:
        if (folder / RESERVE).exists():
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        real(path, data)

    at_step(4, lambda: monkeypatch.setattr(status, "write_json", write_if_there_is_room))
    job = work(folder)
    assert (job.state, job.message) == (
        "failed",
        "the disk is full (status.json): free some space, then resume",
    )
    assert state_step(folder) == 4


def test_an_error_of_the_system_inside_safetensors_is_understood():
    full = SafetensorError("Error while serializing: I/O error: No space (os error 28)")
    assert sentence(full) == "the disk is full: free some space, then resume"
    large = SafetensorError("Error while serializing: I/O error: File too large (os error 27)")
    assert sentence(large).startswith("the system says: Error while serializing")


def test_a_sentence_has_one_line_and_an_end():
    told = sentence(ValueError("first\n\tsecond " + "x" * 400))
    assert told.startswith("first second x")
    assert (len(told), told[-1]) == (300, "…")


def test_a_state_of_the_wrong_shape_fails_and_is_left_alone(
    stopped_at_7: Path, work: Work, runs: Path, launcher: Any
):
    tensors, meta = load_state(stopped_at_7 / STATE)
    tensors["model.head.weight"] = tensors["model.head.weight"][:-1]
    save_state(stopped_at_7 / STATE, tensors, meta)
    before = (stopped_at_7 / STATE).read_bytes()
    actions.resume(runs, stopped_at_7.name, launcher)
    job = work(stopped_at_7)
    assert job.state == "failed"
    assert job.message.startswith("the saved state does not fit this model: Error(s) in loading")
    assert "size mismatch for head.weight" in job.message
    assert (stopped_at_7 / STATE).read_bytes() == before


def test_a_state_that_is_cut_off_fails_and_names_the_file(
    stopped_at_7: Path, work: Work, runs: Path, launcher: Any
):
    (stopped_at_7 / STATE).write_bytes((stopped_at_7 / STATE).read_bytes()[:-9])
    actions.resume(runs, stopped_at_7.name, launcher)
    job = work(stopped_at_7)
    assert job.state == "failed"
    assert "state.safetensors: not a whole safetensors file" in job.message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red", "age": 1}, "job.json: unknown keys: age, colour"),
        (
            {"verb": "sweep"},
            "job.json: unknown verb 'sweep'; this version knows train, bench, look",
        ),
        ({"seed": "0"}, "job.json: seed is '0', int is needed"),
        ({"steps": 10**9}, "1000000000 steps: 1 to 2000000"),
        ({"device": "gpu"}, "device 'gpu'; devices: cpu, cuda, cuda:N, mps"),
    ],
)
def test_a_spec_that_cannot_be_used_fails_in_one_sentence(
    start: Start, work: Work, changes: dict[str, Any], message: str
):
    folder = start()
    change(folder / JOB, **changes)
    job = work(folder)
    assert (job.state, job.message) == ("failed", message)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("n_layers", "n_layers is 1000000000000; it must be at least 1 and at most 512, a whole"),
        ("n_snapshots", "job.json: n_snapshots is 1000000000000; whole numbers from 0 to 64 are"),
    ],
)
def test_a_recipe_beyond_memory_fails_before_anything_is_made(
    start: Start, work: Work, monkeypatch: pytest.MonkeyPatch, name: str, said: str
):
    folder = start()
    recipe = read_json(folder / JOB)["recipe"]
    change(folder / JOB, recipe={**recipe, name: 10**12})
    monkeypatch.setattr(training, "start_run", None)
    job = work(folder)
    assert job.state == "failed"
    assert job.message.startswith(said)


def test_the_limit_of_minutes_counts_all_attempts_and_keeps_the_state(
    stopped_at_7: Path, work: Work, runs: Path, launcher: Any
):
    change(stopped_at_7 / JOB, limits={"minutes": 1e-9, "steps": 20, "disk_bytes": 10**9})
    actions.resume(runs, stopped_at_7.name, launcher)
    job = work(stopped_at_7)
    assert job.state == "failed"
    assert job.message == (
        "the limit of 1e-09 minutes was reached at step 8 of 20; the state of that step is kept"
    )
    assert state_step(stopped_at_7) == 8


def test_the_limit_of_disk_is_kept(start: Start, work: Work):
    folder = start()
    change(folder / JOB, limits={"minutes": 1, "steps": 20, "disk_bytes": 1000})
    job = work(folder)
    assert job.state == "failed"
    assert job.message.startswith("the job's files have 0.1 MB, more than its limit of 0.0 MB")


def test_a_disk_with_no_room_for_the_next_state_is_told_before_it_is_full(
    start: Start, work: Work, monkeypatch: pytest.MonkeyPatch
):
    folder = start()
    monkeypatch.setattr(training, "_free_bytes", lambda _: 1000)
    assert work(folder).message.startswith("the disk is nearly full: 0.0 MB are free")


def test_the_steps_of_minutes_are_at_most_the_limit(
    start: Start, work: Work, monkeypatch: pytest.MonkeyPatch
):
    folder = start(minutes=1)
    change(folder / JOB, limits={"minutes": 5, "steps": 6, "disk_bytes": 10**9})
    assert work(folder).state == "finished"
    assert read_json(folder / "card.json")["n_steps"] == 6


def test_a_corpus_that_has_changed_since_the_start_is_refused(
    stopped_at_7: Path,
    work: Work,
    runs: Path,
    launcher: Any,
    course_files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    other = tmp_path / "other"
    shutil.copytree(course_files, other)
    text = (other / WIKI).read_text().replace("painter", "sculptor")
    (other / WIKI).write_text(text)
    monkeypatch.setenv(COURSE_VARIABLE, str(other))
    actions.resume(runs, stopped_at_7.name, launcher)
    assert work(stopped_at_7).message.endswith("the corpus has changed since this run began")
    monkeypatch.delenv(COURSE_VARIABLE)
    actions.resume(runs, stopped_at_7.name, launcher)
    assert "set A5_DATA to their folder" in work(stopped_at_7).message


def test_a_second_worker_of_the_same_job_leaves_it_alone(
    start: Start, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    folder = start()
    monkeypatch.setattr(worker, "LOCK_SECONDS", 0.05)
    with held(folder / LOCK, seconds=1):
        assert worker.main([str(folder)]) == 2
    assert "is held by another process" in capsys.readouterr().err
    assert not (folder / STATUS).exists()


def test_a_worker_without_a_ticket_or_a_folder_makes_no_attempt(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = start()
    (folder / TICKET).unlink()
    assert worker.main([str(folder)]) == 2
    assert "ticket.json: cannot be read" in capsys.readouterr().err
    assert worker.main([str(tmp_path / "nothing")]) == 2
    assert worker.main([]) == 2
    assert "exactly one argument" in capsys.readouterr().err
    assert read_job(folder).state == "failed"
