"""What stands in the folder of a job that was sent to a cluster.

slurm.json      which attempt was submitted, as what; written by start and resume
slurm.sh        the script that was submitted
heartbeat.json  the worker's sign of life, a new number every few seconds; written by the worker

A worker on another host has a process id and perhaps a lock that nobody here can look at, and its
clock may go differently: that the number changes is all that counts.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from core.files import read_json, write_json
from core.from_json import dataclass_from_dict
from core.jobs.folder import SUBMISSION, read_ticket

SCRIPT, HEARTBEAT = "slurm.sh", "heartbeat.json"
TOKEN_VARIABLE = "EXPLORER_SUBMISSION"  # noqa: S105 - a name


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Attempt `attempt` was submitted under the name `name`; `job` is the scheduler's number of it.

    It is None until the scheduler has answered. A worker that was not told this `token` is one of
    another submission, and ends.
    """

    attempt: int
    token: str
    name: str
    job: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """Beat number `beat` of a worker; `restarts` is how often the scheduler had begun it anew."""

    token: str
    beat: int
    host: str
    job: str | None = None
    restarts: int = 0


Kept = TypeVar("Kept", Submission, Heartbeat)


def read_submission(folder: Path) -> Submission | None:
    """None for a job of this machine. Raises ValueError if it is damaged."""
    return _read(folder / SUBMISSION, Submission)


def is_sent(folder: Path) -> bool:
    """Whether the present attempt at a job is a cluster's; what cannot be read is not."""
    try:
        submission = read_submission(folder)
        return submission is not None and submission.attempt == read_ticket(folder).attempt
    except ValueError:
        return False


def write_submission(folder: Path, submission: Submission) -> None:
    """Only under the queue's lock."""
    write_json(folder / SUBMISSION, asdict(submission))


def read_heartbeat(folder: Path) -> Heartbeat | None:
    """None before the first worker has come up. Raises ValueError if it is damaged."""
    return _read(folder / HEARTBEAT, Heartbeat)


def write_heartbeat(folder: Path, heartbeat: Heartbeat) -> None:
    """Only for the worker."""
    write_json(folder / HEARTBEAT, asdict(heartbeat))


def _read(path: Path, kind: type[Kept]) -> Kept | None:
    if not path.exists():
        return None
    try:
        return dataclass_from_dict(kind, read_json(path), passes_over_others=True)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
