"""What the cluster's scheduler says of all jobs together: one squeue every few seconds at most.

What it said last stands in the folder of all jobs, hidden, so that every server and terminal asks
once between them and knows the last answer while there is none. With it stands when the heartbeat
of each worker was seen to change, by the clock of who looked.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from core.files import read_json, write_json
from core.from_json import dataclass_from_dict
from core.jobs.folder import job_folders, read_ticket
from core.jobs.locks import HeldError, held
from core.jobs.squeue import GONE, Row, SilentError, squeue
from core.jobs.submission import (
    HEARTBEAT,
    Heartbeat,
    Submission,
    read_heartbeat,
    read_submission,
)

SEEN, LOCK = ".cluster.json", ".cluster.lock"
ASK_EVERY_SECONDS, AGAIN_SECONDS = 3.0, 15.0  # an answer is good for so long; a failure
ALIVE_SECONDS = 20.0  # several beats
ACCEPTED_SECONDS = 60.0  # until a job that was taken is listed
Ask = Callable[[list[str]], "dict[str, Row]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """Number `beat` of the worker of submission `token`, first seen at `changed_at`; the scheduler
    calls its job `job`.
    """

    token: str
    beat: int
    restarts: int
    changed_at: float
    job: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The last answer, by the scheduler's numbers, and the beats, by the jobs' ids.

    `silent_since` is when it failed to answer first, `why` how.
    """

    asked_at: float = 0.0
    silent_since: float | None = None
    why: str = ""
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    beats: dict[str, Beat] = field(default_factory=dict[str, Beat])

    def is_fresh(self, now: float) -> bool:
        good_for = ASK_EVERY_SECONDS if self.silent_since is None else AGAIN_SECONDS
        return abs(now - self.asked_at) < good_for


Kept = TypeVar("Kept", Row, Beat)


def look(root: Path, *, now: float | None = None, ask: Ask | None = None) -> Seen:
    """The latest that is known; asks the scheduler if that is old and nobody else asks just now."""
    now = time.time() if now is None else now
    if (seen := _read(root)).is_fresh(now):
        return seen
    try:
        with held(root / LOCK, seconds=0):
            if not (seen := _read(root)).is_fresh(now):
                seen = _asked(root, seen, now, squeue if ask is None else ask)
                write_json(root / SEEN, asdict(seen))
    except (HeldError, OSError):  # another asks; or the disk is full, and this may not be kept
        return seen
    return seen


def expire(root: Path) -> None:
    """What was asked for has changed: the next look asks again. Costs nothing where none was."""
    if (root / SEEN).exists():
        write_json(root / SEEN, asdict(replace(_read(root), asked_at=0.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A job's present attempt that is on the cluster; `number` is the scheduler's, "" before it."""

    id: str
    submission: Submission
    number: str
    beat: Heartbeat | None
    is_new: bool


def _asked(root: Path, seen: Seen, now: float, ask: Ask) -> Seen:
    sent = _all_sent(root, now)
    beats = {one.id: _beat(root, one, seen, now) for one in sent}
    known = {one.id: beat for one in sent if (beat := beats[one.id]) is not None}
    kept = {one.number: seen.rows[one.number] for one in sent if one.number in seen.rows}
    wanted = [one for one in sent if one.number and not _is_over(kept.get(one.number))]
    if not wanted:
        return Seen(asked_at=now, rows=kept, beats=known)
    try:
        found = ask([one.number for one in wanted])
    except SilentError as error:
        since = now if seen.silent_since is None else seen.silent_since
        return Seen(asked_at=now, silent_since=since, why=str(error), rows=kept, beats=known)
    for one in wanted:
        row = found.get(one.number)
        if row is not None and row.name == one.submission.name:  # numbers may be given again
            kept[one.number] = row
        elif one.number in kept or not one.is_new:  # as a task of an array that is withdrawn
            kept[one.number] = Row(state=GONE)
    return Seen(asked_at=now, rows=kept, beats=known)


def _all_sent(root: Path, now: float) -> list[_Sent]:
    """What cannot be read is told where its job is read."""
    found: list[_Sent] = []
    for folder in job_folders(root):
        with suppress(ValueError):
            submission, ticket = read_submission(folder), read_ticket(folder)
            if submission is None or submission.attempt != ticket.attempt:
                continue
            beat = read_heartbeat(folder)
            if beat is not None and beat.token != submission.token:
                beat = None
            number = submission.job or (beat.job if beat is not None else None) or ""
            is_new = abs(now - ticket.written_at) < ACCEPTED_SECONDS
            one = _Sent(
                id=folder.name, submission=submission, number=number, beat=beat, is_new=is_new
            )
            found.append(one)
    return found


def _beat(root: Path, one: _Sent, seen: Seen, now: float) -> Beat | None:
    """At the first look only the file's own time can tell, against that of a file just touched."""
    if one.beat is None:
        return None
    token, number, restarts = one.beat.token, one.beat.beat, one.beat.restarts
    before = seen.beats.get(one.id)
    changed_at = now
    if before is not None and (before.token, before.beat) == (token, number):
        changed_at = before.changed_at
    elif before is None or before.token != token:
        changed_at = now - _age(root, root / one.id / HEARTBEAT)
    return Beat(
        token=token, beat=number, restarts=restarts, changed_at=changed_at, job=one.beat.job
    )


def _age(root: Path, path: Path) -> float:
    """By the clock of the file system, whichever host that belongs to."""
    clock = root / LOCK
    clock.touch()
    try:
        return max(0.0, clock.stat().st_mtime - path.stat().st_mtime)
    except FileNotFoundError:  # removed just now
        return 0.0


def _is_over(row: Row | None) -> bool:
    return row is not None and row.is_over


def _read(root: Path) -> Seen:
    """Nothing is known where nobody asked yet, or where what stands there cannot be read."""
    if not (root / SEEN).exists():
        return Seen()
    try:
        data = read_json(root / SEEN)
        doors = {"rows": partial(_each, Row), "beats": partial(_each, Beat)}
        return dataclass_from_dict(Seen, data, doors=doors)
    except ValueError:
        return Seen()


def _each(kind: type[Kept], data: dict[str, Any]) -> dict[str, Kept]:
    return {key: dataclass_from_dict(kind, value) for key, value in data.items()}
