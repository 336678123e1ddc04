"""A stop insists by signals, and only ever towards the process that is the worker beyond doubt."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.files import read_json, write_json
from core.jobs import actions, launcher
from core.jobs.folder import LOCK, STATUS, StopRequest, read_stop, write_stop
from core.jobs.locks import held
from core.jobs.status import Reporter

Start = Callable[..., Path]
SLEEPER = "import signal, sys; print(flush=True); signal.pause()"


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    """A process that leads its own group, and does nothing."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait(timeout=30)
    process.stdout.close()


@pytest.fixture
def worked_by(start: Start, process: subprocess.Popen[str]) -> Iterator[Path]:
    """The folder of a job whose lock is held, and whose status names the process."""
    folder = start()
    with held(folder / LOCK, seconds=1):
        Reporter(folder, 1).write(state="running")
        told = {"pid": process.pid, "created_at": psutil.Process(process.pid).create_time()}
        write_json(folder / STATUS, {**read_json(folder / STATUS), **told})
        yield folder


def request_stop_ago(folder: Path, seconds: float) -> None:
    write_stop(folder, StopRequest(attempt=1, requested_at=time.time() - seconds))


def test_a_young_request_sends_no_signal(runs: Path, worked_by: Path, process: Any):
    request_stop_ago(worked_by, 10)
    assert actions.stop(runs, worked_by.name) == "stopping"
    assert process.poll() is None
    request = read_stop(worked_by)
    assert request is not None
    assert request.terminated_at is None


def test_after_15_seconds_the_worker_is_terminated_once(
    runs: Path, worked_by: Path, process: Any, monkeypatch: pytest.MonkeyPatch
):
    sent: list[int] = []
    request_stop_ago(worked_by, 16)
    with monkeypatch.context() as recorded:
        recorded.setattr(launcher.os, "killpg", lambda _, number: sent.append(number))
        actions.stop(runs, worked_by.name)
        actions.stop(runs, worked_by.name)  # a second SIGTERM would interrupt the save
    assert sent == [signal.SIGTERM]


@pytest.mark.parametrize(("age", "number"), [(16, signal.SIGTERM), (46, signal.SIGKILL)])
def test_the_signal_reaches_the_process(
    runs: Path, worked_by: Path, process: Any, age: float, number: signal.Signals
):
    request_stop_ago(worked_by, age)
    actions.stop(runs, worked_by.name)
    assert process.wait(timeout=30) == -number


@pytest.mark.parametrize(
    "told", [{"created_at": 1.0}, {"host": "another"}, {"attempt": 7}, {"pid": 2**22 + 1}]
)
def test_a_process_that_may_be_another_gets_no_signal(
    runs: Path, worked_by: Path, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    sent: list[int] = []
    write_json(worked_by / STATUS, {**read_json(worked_by / STATUS), **told})
    request_stop_ago(worked_by, 100)
    with monkeypatch.context() as recorded:
        for send in ("kill", "killpg"):
            recorded.setattr(launcher.os, send, lambda _, number: sent.append(number))
        assert actions.stop(runs, worked_by.name) == "stopping"
    assert sent == []
