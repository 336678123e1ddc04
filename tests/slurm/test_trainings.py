"""Trainings on a real SLURM: nothing is lost but the steps since the last checkpoint, and what is
shown is what is so.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from core.jobs import actions
from core.jobs.cluster import Cluster as Settings
from core.jobs.folder import LOG, read_ticket
from core.jobs.on_node import SAVED, TIME_LIMIT
from core.jobs.slurm import SlurmLauncher
from core.jobs.standing import BESIDE, WITHDRAWN
from core.jobs.state import Job, list_all, show
from core.jobs.submission import SCRIPT, read_submission
from core.paths import ROOT
from tests.jobs.test_kills import assert_same_result, without_clocks
from tests.slurm.cluster_here import CLOSED, Cluster, wait_until
from tests.slurm.conftest import (
    ENDLESS,
    Hold,
    Send,
    saved,
    wait_for,
    wait_for_step,
    wait_until_held,
)

# One SLURM for all of them; the time's end has come before the scheduler restarts.
HOSTILE = '\'; "$(touch {0})" `touch {0}` & > {0} #\\'


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder of jobs on a disk of three megabytes."""
    folder = tmp_path / "full" / "runs"
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def go_on(folder: Path, settings: Settings) -> None:
    actions.resume(folder.parent, folder.name, SlurmLauncher(settings))


def number(job: Job) -> str:
    assert job.there is not None
    return job.there.number


def test_a_training_is_watched_stopped_and_goes_on_bit_for_bit_whatever_its_name(
    send: Send, hold: Hold, settings: Settings, early: dict[str, Path], near_its_end: Path
):
    marker = ROOT / "touched"
    hold(100)
    folder = send(name=HOSTILE.format("touched"))
    assert "touched" not in (folder / SCRIPT).read_text()
    sent = show(folder.parent, folder.name)
    assert (sent.on, sent.state in ("queued", "running")) == ("slurm", True)
    job = wait_until_held(folder, 100)
    assert (job.host, job.row()["on"], job.row()["reason"]) == ("one", "slurm", None)
    assert actions.stop(folder.parent, folder.name) == "stopping"
    hold(None)
    job = wait_for(folder, "stopped")
    assert (job.message, job.can_resume) == ("stopped as asked", True)
    assert job.status is not None
    assert job.status.step == saved(job) > 100
    hold(300)
    go_on(folder, settings)
    assert show(folder.parent, folder.name).state in ("queued", "running")
    hold(None)
    wait_for(folder, "finished")
    wait_for(early["whole"], "finished")
    assert_same_result(folder, early["whole"])
    assert not marker.exists()
    actions.remove(folder.parent, folder.name)
    assert list_all(folder.parent) == []


def test_four_jobs_of_one_array_share_two_slots_and_are_cancelled_stopped_and_killed(
    send: Send, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    held_back: list[Path] = []
    monkeypatch.setattr(
        SlurmLauncher, "launch_all", lambda self, folders, *, threads: held_back.extend(folders)
    )
    folders = [send(steps=ENDLESS) for _ in range(4)]
    monkeypatch.undo()
    assert held_back == folders
    SlurmLauncher(settings).launch_all(folders, threads=1)
    first, second, third, fourth = folders
    runs = first.parent
    assert [number(show(runs, one.name)).split("_")[1] for one in folders] == list("0123")
    before = wait_for_step(first, 1)
    wait_for_step(second, 1)
    waiting = wait_for(third, "queued", until=lambda job: bool(job.there and job.there.reason))
    assert waiting.there is not None
    assert (waiting.there.waits, waiting.place, waiting.host) == (True, None, None)

    actions.stop(runs, fourth.name)
    job = wait_for(fourth, "stopped")
    assert (job.message, job.status) == (WITHDRAWN, None)
    subprocess.run(["scancel", number(before)], check=True)  # by hand
    job = wait_for(first, "stopped", until=lambda job: job.message == BESIDE["CANCELLED"])
    assert job.can_resume
    assert saved(job) >= saved(before)

    wait_for_step(third, 1)
    actions.stop(runs, third.name)
    wait_for(third, "stopped")
    with pytest.raises(ValueError, match="is running: stop it first"):
        actions.remove(runs, second.name)


def test_three_kills_lose_nothing_but_the_steps_since_the_last_save(
    send: Send, hold: Hold, settings: Settings, early: dict[str, Path]
):
    steps = (100, 250, 400)
    hold(steps[0])
    folder = send()
    whole = early["whole"]
    wait_for(whole, "finished")
    for step, later in zip(steps, (*steps[1:], 550), strict=True):
        job = wait_until_held(folder, step)
        assert job.status is not None
        os.kill(job.status.pid, signal.SIGKILL)
        job = wait_for(folder, "lost")
        assert (job.can_resume, job.row()["reason"]) == (True, "failed")
        assert "ended on the cluster without a word" in job.message
        rows = without_clocks(folder)
        assert rows == without_clocks(whole)[: len(rows)]
        assert rows[-1]["step"] > saved(job) >= step
        hold(later)
        go_on(folder, settings)
        assert show(folder.parent, folder.name).state in ("queued", "running")
    hold(None)
    wait_for(folder, "finished")
    assert_same_result(folder, whole)
    assert (folder / LOG).read_text().count("behind it are measured again") == len(steps)


def test_what_the_scheduler_puts_into_line_again_goes_on_by_itself(
    send: Send, hold: Hold, early: dict[str, Path], cluster: Cluster
):
    hold(100)
    folder = send()
    job = wait_until_held(folder, 100)
    assert job.status is not None
    worker = psutil.Process(job.status.pid)
    subprocess.run(["scontrol", "requeue", number(job)], check=True)
    again = wait_for(folder, "queued")
    assert again.there is not None
    wait_for(folder, "queued", until=lambda job: job.row()["reason"] == "it waits for its time")
    wait_until(lambda: not worker.is_running(), "the first attempt does not end")
    hold(None)
    now = ["scontrol", "update", f"jobid={number(job)}", "StartTime=now"]
    subprocess.run(now, check=True)
    wait_for(folder, "finished")
    wait_for(early["whole"], "finished")
    assert_same_result(folder, early["whole"])


def test_the_end_of_its_time_leaves_a_state_that_goes_on(near_its_end: Path):
    job = wait_for(near_its_end, "stopped")
    assert (job.message, job.can_resume) == (f"{TIME_LIMIT}: {SAVED}", True)
    assert job.status is not None
    assert job.status.step == saved(job) > 0
    assert "Traceback" not in (near_its_end / LOG).read_text()


def test_a_scheduler_that_is_silent_or_restarts_changes_no_state(
    send: Send, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = send(steps=ENDLESS)
    job = wait_for_step(folder, 50)
    silent = tmp_path / "bin" / "squeue"
    silent.parent.mkdir()
    silent.write_text("#!/bin/sh\necho 'squeue: error: out of order' >&2\nexit 1\n")
    silent.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{silent.parent}{os.pathsep}{os.environ['PATH']}")
        job = wait_for(folder, "running", until=lambda job: bool(job.row()["reason"]))
        assert job.row()["reason"] == (
            "the scheduler does not answer (out of order); this is what was known last"
        )
    cluster.end("slurmctld")
    cluster.start_controller()
    job = wait_for(folder, "running", until=lambda job: not job.row()["reason"])
    wait_for_step(folder, saved(job) + 1)


def test_an_account_that_is_refused_is_told_and_leaves_nothing(
    send: Send, settings: Settings, runs: Path
):
    closed = replace(settings, partition=CLOSED, account="nobodys")
    with pytest.raises(ValueError, match="does not take the job: .*Invalid account"):
        send(closed)
    assert list_all(runs) == []
    folder = send(steps=ENDLESS)
    actions.stop(runs, folder.name)
    before = wait_for(folder, "stopped")
    sent, ticket = read_submission(folder), read_ticket(folder)
    with pytest.raises(ValueError, match="does not take the job: .*Invalid account"):
        go_on(folder, closed)
    assert (read_submission(folder), read_ticket(folder)) == (sent, ticket)
    assert show(runs, folder.name).message == before.message


def test_a_full_folder_of_jobs_fails_in_words_and_goes_on_once_there_is_room(
    send_to: Send,
    settings: Settings,
    full: Path,
    monkeypatch: pytest.MonkeyPatch,
    course_files: Path,
    early: dict[str, Path],
):
    monkeypatch.setenv("A5_DATA", str(course_files))
    with pytest.raises(ValueError, match="a job needs 200 MB"):
        send_to(full, settings)
    monkeypatch.setattr(actions, "LEAST_FREE_BYTES", 0)
    filler = full / "filler"
    filler.write_bytes(b"x" * 2_800_000)
    folder = send_to(full, settings)
    job = wait_for_failure(folder)
    assert "the disk is" in job.message
    filler.unlink()
    go_on(folder, settings)
    wait_for(folder, "finished")
    wait_for(early["whole"], "finished")
    assert without_clocks(folder) == without_clocks(early["whole"])


def wait_for_failure(folder: Path) -> Job:
    return wait_for(folder, "failed")
