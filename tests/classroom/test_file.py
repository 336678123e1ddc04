"""The file in trouble: many writers at once, a full disk, a lock, damage."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.classroom import file
from core.classroom.codes import new_pupil
from core.classroom.counts import as_csv, standing
from core.classroom.file import FILE, trouble
from core.classroom.store import Opened, answer, open_session, session

ROOT = Path(__file__).resolve().parents[2]
prepare = file._prepare
PUPILS = """
import sys, threading
from pathlib import Path
from core.classroom.codes import new_pupil
from core.classroom.store import answer
root, code, n_pupils = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def pupil():
    token = new_pupil()
    for text in ("half", "all"):
        for step in (1, 2, 3):
            answer(root, code, token, step, text)

print("ready", flush=True)
sys.stdin.read()  # until all are there
pupils = [threading.Thread(target=pupil) for _ in range(n_pupils)]
for thread in pupils:
    thread.start()
for thread in pupils:
    thread.join()
"""
OPENER = """
import sys
from pathlib import Path
from core.classroom.store import open_session
print("ready", flush=True)
sys.stdin.read()
print(open_session(Path(sys.argv[1]), "peaked").code)
"""


def test_sixty_pupils_in_six_processes_lose_nothing_and_count_once(tmp_path: Path):
    opened = open_session(tmp_path, "peaked")
    at_once(PUPILS, [[str(tmp_path), opened.code, "10"]] * 6)
    found = standing(tmp_path, opened.teacher)
    assert [counts.before for counts in found.steps] == [{"all": 60}] * 3
    assert (found.n_pupils, found.n_answers) == (60, 180)
    lines = as_csv(tmp_path, opened.teacher).splitlines()[1:]
    assert sorted(int(line.split(",")[4]) for line in lines) == sorted([*range(1, 61)] * 3)


def test_teachers_who_open_the_first_class_at_once_share_one_file(tmp_path: Path):
    codes = at_once(OPENER, [[str(tmp_path / "new")]] * 4)
    assert len({*codes}) == 4
    assert {session(tmp_path / "new", code.strip()).lesson for code in codes} == {"peaked"}
    assert [path.name for path in (tmp_path / "new").iterdir()] == [FILE]


def test_a_file_that_others_write_for_long_is_said(
    tmp_path: Path, opened: Opened, pupil: str, now, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file, "BUSY_SECONDS", 0.0)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ValueError, match="being written by others for long; try again"):
            answer(tmp_path, opened.code, pupil, 1, "yes", now=now)
        assert session(tmp_path, opened.code, now=now).code == opened.code  # readers go on
    answer(tmp_path, opened.code, pupil, 1, "yes", now=now)


def test_a_full_disk_keeps_nothing_and_is_said(
    tmp_path: Path, opened: Opened, now, monkeypatch: pytest.MonkeyPatch
):
    answer(tmp_path, opened.code, new_pupil(), 1, "yes", now=now)
    monkeypatch.setattr(file, "_prepare", without_room)
    with pytest.raises(ValueError, match="the disk of the server is full, so nothing was kept"):
        fill(tmp_path, opened.code, now)
    monkeypatch.undo()
    kept = standing(tmp_path, opened.teacher, now=now)
    assert kept.n_answers == kept.n_pupils >= 1
    assert answer(tmp_path, opened.code, new_pupil(), 1, "yes", now=now) == "before"


@pytest.mark.parametrize("damage", ["no file of SQLite", "the middle is gone", "empty"])
def test_a_damaged_file_is_said(tmp_path: Path, opened: Opened, pupil: str, now, damage: str):
    path = tmp_path / FILE
    whole = path.read_bytes()
    path.write_bytes(
        {
            "no file of SQLite": b"not a database at all" * 1000,
            "the middle is gone": whole[:4096] + b"\xff" * (len(whole) - 4096),
            "empty": b"",
        }[damage]
    )
    why = "is of version 0" if damage == "empty" else "is damaged: whoever runs the server"
    with pytest.raises(ValueError, match=why):
        answer(tmp_path, opened.code, pupil, 1, "yes", now=now)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ValueError, match=r"the server cannot write classroom\.sqlite"):
        open_session(tmp_path / "taken", "peaked")


def test_an_error_of_the_module_itself_is_said_as_it_is():
    assert trouble(sqlite3.ProgrammingError("odd")) == "classroom.sqlite cannot be used (odd)"


def without_room(connection: sqlite3.Connection) -> None:
    """The file cannot grow."""
    prepare(connection)
    connection.execute("PRAGMA max_page_count = 1")  # no fewer than there are


def fill(folder: Path, code: str, now: float) -> None:
    for _ in range(100):
        answer(folder, code, new_pupil(), 1, "x" * 500, now=now)


def at_once(script: str, arguments: list[list[str]]) -> list[str]:
    """Run a script in several processes that begin together; what each of them prints."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, *given],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for given in arguments
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    done = [process.communicate(timeout=120) for process in processes]
    assert [said for _, said in done] == [""] * len(processes)
    assert [process.returncode for process in processes] == [0] * len(processes)
    return [printed for printed, _ in done]
