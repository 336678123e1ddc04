"""Several processes: what they say, how they are told to stop, and why they ended."""

import os
import signal
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from core.jobs.ranks import STOP, is_stopped_by, why_failed
from core.jobs.torchrun import run_ranks
from core.runs import stopping
from core.runs.folder import GoneError

BEGINNING = """
import os, signal, sys, time
from pathlib import Path
from core.jobs.ranks import is_stopped_by, speaking
folder, rank = Path(sys.argv[1]), int(os.environ["RANK"])
"""


def running(code: str) -> Callable[[Path], list[str]]:
    """The arguments of python that run some lines with `folder` and `rank`."""
    whole = BEGINNING + textwrap.dedent(code)
    return lambda folder: ["-c", whole, str(folder)]


def test_what_the_first_of_them_says_is_heard():
    code = """
    with speaking(folder) as said:
        said |= {"rank": rank, "of": int(os.environ["WORLD_SIZE"])}
    """
    before = [signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGINT)]
    assert run_ranks(running(code), 2) == {"rank": 0, "of": 2}
    assert [signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGINT)] == before


def test_a_request_to_stop_reaches_all_of_them_by_a_file():
    code = """
    with speaking(folder) as said:
        ask = is_stopped_by(folder)
        if rank == 1:
            os.kill(os.getppid(), signal.SIGTERM)
        while not ask():
            time.sleep(0.05)
        said["stopped"] = True
    """
    assert run_ranks(running(code), 2) == {"stopped": True}


def test_a_second_request_ends_them_at_once():
    code = """
    for _ in range(2 * (rank == 0)):
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(0.5)  # of two that come together the system tells one
    time.sleep(600)
    """
    with pytest.raises(KeyboardInterrupt):
        run_ranks(running(code), 2)


def test_one_that_fails_says_why_and_ends_the_others():
    code = """
    with speaking(folder):
        if rank == 1:
            raise ValueError("the disk is full")
        while not (folder / "1.json").exists():
            time.sleep(0.05)
        raise RuntimeError("Connection closed by peer")
    """
    with pytest.raises(ValueError, match="^the disk is full$"):
        run_ranks(running(code), 2)


def test_one_that_is_killed_is_named():
    code = """
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(600)
    """
    why = r"^process 2 of 2 was killed \(SIGKILL\), and the others ended: go on from the last"
    with pytest.raises(ValueError, match=why):
        run_ranks(running(code), 2)


def test_one_that_fails_without_a_word_is_not_passed_over(tmp_path: Path):
    assert why_failed(tmp_path, 2) == "it failed without a word"
    with pytest.raises(ValueError, match="it failed without a word"):
        run_ranks(running("sys.exit(4)"), 1)


def test_who_started_them_may_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stopping, "LOOK_EVERY_SECONDS", -1.0)
    ask = is_stopped_by(tmp_path)
    assert not ask()
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(GoneError, match="who started this process is gone: it ends, and writes"):
        ask()


def test_the_file_of_a_request_is_looked_for(tmp_path: Path):
    (tmp_path / STOP).touch()
    assert is_stopped_by(tmp_path)()
    with pytest.raises(GoneError, match="who started this process is gone"):
        is_stopped_by(tmp_path / "removed")()
