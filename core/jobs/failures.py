"""Why a job failed, in one sentence that somebody can act on."""

import errno
from pathlib import Path

from safetensors import SafetensorError

from core.devices import is_out_of_memory

LONGEST = 300
_FULL = (errno.ENOSPC, errno.EDQUOT)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class LimitError(ValueError):
    """A limit of the spec is reached."""


def sentence(error: BaseException) -> str:
    """One line of at most 300 characters."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError):
        told = _system(error.errno, error.filename, error.strerror or text)
    elif isinstance(error, SafetensorError):
        told = _system(_number(text), None, text)
    elif is_out_of_memory(error):
        told = "the memory is not enough: take a smaller model, or wait until less else is running"
    elif isinstance(error, ValueError):
        told = text
    else:
        told = f"unexpected {type(error).__name__}: {text}; the log says where"
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"


def _system(number: int | None, path: object, text: str) -> str:
    name = "" if path is None else f" ({Path(str(path)).name})"
    if number in _FULL:
        return f"the disk is full{name}: free some space, then resume"
    if number in _READ_ONLY:
        return f"the job's folder cannot be written to{name}: {text}"
    return f"the system says: {text}{name}"


def _number(text: str) -> int | None:
    """Errors of safetensors carry the system's number in their text alone."""
    found = [number for number in (*_FULL, *_READ_ONLY) if f"(os error {number})" in text]
    return found[0] if found else None
