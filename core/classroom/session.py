"""A class as everybody in it may know it, and the teacher who has its key; read inside an act."""

import sqlite3
from dataclasses import dataclass, field

from core.classroom.codes import fits
from core.classroom.file import NO_CLASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Teacher:
    """Who gave the right teacher's code of a class; `key` is kept in a session's memory alone."""

    code: str
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What everybody in a class may know of it; times in seconds since 1970."""

    code: str
    lesson: str
    opened: float
    expires: float
    is_closed: bool
    revealed: frozenset[int]


def allowed(connection: sqlite3.Connection, teacher: Teacher) -> Session:
    """The class of a teacher. Raises ValueError if it is gone or the key is not its."""
    known = found_session(connection, teacher.code)
    row = connection.execute("SELECT kept FROM sessions WHERE code = ?", (known.code,)).fetchone()
    if not fits(teacher.key, row[0]):
        raise ValueError(f"this is not the teacher's code of class {known.code}")
    return known


def found_session(connection: sqlite3.Connection, code: str) -> Session:
    """A class by its tidy code, inside an act. Raises ValueError if there is none."""
    row = connection.execute(
        "SELECT lesson, opened, expires, closed FROM sessions WHERE code = ?", (code,)
    ).fetchone()
    if row is None:
        raise ValueError(NO_CLASS.format(code=code))
    steps = connection.execute("SELECT step FROM revealed WHERE code = ?", (code,)).fetchall()
    lesson, opened, expires, closed = row
    return Session(
        code=code,
        lesson=lesson,
        opened=opened,
        expires=expires,
        is_closed=closed is not None,
        revealed=frozenset(step for (step,) in steps),
    )


def refuse_closed(known: Session) -> None:
    """Raise ValueError where nothing more is taken."""
    if known.is_closed:
        raise ValueError(f"class {known.code} is closed: nothing more is taken")
