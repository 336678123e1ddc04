"""Real workers: they outlive who started them, wait for each other, and can be killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from core.jobs import actions
from core.jobs.folder import LOG, log_tail
from core.jobs.launcher import LocalLauncher, quiet_threads
from core.jobs.spec import TrainSpec
from core.jobs.state import Job, list_jobs, show
from core.paths import ROOT
from core.runs.journal import read_metrics

pytestmark = pytest.mark.skipif(os.name != "posix", reason="jobs need Linux or macOS")

# A server that starts a job and is killed in the same moment.
SERVER = """
import json, os, signal, sys
from pathlib import Path
from core.jobs import actions
from core.jobs.launcher import LocalLauncher
from core.jobs.spec import spec_from_dict
spec = spec_from_dict(json.loads(sys.argv[2]))
actions.start(Path(sys.argv[1]), spec, LocalLauncher())
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def no_worker_is_left(runs: Path) -> Iterator[None]:
    yield
    for job in list_jobs(runs):
        if job.alive and job.status is not None:
            os.killpg(job.status.pid, signal.SIGKILL)


def wait_for(runs: Path, job_id: str, condition: Callable[[Job], bool]) -> Job:
    deadline = time.monotonic() + 300
    while not condition(job := show(runs, job_id)):
        told = (job.state, job.message, log_tail(runs / job_id))
        assert time.monotonic() < deadline, told
        assert job.state not in ("failed", "finished"), told
        time.sleep(0.05)
    return job


def is_training(job: Job) -> bool:
    return job.state == "running" and job.status is not None and job.status.step > 0


def test_workers_outlive_a_killed_server_wait_their_turn_and_are_stopped_killed_and_resumed(
    runs: Path, make_spec: Callable[..., TrainSpec]
):
    spec = make_spec(steps=20_000)
    command = [sys.executable, "-c", SERVER, str(runs), json.dumps(spec.to_dict())]
    server = subprocess.run(command, cwd=ROOT, check=False)
    assert server.returncode == -signal.SIGKILL
    (first,) = (job.id for job in list_jobs(runs))
    job = wait_for(runs, first, is_training)
    assert job.status is not None
    worker = psutil.Process(job.status.pid)
    assert os.getsid(worker.pid) == worker.pid != os.getsid(0)
    assert worker.environ() | quiet_threads(1) == worker.environ()

    second = actions.start(runs, spec, LocalLauncher())
    waiting = wait_for(runs, second, lambda job: job.alive and job.status is not None)
    assert (waiting.state, waiting.place) == ("queued", 1)
    assert waiting.status is not None
    assert psutil.Process(waiting.status.pid).memory_info().rss < 60e6  # no torch while it waits
    with pytest.raises(ValueError, match="is running: stop it first"):
        actions.remove(runs, first)

    os.killpg(worker.pid, signal.SIGKILL)
    assert wait_for(runs, first, lambda job: not job.alive).state == "lost"
    wait_for(runs, second, is_training)  # the slot was free the moment its holder died
    wait_for(runs, second, lambda job: bool(read_metrics(runs / job.id)))
    actions.resume(runs, first, LocalLauncher())
    assert wait_for(runs, first, lambda job: job.alive).state == "queued"

    assert actions.stop(runs, second) == "stopping"
    job = wait_for(runs, second, lambda job: job.state == "stopped")
    assert job.message == "stopped as asked"
    assert job.status is not None
    told = read_metrics(runs / second)[-1]["step"]
    assert job.status.saved_step is not None
    assert told <= job.status.saved_step < told + 50  # a line every 50 steps
    wait_for(runs, first, is_training)
    actions.stop(runs, first)
    wait_for(runs, first, lambda job: job.state == "stopped" and not job.alive)
    assert "Traceback" not in (runs / first / LOG).read_text()
    for job_id in (first, second):
        wait_for(runs, job_id, lambda job: not job.alive)
        actions.remove(runs, job_id)
    assert list_jobs(runs) == []
