"""One question for all jobs, its answer kept for all who look; signs of life by their change."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.files import read_json, write_json
from core.jobs import scheduler
from core.jobs.folder import read_ticket, write_ticket
from core.jobs.locks import held
from core.jobs.scheduler import LOCK, SEEN, Seen, expire, look
from core.jobs.squeue import GONE, Row, SilentError, clean_environment, run, squeue
from core.jobs.state import list_all, read_job
from core.jobs.submission import (
    Heartbeat,
    Submission,
    is_sent,
    read_heartbeat,
    read_submission,
    write_heartbeat,
    write_submission,
)


class Scheduler:
    """Answers what it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.rows, self.asked, self.why = dict[str, Row](), list[list[str]](), ""

    def __call__(self, jobs: list[str]) -> dict[str, Row]:
        self.asked.append(jobs)
        if self.why:
            raise SilentError(self.why)
        return {job: self.rows[job] for job in jobs if job in self.rows}


@pytest.fixture
def squeued(monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    fake = Scheduler()
    monkeypatch.setattr(scheduler, "squeue", fake)
    return fake


@pytest.fixture
def sent(start: Callable[..., Path], squeued: Scheduler) -> Callable[..., Path]:
    """A job that the scheduler calls `number`, submitted some seconds ago."""

    def put(number: str | None = "17", ago: float = 1000.0) -> Path:
        folder = start()
        write_submission(folder, Submission(attempt=1, token="t", name="explorer-x", job=number))
        ticket = read_json(folder / "ticket.json")
        write_json(folder / "ticket.json", {**ticket, "written_at": time.time() - ago})
        (folder.parent / SEEN).unlink(missing_ok=True)  # what the next start has asked
        squeued.asked.clear()
        return folder

    return put


def beat(folder: Path, number: int, **changes: Any) -> None:
    given: dict[str, Any] = {"token": "t", "beat": number, "host": "far", **changes}
    write_heartbeat(folder, Heartbeat(**given))


def test_all_jobs_are_asked_for_at_once_and_seldom(sent: Callable[..., Path], squeued: Scheduler):
    folders = [sent("17"), sent("18_0"), sent("18_1")]
    squeued.rows = {"17": Row(state="PENDING", name="explorer-x")}
    root = folders[0].parent
    for _ in range(3):
        list_all(root)
    assert [sorted(jobs) for jobs in squeued.asked] == [["17", "18_0", "18_1"]]
    assert [read_job(folder).state for folder in folders] == ["queued", "lost", "lost"]
    expire(root)
    list_all(root)
    assert squeued.asked[1:] == [["17"]]  # what is over is not asked for again


def test_a_new_job_that_was_listed_and_is_listed_no_more_is_gone(
    sent: Callable[..., Path], squeued: Scheduler
):
    """As an array's waiting task that is withdrawn; one not listed yet is on its way."""
    listed, unlisted = sent("17_0", ago=1.0), sent("17_1", ago=1.0)
    squeued.rows = {"17_0": Row(state="PENDING", name="explorer-x")}
    root, now = listed.parent, time.time()
    assert look(root, now=now).rows["17_0"].state == "PENDING"
    squeued.rows = {}
    assert look(root, now=now + 10).rows == {"17_0": Row(state=GONE)}
    assert read_job(unlisted).state == "queued"


def test_jobs_of_this_machine_ask_nobody(start: Callable[..., Path], squeued: Scheduler):
    folder = start()
    assert not is_sent(folder)
    assert list_all(folder.parent)[0].on == "local"
    expire(folder.parent)
    assert (squeued.asked, (folder.parent / SEEN).exists()) == ([], False)


def test_an_answer_is_asked_for_again_when_it_is_old(sent: Callable[..., Path], squeued: Scheduler):
    root, now = sent().parent, time.time()
    for seconds, n_asked in ((0, 1), (2, 1), (4, 2), (5, 2)):
        squeued.rows = {"17": Row(state="RUNNING", name="explorer-x")}
        look(root, now=now + seconds, ask=squeued)
        assert len(squeued.asked) == n_asked


def test_a_silent_scheduler_is_asked_seldom_and_what_was_known_stays(
    sent: Callable[..., Path], squeued: Scheduler
):
    folder, now = sent(), time.time()
    squeued.rows = {"17": Row(state="RUNNING", host="node7", name="explorer-x")}
    look(folder.parent, now=now)
    squeued.why = "no route"
    seen = look(folder.parent, now=now + 10)
    assert (seen.silent_since, seen.why) == (now + 10, "no route")
    assert seen.rows["17"].host == "node7"
    assert look(folder.parent, now=now + 20).silent_since == now + 10
    assert len(squeued.asked) == 2
    assert look(folder.parent, now=now + 40).silent_since == now + 10
    squeued.why = ""
    assert look(folder.parent, now=now + 80).silent_since is None


def test_a_number_that_was_given_again_is_not_this_job(
    sent: Callable[..., Path], squeued: Scheduler
):
    squeued.rows = {"17": Row(state="RUNNING", name="somebody else's")}
    assert look(sent().parent).rows == {"17": Row(state=GONE)}


def test_what_was_submitted_just_now_may_not_be_listed_yet(
    sent: Callable[..., Path], squeued: Scheduler
):
    folder = sent(ago=1.0)
    assert look(folder.parent).rows == {}
    assert read_job(folder).state == "queued"


def test_while_another_asks_the_old_answer_counts(sent: Callable[..., Path], squeued: Scheduler):
    root, now = sent().parent, time.time()
    squeued.rows = {"17": Row(state="PENDING", name="explorer-x")}
    before = look(root, now=now)
    with held(root / LOCK, seconds=1):
        assert look(root, now=now + 60) == before
    assert len(squeued.asked) == 1


def test_a_heart_beats_as_long_as_its_number_changes_whatever_the_clocks_say(
    sent: Callable[..., Path], squeued: Scheduler
):
    folder, now = sent(), time.time()
    root = folder.parent
    squeued.why = "no route"
    beat(folder, 1)
    os.utime(folder / "heartbeat.json", (now - 3600, now - 3600))  # a host whose clock is late
    assert not read_job(folder, now=now).alive
    beat(folder, 2)
    os.utime(folder / "heartbeat.json", (now - 3590, now - 3590))
    assert read_job(folder, now=now + 20).alive
    assert read_job(folder, now=now + 36).alive
    assert not read_job(folder, now=now + 60).alive
    assert look(root, now=now + 60).beats[folder.name].changed_at == now + 20


def test_at_the_first_look_a_beat_is_as_old_as_its_file(
    sent: Callable[..., Path], squeued: Scheduler
):
    young, old = sent("17"), sent("18")
    for folder in (young, old):
        beat(folder, 1)
    os.utime(old / "heartbeat.json", (time.time() - 100, time.time() - 100))
    assert [read_job(folder).alive for folder in (young, old)] == [True, False]


def test_what_cannot_be_read_is_told(sent: Callable[..., Path], squeued: Scheduler):
    folder = sent()
    (folder / "slurm.json").write_text("{", encoding="utf-8")
    assert "slurm.json: " in read_job(folder).message
    assert not is_sent(folder)
    (folder / "slurm.json").unlink()
    assert read_submission(folder) is None
    (folder / "heartbeat.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match=r"heartbeat\.json: "):
        read_heartbeat(folder)


def test_a_damaged_memory_is_as_none(sent: Callable[..., Path], squeued: Scheduler):
    root = sent().parent
    (root / SEEN).write_text("{", encoding="utf-8")
    assert look(root).rows == {"17": Row(state=GONE)}
    write_json(root / SEEN, {"asked_at": "today"})
    assert look(root).rows == {"17": Row(state=GONE)}
    assert Seen().rows == {}


def test_an_attempt_of_this_machine_follows_one_on_a_cluster(
    sent: Callable[..., Path], squeued: Scheduler
):
    folder = sent()
    assert (read_job(folder).on, is_sent(folder)) == ("slurm", True)
    ticket = read_ticket(folder)
    write_ticket(folder, type(ticket)(attempt=2, order=1, written_at=time.time()))
    assert (read_job(folder).on, is_sent(folder)) == ("local", False)


def test_squeue_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch):
    out = (
        "17|PENDING|Resources|1796002032||0|explorer-a|\n18_2|RUNNING|None|N/A|node[1-2]|2|b|\nx\n"
    )
    commands: list[list[str]] = []

    def done(command: list[str], **_: Any) -> Any:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, out, "")

    monkeypatch.setattr(subprocess, "run", done)
    assert squeue(["17", "18_2"]) == {
        "17": Row(state="PENDING", reason="Resources", starts_at=1796002032.0, name="explorer-a"),
        "18_2": Row(state="RUNNING", host="node[1-2]", restarts=2, name="b"),
    }
    assert "--jobs=17,18_2" in commands[0]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("slurm_load_jobs error: Unable to contact slurm controller\n", "Unable to contact slurm"),
        ("", "squeue ended with status 1"),
    ],
)
def test_a_squeue_that_fails_is_silent(monkeypatch: pytest.MonkeyPatch, error: str, said: str):
    done = subprocess.CompletedProcess([], 1, "", error)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(SilentError, match=said):
        squeue(["17"])


def test_a_squeue_that_knows_no_job_has_answered(monkeypatch: pytest.MonkeyPatch):
    error = "slurm_load_jobs error: Invalid job id specified\n"
    done = subprocess.CompletedProcess([], 1, "", error)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    assert squeue(["17"]) == {}


def test_a_command_that_is_not_there_or_hangs_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SilentError, match="squeue is not found on this machine"):
        run(["squeue"], seconds=5)
    (tmp_path / "squeue").write_text("#!/bin/bash\nwhile :; do :; done\n")
    (tmp_path / "squeue").chmod(0o755)
    with pytest.raises(SilentError, match="squeue gave no answer within 0.1 s"):
        run(["squeue"], seconds=0.1)


def test_what_a_surrounding_job_tells_sbatch_is_left_out():
    environment = {
        "PATH": "/bin",
        "SLURM_CONF": "/etc/slurm.conf",
        "SLURM_JOB_ID": "7",
        "SLURM_RESTART_COUNT": "3",
        "SBATCH_PARTITION": "theirs",
        "SQUEUE_FORMAT": "%i",
    }
    assert clean_environment(environment) == {
        "PATH": "/bin",
        "SLURM_CONF": "/etc/slurm.conf",
        "SLURM_TIME_FORMAT": "%s",
    }
