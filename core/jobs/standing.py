"""How a job that was sent to a cluster stands: its folder first, then the scheduler's word, then
the worker's heartbeat. Nothing is read or asked here.
"""

from dataclasses import dataclass

from core.jobs.folder import StopRequest, Ticket
from core.jobs.scheduler import ALIVE_SECONDS, Seen
from core.jobs.squeue import GONE, WAITING, Row
from core.jobs.status import FINAL, State, Status
from core.jobs.submission import Submission

GOES_ON = "it goes on from its last checkpoint"
UNKNOWN = "unknown to the scheduler"
CANCELLED = f"cancelled on the cluster by somebody else; {GOES_ON}"
WITHDRAWN = f"it was ended on the cluster before it could save; {GOES_ON}"
ON_ITS_WAY = "its worker is on its way"
# What became of a job that ended without its worker's last words, in the scheduler's word for it.
ENDINGS = {
    "CANCELLED": CANCELLED,
    "TIMEOUT": f"the cluster's time limit was reached before it could save; {GOES_ON}",
    "DEADLINE": f"the cluster's deadline was reached before it could save; {GOES_ON}",
    "PREEMPTED": f"preempted: another job needed its place; {GOES_ON} by a new submission",
    "NODE_FAIL": f"its node failed; {GOES_ON}",
    "BOOT_FAIL": f"its node did not start; {GOES_ON}",
    "OUT_OF_MEMORY": "its node's memory was not enough: ask for more, or take a smaller model",
    GONE: f"{UNKNOWN}, and its worker is gone without a word; {GOES_ON}",
}
STOPPED: tuple[str, ...] = ("CANCELLED", "PREEMPTED", "TIMEOUT")  # by others, and not broken
# The same beside its worker's last words, where those cannot know it.
BESIDE = {
    "CANCELLED": "cancelled on the cluster by somebody else; its state is saved",
    "PREEMPTED": "preempted: another job needed its place; its state is saved, and it goes on by "
    "a new submission",
}
REASONS = {
    "Resources": "no node is free",
    "Priority": "others come first",
    "BeginTime": "it waits for its time",
    "Dependency": "it waits for another job",
    "PartitionTimeLimit": "its time is more than the partition allows",
    "AssocMaxJobsLimit": "the account has as many jobs as it may",
    "QOSMaxJobsPerUserLimit": "the user has as many jobs as they may",
    "ReqNodeNotAvail": "the nodes that it needs are away",
    "JobHeldUser": "held by a user",
    "JobHeldAdmin": "held by the cluster's administrators",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A job on a cluster at one moment; `number` is the scheduler's of it, "" before it has one.

    `reason` says why it waits, or what is uncertain; `starts_at` is when it is expected to begin.
    `waits` is whether the scheduler has yet to begin it.
    """

    state: State
    message: str = ""
    number: str = ""
    host: str | None = None
    reason: str = ""
    starts_at: float | None = None
    waits: bool = False
    is_alive: bool = False


def standing(
    job_id: str,
    sent: Submission,
    seen: Seen,
    *,
    ticket: Ticket,
    status: Status | None,
    stop: StopRequest | None,
    now: float,
) -> Standing:
    """Of the ticket's attempt, which was `sent`; its files and the scheduler say the rest."""
    said = status if status is not None and status.attempt == ticket.attempt else None
    is_stop_asked = stop is not None and stop.attempt == ticket.attempt
    is_new = abs(now - ticket.written_at) < ticket.patience
    beat = seen.beats.get(job_id)
    if beat is not None and beat.token != sent.token:
        beat = None
    number = sent.job or (beat.job if beat is not None else None) or ""
    row = seen.rows.get(number)
    is_alive = beat is not None and now - beat.changed_at < ALIVE_SECONDS
    if row is not None and row.restarts > (0 if beat is None else beat.restarts):
        said, is_alive = _before(said), False  # the scheduler has put it into line again since
    state, message = _state(
        row, said, is_stop_asked=is_stop_asked, is_alive=is_alive, is_new=is_new, seen=seen
    )
    is_waiting = row is not None and row.state in WAITING
    host = None if said is None else said.host
    return Standing(
        state=state,
        message=message,
        number=number,
        host=(row.host or host) if row is not None and not row.is_over else host,
        reason=_reason(row, seen, state, is_alive=is_alive),
        starts_at=row.starts_at if row is not None and is_waiting else None,
        waits=is_waiting or (row is None and said is None),
        is_alive=is_alive,
    )


def _before(said: Status | None) -> Status | None:
    """What an earlier beginning has said counts no more, unless it has finished."""
    return said if said is not None and said.state == "finished" else None


def _state(
    row: Row | None,
    said: Status | None,
    *,
    is_stop_asked: bool,
    is_alive: bool,
    is_new: bool,
    seen: Seen,
) -> tuple[State, str]:
    if said is not None and said.state in FINAL:
        beside = BESIDE.get(row.state) if row is not None and said.state == "stopped" else None
        return said.state, said.message if beside is None or is_stop_asked else beside
    is_lost = row is None and not is_new and seen.silent_since is None
    is_over = (row.is_over if row is not None else is_lost) and not (
        is_alive and (row is None or row.state == GONE)
    )
    if not is_over:
        running = said.state if said is not None and (row is None or not _waits(row)) else "queued"
        return ("stopping" if is_stop_asked else running), ""
    if is_stop_asked:
        return "stopped", WITHDRAWN
    ending = GONE if row is None else row.state
    lost = f"its worker ended on the cluster without a word ({ending.lower()}); {GOES_ON}"
    return ("stopped" if ending in STOPPED else "lost"), ENDINGS.get(ending, lost)


def _waits(row: Row) -> bool:
    return row.state in WAITING


def _reason(row: Row | None, seen: Seen, state: State, *, is_alive: bool) -> str:
    """In a few words: why it waits, what it ended by, or what is not known for sure."""
    if state in FINAL or state == "lost":
        return "" if row is None or row.state == "COMPLETED" else _ended(row)
    if seen.silent_since is not None:
        return f"the scheduler does not answer ({seen.why}); this is what was known last"
    if row is None:
        return "" if is_alive else "submitted just now"
    if row.state == GONE:
        return f"{UNKNOWN}, but its worker gives signs of life"
    if row.state in WAITING:
        return REASONS.get(row.reason, row.reason or row.state.lower())
    return ON_ITS_WAY if state == "queued" else ""


def _ended(row: Row) -> str:
    words = {"TIMEOUT": "time limit", "NODE_FAIL": "node failed", GONE: UNKNOWN}
    return words.get(row.state, row.state.lower().replace("_", " "))
