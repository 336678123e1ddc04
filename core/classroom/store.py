"""Classes and their answers: opened by a teacher, answered by pupils without a name.

Every function takes the folder of the file and the time. What is refused is a ValueError of one
sentence. A prediction is kept for a step (from 1), an explanation for step 0, the whole lesson;
each once a pupil and phase, a new one in place of the old.
"""

import re
import secrets
import sqlite3
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from core.classroom.codes import (
    check_code,
    fits,
    hashed_pupil,
    kept_of,
    key_of,
    new_code,
    new_teacher_code,
)
from core.classroom.file import act, forget, make_file
from core.classroom.session import Session, Teacher, allowed, found_session, refuse_closed

Phase = Literal["before", "after"]
DAYS, MOST_DAYS, DAY_SECONDS = 7, 60, 86_400.0
MOST_SESSIONS, MOST_PUPILS, MOST_ANSWERS, MOST_STEPS = 200, 200, 5000, 100
MOST_A_MINUTE = 30  # answers of one pupil
MOST_WRONG, MINUTE = 5, 60.0
MOST_CHARACTERS = 500
EXPLANATION = 0
_LESSON = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A new class; its `teacher_code` is told this once."""

    code: str
    teacher_code: str = field(repr=False)
    teacher: Teacher


def open_session(
    root: Path, lesson: str, *, keep_days: int = DAYS, now: float | None = None
) -> Opened:
    """A class for a lesson; its answers are deleted after `keep_days`."""
    now = _time(now)
    if _LESSON.fullmatch(lesson) is None:
        raise ValueError(f"{lesson[:80]!r} is no name of a lesson")
    if not 1 <= keep_days <= MOST_DAYS:
        raise ValueError(f"{keep_days} days: answers are kept for 1 to {MOST_DAYS}")
    teacher_code, salt = new_teacher_code(), secrets.token_bytes(16)
    key = key_of(teacher_code, salt)
    make_file(root)
    with act(root, "", now) as connection:
        (n,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
        if n >= MOST_SESSIONS:
            raise ValueError(f"{MOST_SESSIONS} classes are kept here already; delete one of them")
        code = _free_code(connection)
        connection.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, NULL)",
            (code, lesson, salt, kept_of(key), now, now + keep_days * DAY_SECONDS),
        )
    return Opened(code=code, teacher_code=teacher_code, teacher=Teacher(code=code, key=key))


def session(root: Path, code: str, *, now: float | None = None) -> Session:
    """A class by its code. Raises ValueError if there is none."""
    code = check_code(code)
    with act(root, code, _time(now), writes=False) as connection:
        return found_session(connection, code)


def enter(root: Path, code: str, teacher_code: str, *, now: float | None = None) -> Teacher:
    """Who knows the teacher's code. Five wrong ones a minute are enough for a class.

    After them the right one is refused, too, or guessing would go on.
    """
    now, code = _time(now), check_code(code)
    with act(root, code, now) as connection:
        found_session(connection, code)
        connection.execute("DELETE FROM wrong WHERE at <= ?", (now - MINUTE,))
        (n,) = connection.execute("SELECT count(*) FROM wrong WHERE code = ?", (code,)).fetchone()
        row = connection.execute("SELECT salt, kept FROM sessions WHERE code = ?", (code,))
        salt, kept = row.fetchone()
        key = key_of(teacher_code, salt)
        is_right = n < MOST_WRONG and fits(key, kept)
        if not is_right and n < MOST_WRONG:
            connection.execute("INSERT INTO wrong VALUES (?, ?)", (code, now))
    if n >= MOST_WRONG:
        raise ValueError(f"{MOST_WRONG} wrong codes within a minute: wait a minute, then try again")
    if not is_right:
        raise ValueError(f"this is not the teacher's code of class {code}")
    return Teacher(code=code, key=key)


def answer(
    root: Path, code: str, pupil: str, step: int, text: str, *, now: float | None = None
) -> Phase:
    """Keep a prediction; returns whether it came before or after the step was revealed."""
    now, code, text = _time(now), check_code(code), _checked(text)
    if not 1 <= step <= MOST_STEPS:
        raise ValueError(f"step {step}: 1 to {MOST_STEPS} are answered")
    with act(root, code, now) as connection:
        known = found_session(connection, code)
        phase: Phase = "after" if step in known.revealed else "before"
        _keep(connection, known, hashed_pupil(pupil), step, phase, text, now)
    return phase


def explain(
    root: Path, code: str, pupil: str, phase: Phase, text: str, *, now: float | None = None
) -> None:
    """Keep what somebody says about the whole lesson in free words."""
    now, code, text = _time(now), check_code(code), _checked(text)
    if phase not in ("before", "after"):
        raise ValueError(f"phase {phase!r}: before or after is needed")
    with act(root, code, now) as connection:
        known = found_session(connection, code)
        if phase == "before" and known.revealed:
            raise ValueError("a step is revealed already: what is written now counts as after it")
        _keep(connection, known, hashed_pupil(pupil), EXPLANATION, phase, text, now)


def own_answers(
    root: Path, code: str, pupil: str, *, now: float | None = None
) -> dict[tuple[int, Phase], str]:
    """What one pupil has answered, by step and phase."""
    code, hashed = check_code(code), hashed_pupil(pupil)
    with act(root, code, _time(now), writes=False) as connection:
        rows = connection.execute(
            "SELECT step, phase, text FROM answers WHERE code = ? AND pupil = ?", (code, hashed)
        ).fetchall()
    return {(step, phase): text for step, phase, text in rows}


def reveal(root: Path, teacher: Teacher, step: int, *, now: float | None = None) -> None:
    """What pupils answer to a step from now on counts as after."""
    with act(root, teacher.code, _time(now)) as connection:
        refuse_closed(allowed(connection, teacher))
        connection.execute("INSERT OR IGNORE INTO revealed VALUES (?, ?)", (teacher.code, step))


def close(root: Path, teacher: Teacher, *, now: float | None = None) -> None:
    """Take no more answers; those that are there stay until the class expires."""
    now = _time(now)
    with act(root, teacher.code, now) as connection:
        allowed(connection, teacher)
        connection.execute(
            "UPDATE sessions SET closed = ? WHERE code = ? AND closed IS NULL", (now, teacher.code)
        )


def delete(root: Path, teacher: Teacher, *, now: float | None = None) -> None:
    """Delete a class with all its answers, at once."""
    now = _time(now)
    with act(root, teacher.code, now) as connection:
        allowed(connection, teacher)
        connection.execute("DELETE FROM sessions WHERE code = ?", (teacher.code,))
        connection.execute("COMMIT")
        forget(connection)
        connection.execute("BEGIN")


def _keep(
    connection: sqlite3.Connection,
    known: Session,
    pupil: str,
    step: int,
    phase: Phase,
    text: str,
    now: float,
) -> None:
    refuse_closed(known)
    _count_in(connection, known.code, pupil, int(now // MINUTE))
    key = (known.code, pupil, step, phase)
    replaced = connection.execute(
        "SELECT 1 FROM answers WHERE code = ? AND pupil = ? AND step = ? AND phase = ?", key
    ).fetchone()
    (n,) = connection.execute(
        "SELECT count(*) FROM answers WHERE code = ?", (known.code,)
    ).fetchone()
    if n >= MOST_ANSWERS and not replaced:
        raise ValueError(f"class {known.code} has its {MOST_ANSWERS:,} answers; no more are kept")
    connection.execute(
        "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*key, text, now)
    )


def _count_in(connection: sqlite3.Connection, code: str, pupil: str, minute: int) -> None:
    """A pupil's answers of this minute; the first one gives it a number."""
    row = connection.execute(
        "SELECT minute, n FROM pupils WHERE code = ? AND pupil = ?", (code, pupil)
    ).fetchone()
    if row is None:
        (n_pupils,) = connection.execute(
            "SELECT count(*) FROM pupils WHERE code = ?", (code,)
        ).fetchone()
        if n_pupils >= MOST_PUPILS:
            raise ValueError(f"class {code} has its {MOST_PUPILS} pupils; no more can answer")
        new = (code, pupil, n_pupils + 1, minute)
        connection.execute("INSERT INTO pupils VALUES (?, ?, ?, ?, 1)", new)
        return
    n = row[1] + 1 if row[0] == minute else 1
    if n > MOST_A_MINUTE:
        raise ValueError(f"{MOST_A_MINUTE} answers within a minute: wait a little, then go on")
    connection.execute(
        "UPDATE pupils SET minute = ?, n = ? WHERE code = ? AND pupil = ?", (minute, n, code, pupil)
    )


def _free_code(connection: sqlite3.Connection) -> str:
    while True:
        code = new_code()
        if not connection.execute("SELECT 1 FROM sessions WHERE code = ?", (code,)).fetchone():
            return code


def _checked(text: str) -> str:
    """One line without control characters, as long as is allowed."""
    line = tidy_text(text)
    if not line:
        raise ValueError("there is nothing to keep: write an answer first")
    if len(line) > MOST_CHARACTERS:
        raise ValueError(f"{len(line)} characters: at most {MOST_CHARACTERS} are kept")
    return line


def tidy_text(text: str) -> str:
    """White space and line breaks become single spaces, control characters nothing."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def _time(now: float | None) -> float:
    return time.time() if now is None else now
