"""status.json: how an attempt goes, and why it failed in one sentence that somebody can act on.

Written by its worker alone, read by everybody. Figures of training stand here so that a page needs
no torch to show them.
"""

import errno
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import psutil
from safetensors import SafetensorError

from core.files import read_json, write_json
from core.from_json import dataclass_from_dict
from core.jobs.folder import STATUS

State = Literal["queued", "running", "stopping", "stopped", "lost", "failed", "finished"]
WorkerState = Literal["queued", "running", "stopped", "failed", "finished"]  # what it says itself
FINAL = ("stopped", "failed", "finished")
WRITE_EVERY_SECONDS = 1.0
RESERVE, RESERVE_BYTES = "reserve", 65536
LONGEST_SENTENCE = 300
_FULL = (errno.ENOSPC, errno.EDQUOT)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
KEPT = "step n_steps saved_step seconds tokens loss held_out sample n_parameters baseline".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a worker tells. Times are seconds since 1970; `seconds` of training leave out pauses.

    `activity` is what goes on while it runs; `message` is one sentence on how it ended.
    `held_out` is {step, correct, total}, `sample` {step, question, answer, expected}, `baseline`
    {answer, accuracy} of one constant answer; `figures` are the card's, of a finished job.
    """

    attempt: int
    state: WorkerState
    pid: int
    created_at: float
    host: str
    updated_at: float
    started_at: float | None = None
    activity: str = ""
    message: str = ""
    step: int = 0
    n_steps: int | None = None
    saved_step: int | None = None
    seconds: float = 0.0
    seconds_left: float | None = None
    tokens: int = 0
    tokens_per_second: float | None = None
    loss: float | None = None
    held_out: dict[str, Any] | None = None
    sample: dict[str, Any] | None = None
    n_parameters: int | None = None
    baseline: dict[str, Any] | None = None
    figures: dict[str, Any] | None = None


def read_status(folder: Path) -> Status | None:
    """The latest status; None if no worker has come up yet. Raises ValueError if it is damaged."""
    if not (folder / STATUS).exists():
        return None
    data = read_json(folder / STATUS)
    try:
        return dataclass_from_dict(Status, data, passes_over_others=True)  # those of later versions
    except ValueError as error:
        raise ValueError(f"{STATUS}: {error}") from None


class Reporter:
    """The worker's pen: changes are remembered, and written about once a second.

    A small reserve on the disk is given up at the end, so that a full disk can be told too.
    `check` is called before anything is written: it raises GoneError if the folder is gone.
    """

    def __init__(
        self, folder: Path, attempt: int, check: Callable[[], None] = lambda: None
    ) -> None:
        process = psutil.Process()
        self.folder, self.check, self._written = folder, check, 0.0
        self.status = Status(
            attempt=attempt,
            state="queued",
            pid=process.pid,
            created_at=process.create_time(),
            host=socket.gethostname(),
            updated_at=0.0,
            **_figures_before(folder),
        )

    def open(self) -> None:
        """Say that the worker is here, and set room aside for its last words."""
        self.write()
        (self.folder / RESERVE).write_bytes(os.urandom(RESERVE_BYTES))  # cannot be compressed

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._written > WRITE_EVERY_SECONDS

    def update(self, **changes: Any) -> None:
        """Remember; write if the last time was long enough ago."""
        self.status = replace(self.status, **changes)
        if self.is_due:
            self.write()

    def write(self, **changes: Any) -> None:
        """Remember and write now."""
        self.status = replace(self.status, updated_at=time.time(), **changes)
        self.check()
        write_json(self.folder / STATUS, asdict(self.status))
        self._written = time.monotonic()

    def close(self, state: WorkerState, message: str, **changes: Any) -> None:
        """The last words."""
        self.check()
        (self.folder / RESERVE).unlink(missing_ok=True)
        self.write(state=state, message=message, activity="", seconds_left=None, **changes)


def _figures_before(folder: Path) -> dict[str, Any]:
    """What an earlier attempt measured is told until there is something newer."""
    with suppress(ValueError):
        before = read_status(folder)
        if before is not None:
            return {key: getattr(before, key) for key in KEPT}
    return {}


class LimitError(ValueError):
    """A limit of the spec is reached."""


def sentence(error: BaseException) -> str:
    """One line of at most 300 characters."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError):
        said = _in_words(error.errno, error.filename, error.strerror or text)
    elif isinstance(error, SafetensorError):
        said = _in_words(_number(text), None, text)
    elif _is_memory(error, text):
        said = "the memory is not enough: take a smaller model, or wait until less else is running"
    elif isinstance(error, ValueError):
        said = text
    else:
        said = f"unexpected {type(error).__name__}: {text}; the log says where"
    return said if len(said) <= LONGEST_SENTENCE else f"{said[: LONGEST_SENTENCE - 1]}…"


def _in_words(number: int | None, path: object, text: str) -> str:
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


def _is_memory(error: BaseException, text: str) -> bool:
    """Python says so by MemoryError, torch by a RuntimeError of its own."""
    signs = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in text for sign in signs)
    )
