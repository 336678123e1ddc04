"""A worker on a node: it beats, takes no slot, ends for another submission, says why it ended."""

import os
import signal
from collections.abc import Callable, Sized
from pathlib import Path
from typing import Any

import pytest

from core.jobs import on_node, squeue, training, worker
from core.jobs.folder import LOCK, LOG, StopRequest, write_stop
from core.jobs.leftovers import leftovers
from core.jobs.locks import take
from core.jobs.on_node import BY_CLUSTER, SAVED, TIME_LIMIT, UNSAVED
from core.jobs.squeue import SilentError
from core.jobs.state import Job
from core.jobs.submission import (
    TOKEN_VARIABLE,
    Submission,
    read_heartbeat,
    write_submission,
)
from core.jobs.worker import SLOTS

AtStep = Callable[[int, Callable[[], Any]], None]


class Clock:
    """Stands for `time`: a second passes with each thing that was done, none in sleep."""

    def __init__(self, done: Sized) -> None:
        self._done = done

    def monotonic(self) -> float:
        return float(len(self._done))

    def time(self) -> float:
        return 1_800_000_000.0

    def sleep(self, seconds: float) -> None:
        pass


@pytest.fixture
def sent(start: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job whose worker this process is; the scheduler knows nothing and is not there."""
    folder = start()
    write_submission(folder, Submission(attempt=1, token="t", name="explorer-x", job="17"))
    monkeypatch.setenv(TOKEN_VARIABLE, "t")
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "2")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(on_node, "BEAT_SECONDS", 0.001)
    return folder


def test_a_worker_on_a_node_beats_and_takes_no_slot(sent: Path, work: Callable[[Path], Job]):
    slots = sent.parent / SLOTS
    slots.mkdir()
    slot = take(slots / "cpu.lock", seconds=1)
    assert work(sent).state == "finished"
    slot.release()
    beat = read_heartbeat(sent)
    assert beat is not None
    assert (beat.token, beat.job, beat.restarts) == ("t", "17", 2)
    assert beat.beat > 1


def test_a_task_of_an_array_beats_under_its_own_number(
    sent: Path, work: Callable[[Path], Job], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "17")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "3")
    work(sent)
    beat = read_heartbeat(sent)
    assert beat is not None
    assert beat.job == "17_3"


def test_a_worker_of_another_submission_ends_before_it_writes(
    sent: Path, work: Callable[[Path], Job], capsys: pytest.CaptureFixture[str]
):
    write_submission(sent, Submission(attempt=1, token="other", name="explorer-x"))
    assert work(sent).status is None
    assert read_heartbeat(sent) is None
    assert "another submission of" in capsys.readouterr().err


def test_a_worker_ends_when_another_submission_is_wanted(
    sent: Path, work: Callable[[Path], Job], at_step: AtStep, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("core.runs.stopping.LOOK_EVERY_SECONDS", -1.0)
    other = Submission(attempt=1, token="other", name="explorer-x")
    at_step(5, lambda: write_submission(sent, other))
    job = work(sent)
    assert job.status is not None
    assert (job.status.state, job.status.step < 8) == ("running", True)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("RUNNING|{soon}|", TIME_LIMIT),
        ("RUNNING|{late}|", BY_CLUSTER),
        ("CANCELLED|{soon}|", BY_CLUSTER),
        ("RUNNING|N/A|", BY_CLUSTER),
        ("", BY_CLUSTER),
    ],
)
def test_who_is_told_to_end_by_a_signal_asks_why(
    sent: Path,
    work: Callable[[Path], Job],
    at_step: AtStep,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    message: str,
):
    now = 1_800_000_000
    monkeypatch.setattr(on_node.time, "time", lambda: float(now))
    out = said.format(soon=now + 100, late=now + 300)
    monkeypatch.setattr(squeue, "run", lambda *_, **__: (0, f"{out}\n", ""))
    at_step(5, lambda: os.kill(os.getpid(), 15))
    job = work(sent)
    assert (job.state, job.message) == ("stopped", f"{message}: {SAVED}")
    assert job.status is not None
    assert job.status.saved_step == job.status.step == 5


def test_a_scheduler_that_restarts_is_asked_again(
    sent: Path, work: Callable[[Path], Job], at_step: AtStep, monkeypatch: pytest.MonkeyPatch
):
    now = 1_800_000_000
    monkeypatch.setattr(on_node.time, "time", lambda: float(now))
    monkeypatch.setattr(on_node, "PATIENCE_SECONDS", 1e9)
    monkeypatch.setattr(on_node, "PAUSE_SECONDS", 0.0)
    answers = iter(
        [SilentError("no answer"), SilentError("refused"), [["RUNNING", f"{now + 100}"]]]
    )

    def listed(*_: object) -> list[list[str]]:
        if isinstance(answer := next(answers), SilentError):
            raise answer
        return answer

    monkeypatch.setattr(on_node, "listed", listed)
    at_step(5, lambda: os.kill(os.getpid(), 15))
    assert work(sent).message == f"{TIME_LIMIT}: {SAVED}"
    assert not list(answers)


@pytest.mark.parametrize(("is_silent", "n_asked"), [(True, 3), (False, 1)])
def test_of_a_scheduler_that_stays_silent_or_knows_no_such_job_the_cluster_did_it(
    sent: Path,
    work: Callable[[Path], Job],
    at_step: AtStep,
    monkeypatch: pytest.MonkeyPatch,
    is_silent: bool,
    n_asked: int,
):
    asked: list[object] = []

    def listed(*given: object) -> list[list[str]]:
        asked.append(given)
        if is_silent:
            raise SilentError("refused")
        return []

    monkeypatch.setattr(on_node, "time", Clock(asked))
    monkeypatch.setattr(on_node, "PATIENCE_SECONDS", 2.5)
    monkeypatch.setattr(on_node, "listed", listed)
    at_step(5, lambda: os.kill(os.getpid(), 15))
    assert work(sent).message == f"{BY_CLUSTER}: {SAVED}"
    assert len(asked) == n_asked


def test_who_was_asked_to_stop_says_so(sent: Path, work: Callable[[Path], Job], at_step: AtStep):
    at_step(5, lambda: write_stop(sent, StopRequest(attempt=1, requested_at=0.0)))
    assert work(sent).message == "stopped as asked"


def test_without_squeue_on_the_node_the_cluster_did_it(
    sent: Path, work: Callable[[Path], Job], at_step: AtStep
):
    at_step(5, lambda: os.kill(os.getpid(), 15))
    assert work(sent).message == f"{BY_CLUSTER}: {SAVED}"


def test_who_is_told_to_end_outside_of_a_step_says_that_nothing_new_is_saved(
    sent: Path, work: Callable[[Path], Job], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(training, "finish", lambda _: os.kill(os.getpid(), 15))
    before = signal.getsignal(signal.SIGTERM)
    job = work(sent)
    assert (job.state, job.message) == ("stopped", f"{BY_CLUSTER} {UNSAVED}")
    assert signal.getsignal(signal.SIGTERM) == before
    assert job.can_resume


def test_a_worker_elsewhere_is_half_way_through_a_file_though_its_lock_is_not_seen(sent: Path):
    unfinished = sent / ".status.json.0a1b2c3d"
    unfinished.write_text("{")
    (sent / LOCK).touch()
    assert leftovers(sent.parent) == []
    (sent / "slurm.json").unlink()
    assert [left.path for left in leftovers(sent.parent)] == [unfinished]


def test_on_this_machine_nothing_beats(start: Callable[..., Path], work: Callable[[Path], Job]):
    folder = start()
    assert work(folder).state == "finished"
    assert read_heartbeat(folder) is None
    assert not (folder / LOG).exists()
    assert worker.main([]) == 2
