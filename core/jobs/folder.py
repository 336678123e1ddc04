"""The folder of a job: which files it holds, and the small ones that are written by its users.

job.json     what to do; written before the folder has its name, and by a resume that changes the
             device, of which no worker is left then
ticket.json  the attempt that is wanted and its place in the queue; written by start and resume
stop.json    a request to end one attempt; written by stop
status.json  how the attempt goes; written by the worker alone, while it holds worker.lock
owner.json   a hash that says whose it is, where a page started it; written once, with job.json
sweep.json   which sweep it belongs to, if any; written once, with job.json
slurm.json   which attempt was sent to a cluster; `core/jobs/submission.py` says what else is there

Each is replaced whole. An attempt has a number, so that what belongs to an earlier one counts no
more and nothing has to be deleted.
"""

import hashlib
import os
import re
import secrets
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from core.files import read_json, write_json
from core.from_json import dataclass_from_dict

JOB, TICKET, STOP, STATUS = "job.json", "ticket.json", "stop.json", "status.json"
OWNER, SWEEP = "owner.json", "sweep.json"
SUBMISSION = "slurm.json"
LOCK, LOG = "worker.lock", "log.txt"
TAIL_BYTES = 65536  # of a log, that are read
PATIENCE_SECONDS = 30.0

_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
_OF_SWEEP = "sweep-"  # in front of what else looks like the id of a job


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """Attempt `attempt` (from 1) is wanted; lower `order` comes first.

    Its worker may take `patience` seconds from `written_at` to come up; then it counts as lost.
    """

    attempt: int
    order: int
    written_at: float
    patience: float = PATIENCE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRequest:
    """Attempt `attempt` shall end; `terminated_at` is when its worker got a signal for it."""

    attempt: int
    requested_at: float
    terminated_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepName:
    """The sweep that a job belongs to: what all of them have in common, and no folder."""

    id: str
    name: str


Request = TypeVar("Request", Ticket, StopRequest, SweepName)


def new_id(now: datetime) -> str:
    """A name for a folder: the time, so that names sort, and six random digits."""
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def is_id(text: str) -> bool:
    """Whether a text has the form of an id; nothing else ever becomes part of a path."""
    return _ID.fullmatch(text) is not None


def new_sweep_id(now: datetime) -> str:
    """A name for a sweep, which nobody takes for that of a job."""
    return f"{_OF_SWEEP}{new_id(now)}"


def is_sweep_id(text: str) -> bool:
    """Whether a text has the form of a sweep's id."""
    return text.startswith(_OF_SWEEP) and is_id(text.removeprefix(_OF_SWEEP))


def job_folder(root: Path, job_id: str) -> Path:
    """The folder of an existing job. Raises ValueError for anything else."""
    folder = named_folder(root, job_id)
    if not (folder / JOB).is_file():
        raise ValueError(f"there is no job {job_id}")
    return folder


def named_folder(root: Path, job_id: str) -> Path:
    """The folder of a job, or what is left of one. Raises ValueError for anything else."""
    if not is_id(job_id):
        raise ValueError(f"{job_id!r} is no id of a job; ids look like 20260131-235959-0a1b2c")
    if not (root / job_id).is_dir():
        raise ValueError(f"there is no job {job_id}")
    return root / job_id


def job_folders(root: Path) -> list[Path]:
    """The folders of all jobs, oldest first; whatever else lies there is passed over."""
    if not root.is_dir():
        return []
    folders = [path for path in root.iterdir() if is_id(path.name) and (path / JOB).is_file()]
    return sorted(folders, key=lambda path: path.name)


def read_ticket(folder: Path) -> Ticket:
    """Raises ValueError if the file is damaged or missing."""
    return _read_request(folder / TICKET, Ticket)


def write_ticket(folder: Path, ticket: Ticket) -> None:
    """Only under the queue's lock."""
    write_json(folder / TICKET, asdict(ticket))


def read_stop(folder: Path) -> StopRequest | None:
    """The latest request, whichever attempt it is for. Raises ValueError if it is damaged."""
    if not (folder / STOP).exists():
        return None
    return _read_request(folder / STOP, StopRequest)


def write_stop(folder: Path, request: StopRequest) -> None:
    """Only under the queue's lock."""
    write_json(folder / STOP, asdict(request))


def owner_of(token: str) -> str:
    """What is kept of somebody's token."""
    return hashlib.sha256(f"owner {token}".encode()).hexdigest()[:32]


def read_owner(folder: Path) -> str | None:
    """Whose job it is; None where nobody is known. Raises ValueError if the file is damaged."""
    if not (folder / OWNER).exists():
        return None
    owner = read_json(folder / OWNER).get("owner")
    if not isinstance(owner, str):
        raise ValueError(f"{folder / OWNER}: an owner is needed")
    return owner


def write_owner(folder: Path, owner: str) -> None:
    """Before the folder has its name."""
    write_json(folder / OWNER, {"owner": owner})


def read_sweep_name(folder: Path) -> SweepName | None:
    """Which sweep it belongs to; None for a job alone. Raises ValueError if it is damaged."""
    if not (folder / SWEEP).exists():
        return None
    found = _read_request(folder / SWEEP, SweepName, needed="a text")
    if not is_sweep_id(found.id):
        raise ValueError(f"{folder / SWEEP}: {found.id!r:.60} is no id of a sweep")
    return found


def write_sweep_name(folder: Path, sweep: SweepName) -> None:
    """Before the folder has its name."""
    write_json(folder / SWEEP, asdict(sweep))


def is_stop_requested(folder: Path, attempt: int) -> bool:
    """What a worker asks between two steps; costs one look at the folder if there is none."""
    request = read_stop(folder)
    return request is not None and request.attempt == attempt


def log_tail(folder: Path, *, n_lines: int = 20) -> list[str]:
    """The last lines of the worker's log."""
    try:
        with (folder / LOG).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    return text.splitlines()[-n_lines:]


def unfinished_files(folder: Path) -> list[Path]:
    """Temporary files: of who writes just now, or was killed while writing."""
    return [path for path in (*folder.glob(".*"), *folder.glob("*/.*")) if path.is_file()]


def sweep_unfinished(folder: Path) -> None:
    """Remove what a killed worker was writing; only for the worker, whose files they are."""
    users = (f".{TICKET}.", f".{STOP}.", f".{SUBMISSION}.")
    for path in unfinished_files(folder):
        if not path.name.startswith(users):
            path.unlink(missing_ok=True)


def _read_request(path: Path, kind: type[Request], *, needed: str = "a number") -> Request:
    data = read_json(path)
    names = [field.name for field in fields(kind)]
    if sorted(data) != sorted(names):
        raise ValueError(f"{path}: needs exactly {', '.join(names)}")
    try:
        return dataclass_from_dict(kind, data, needed=needed)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
