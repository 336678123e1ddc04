"""Files that are whole or absent: written under a temporary name, then moved into place.

Whoever owns a folder makes it; nothing here does.
"""

import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any, cast

from core.reading import MOST_JSON_BYTES, parse_json, read_bytes, refuse_large

MOST_WEIGHTS_BYTES = 2_000_000_000  # the state of the largest training, too
MOST_LINKS = 40  # as many as Linux follows
STDOUT = 1


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Call `write` with a temporary path, then put what it wrote where `path` leads.

    The folder must be there, or FileNotFoundError is raised: whoever works in a folder for long
    does not bring it back after somebody has removed it.

    A link is followed. A file is replaced in one move and keeps its mode and, where this process
    may give it away, its owner; its other hard links keep what was there. A new file has what the
    umask leaves of rw-rw-rw-. What is no regular file (device, FIFO, or a descriptor such as
    /dev/stdout) cannot be replaced: once all is there, it is written to.
    """
    found, number = _found(path), _descriptor(path)
    if number is None and (found is None or stat.S_ISREG(found.st_mode)):
        _replace(_led_to(path), found, write)
    else:
        _write_to(path, number, write)


def is_stored(path: Path) -> bool:
    """Whether a regular file lies there under a name of its own, so that it can be read again."""
    return path.is_file() and _descriptor(path) is None


def check_target(path: Path) -> None:
    """Raise ValueError if no file can be written there: its folder is missing, or it is one."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file in it")
    folder = _led_to(path).parent
    if folder.is_dir() or _descriptor(path) is not None:
        return
    if folder.exists():
        raise ValueError(f"{folder} is no folder, so nothing can lie in it: name another place")
    raise ValueError(f"there is no folder {folder}: make it first (mkdir -p {quote(str(folder))})")


def write_json(path: Path, data: dict[str, Any]) -> None:
    """A JSON object as a whole file. Raises ValueError for a number that is not finite."""
    write_text(path, json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """A text as a whole file in UTF-8."""

    def write(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    write_whole(path, write)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object. Raises ValueError naming the file and what is wrong with it."""
    data = parse_json(read_bytes(path, MOST_JSON_BYTES), str(path))
    if not isinstance(data, dict):
        raise ValueError(f"{path}: a JSON object is needed")
    return cast(dict[str, Any], data)


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes. Raises ValueError if it cannot be read or is too large."""
    try:
        refuse_large(path, MOST_WEIGHTS_BYTES)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None


def _found(path: Path) -> os.stat_result | None:
    """What the path leads to. Raises OSError for what is neither there nor missing."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _led_to(path: Path) -> Path:
    """Where a link leads; another path as it is."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _descriptor(path: Path) -> int | None:
    """N if the path is a name of this process's own descriptor N, as /dev/stdout is of 1.

    It may lead to a regular file that somebody has opened and goes on with: replaced, it would be
    lost to them; opened once more, both would write over each other.
    """
    own = os.path.realpath("/dev/fd")
    for _ in range(MOST_LINKS):
        folder = os.path.realpath(path.parent)
        if folder == own and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = folder / path.readlink()
    return None


def _replace(path: Path, found: os.stat_result | None, write: Callable[[Path], None]) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        mode = _make_new(temporary, 0o666 if found is None else 0o600)
        write(temporary)  # which may itself have put another file in its place
        if found is not None:
            mode = stat.S_IMODE(found.st_mode) & 0o777
            _give_back(temporary, found)
        _flush(temporary)  # else a power cut may leave the name without the bytes
        temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _make_new(path: Path, mode: int) -> int:
    """Make an empty file; the system takes the umask off its mode, which is returned."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    except FileNotFoundError as error:  # not the temporary name is missing
        raise FileNotFoundError(error.errno, error.strerror, str(path.parent)) from None
    return stat.S_IMODE(path.stat().st_mode)


def _give_back(path: Path, found: os.stat_result) -> None:
    """Owner and group of what was there; the group alone where the owner cannot be given."""
    own = path.stat()
    if (own.st_uid, own.st_gid) == (found.st_uid, found.st_gid):
        return
    for uid in (found.st_uid, -1):
        with suppress(PermissionError):
            os.chown(path, uid, found.st_gid)
            return


def _write_to(path: Path, number: int | None, write: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        write(whole)
        handle = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
        try:
            with whole.open("rb") as source, open(handle, "wb") as target:  # noqa: PTH123
                shutil.copyfileobj(source, target)
        except BrokenPipeError as error:
            if number == STDOUT:  # as from a print: whoever reads on has heard enough
                raise
            raise BrokenPipeError(error.errno, error.strerror, str(path)) from None


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
