"""The one file with the answers of all classes: made whole, opened for one act, and its troubles.

It is made under another name and then linked to its own, so that nobody meets a file without its
tables. Whoever opens it deletes what has expired; what is deleted is overwritten.
"""

import secrets
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

FILE = "classroom.sqlite"
VERSION = 1
BUSY_SECONDS = 10.0  # that an act waits for the acts of others
NO_CLASS = "there is no class {code} here: it has ended, or its code is another"
SCHEMA = f"""
PRAGMA journal_mode = WAL;
CREATE TABLE sessions (
    code TEXT PRIMARY KEY, lesson TEXT NOT NULL, salt BLOB NOT NULL, kept BLOB NOT NULL,
    opened REAL NOT NULL, expires REAL NOT NULL, closed REAL
);
CREATE TABLE revealed (
    code TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, step INTEGER NOT NULL,
    PRIMARY KEY (code, step)
);
CREATE TABLE pupils (
    code TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, pupil TEXT NOT NULL,
    number INTEGER NOT NULL, minute INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (code, pupil)
);
CREATE TABLE answers (
    code TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, pupil TEXT NOT NULL,
    step INTEGER NOT NULL, phase TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (code, pupil, step, phase)
);
CREATE TABLE wrong (
    code TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, at REAL NOT NULL
);
PRAGMA user_version = {VERSION};
"""
# By the primary code of SQLite: an extended one has it in its lowest byte.
TROUBLES = {
    sqlite3.SQLITE_BUSY: "the answers of the class are being written by others for long; try again",
    sqlite3.SQLITE_LOCKED: "the answers of the class are being written by others; try again",
    sqlite3.SQLITE_FULL: "the disk of the server is full, so nothing was kept",
    sqlite3.SQLITE_READONLY: f"the server may not write {FILE}, so nothing was kept",
    sqlite3.SQLITE_CANTOPEN: f"the server cannot open {FILE}",
    sqlite3.SQLITE_PERM: f"the server may not open {FILE}",
    sqlite3.SQLITE_IOERR: f"the disk of the server refuses {FILE}, so nothing was kept",
    sqlite3.SQLITE_CORRUPT: f"{FILE} is damaged: whoever runs the server moves it away",
    sqlite3.SQLITE_NOTADB: f"{FILE} is damaged: whoever runs the server moves it away",
}


def make_file(root: Path) -> None:
    """The folder and the file with its tables, unless they are there. Raises ValueError."""
    path = root / FILE
    part = root / f".{FILE}.{secrets.token_hex(4)}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        if path.exists():
            return
        with closing(sqlite3.connect(part)) as connection:
            connection.executescript(SCHEMA)
        with suppress(FileExistsError):  # somebody else made it just now
            path.hardlink_to(part)
    except OSError as error:
        raise ValueError(f"the server cannot write {FILE} ({error.strerror})") from None
    except sqlite3.Error as error:
        raise ValueError(trouble(error)) from None
    finally:
        with suppress(OSError):  # what cannot be removed was never written
            part.unlink(missing_ok=True)


@contextmanager
def act(
    root: Path, code: str, now: float, *, writes: bool = True
) -> Generator[sqlite3.Connection, None, None]:
    """One act on the file, done whole or not at all; who writes waits for others.

    Raises ValueError in one sentence: nothing is there, or whatever SQLite has to say.
    """
    path = root / FILE
    if not path.is_file():
        raise ValueError(NO_CLASS.format(code=code))
    try:
        with closing(_connected(path)) as connection:  # closing takes back what is not committed
            _prepare(connection)
            _forget_expired(connection, now)
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            yield connection
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise ValueError(trouble(error)) from None


def forget(connection: sqlite3.Connection) -> None:
    """After a deletion was committed: empty the journal, too, where nobody reads it just now."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def trouble(error: sqlite3.Error) -> str:
    """What went wrong, in one sentence for whoever sees the page."""
    number = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the module's own errors have none
    return TROUBLES.get(number, f"{FILE} cannot be used ({error})")


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # transactions begin and end where `act` says
    )


def _prepare(connection: sqlite3.Connection) -> None:
    """Settings of a connection. Raises ValueError for the file of another version."""
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # with WAL: whole after a power cut
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        raise ValueError(f"{FILE} is of version {version}; this program knows {VERSION}")


def _forget_expired(connection: sqlite3.Connection, now: float) -> None:
    """A look, and a deletion only where something has expired."""
    if connection.execute("SELECT 1 FROM sessions WHERE expires <= ?", (now,)).fetchone():
        connection.execute("DELETE FROM sessions WHERE expires <= ?", (now,))
        forget(connection)
