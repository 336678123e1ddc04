"""How a job on a cluster stands, by its folder, the scheduler's word and the heartbeat."""

from dataclasses import replace
from typing import Any

import pytest

from core.jobs.folder import StopRequest, Ticket
from core.jobs.scheduler import ALIVE_SECONDS, Beat, Seen
from core.jobs.squeue import GONE, RUNNING, WAITING, Row
from core.jobs.standing import BESIDE, ENDINGS, WITHDRAWN, Standing, standing
from core.jobs.status import Status
from core.jobs.submission import Submission

JOB, NOW = "20260131-120000-0a1b2c", 1000.0
SENT = Submission(attempt=2, token="t", name="explorer-x", job="17")
BEATING = Beat(token="t", beat=4, restarts=0, changed_at=NOW - 1)
SILENT = Beat(token="t", beat=4, restarts=0, changed_at=NOW - ALIVE_SECONDS - 1)


def stands(
    row: Row | None = None,
    said: str = "",
    *,
    beat: Beat | None = None,
    stop: bool = False,
    ago: float = 500.0,
    attempt: int = 2,
    sent: Submission = SENT,
    **seen: Any,
) -> Standing:
    status = Status(
        attempt=attempt,
        state=said or "running",  # pyright: ignore[reportArgumentType]
        pid=1,
        created_at=0.0,
        host="far",
        updated_at=0.0,
        message="its last words",
    )
    rows = {} if row is None else {"17": row}
    return standing(
        JOB,
        sent,
        Seen(rows=rows, beats={} if beat is None else {JOB: beat}, **seen),
        ticket=Ticket(attempt=2, order=1, written_at=NOW - ago, patience=60.0),
        status=status if said else None,
        stop=StopRequest(attempt=2, requested_at=0.0) if stop else None,
        now=NOW,
    )


@pytest.mark.parametrize("state", WAITING)
def test_it_waits_with_the_schedulers_reason_and_start(state: str):
    found = stands(Row(state=state, reason="Resources", starts_at=2000.0))
    assert (found.state, found.reason, found.starts_at) == ("queued", "no node is free", 2000.0)
    assert (found.waits, found.number, found.host) == (True, "17", None)
    assert stands(Row(state=state, reason="QOSLimit")).reason == "QOSLimit"
    assert stands(Row(state=state), stop=True).state == "stopping"


@pytest.mark.parametrize("state", RUNNING)
def test_it_runs_where_the_scheduler_says(state: str):
    found = stands(Row(state=state, host="node7"), "running", beat=BEATING)
    assert (found.state, found.host, found.reason, found.waits) == ("running", "node7", "", False)
    assert found.is_alive
    on_its_way = stands(Row(state=state, host="node7"))
    assert (on_its_way.state, on_its_way.reason) == ("queued", "its worker is on its way")
    assert stands(Row(state=state), "running", stop=True).state == "stopping"


@pytest.mark.parametrize("said", ["finished", "stopped", "failed"])
@pytest.mark.parametrize("state", [*RUNNING, *WAITING, "COMPLETED", GONE])
def test_last_words_come_before_what_the_scheduler_says(said: str, state: str):
    found = stands(Row(state=state), said, beat=BEATING)
    assert (found.state, found.message) == (said, "its last words")


@pytest.mark.parametrize("row", [None, Row(state="RUNNING")])
def test_last_words_of_an_earlier_attempt_count_for_nothing(row: Row | None):
    assert stands(row, "stopped", attempt=1, ago=1.0).state == "queued"


@pytest.mark.parametrize(("state", "said"), list(BESIDE.items()))
def test_beside_a_saved_state_stands_who_ended_it(state: str, said: str):
    assert stands(Row(state=state), "stopped").message == said
    assert stands(Row(state=state), "stopped", stop=True).message == "its last words"
    assert stands(Row(state=state), "failed").message == "its last words"


@pytest.mark.parametrize(("state", "said"), list(ENDINGS.items()))
def test_without_last_words_the_scheduler_says_what_became_of_it(state: str, said: str):
    found = stands(Row(state=state), "running", beat=SILENT)
    expected = "stopped" if state in ("CANCELLED", "PREEMPTED", "TIMEOUT") else "lost"
    assert (found.state, found.message) == (expected, said)
    assert found.reason
    stopped = stands(Row(state=state), "running", stop=True)
    assert (stopped.state, stopped.message) == ("stopped", WITHDRAWN)


@pytest.mark.parametrize("state", ["FAILED", "COMPLETED", "REVOKED"])
def test_another_end_without_last_words_is_a_worker_that_died(state: str):
    found = stands(Row(state=state), "running")
    assert found.state == "lost"
    assert f"without a word ({state.lower()})" in found.message


def test_put_into_line_again_what_was_said_before_counts_no_more():
    again = Row(state="PENDING", reason="BeginTime", restarts=1)
    for said in ("running", "stopped", "failed"):
        assert stands(again, said, beat=BEATING).state == "queued"
    assert stands(again, "finished", beat=BEATING).state == "finished"
    begun = replace(BEATING, restarts=1)
    assert stands(replace(again, state="RUNNING"), "running", beat=begun).state == "running"


def test_a_worker_that_gives_signs_of_life_runs_though_the_scheduler_does_not_know_it():
    found = stands(Row(state=GONE), "running", beat=BEATING)
    assert (found.state, found.host) == ("running", "far")
    assert found.reason == "unknown to the scheduler, but its worker gives signs of life"
    others = replace(BEATING, token="another")
    assert stands(Row(state=GONE), "running", beat=others).state == "lost"


def test_just_submitted_it_is_on_its_way_and_later_lost():
    found = stands(None, ago=1.0)
    assert (found.state, found.reason, found.waits) == ("queued", "submitted just now", True)
    assert stands(None, ago=61.0).state == "lost"
    assert stands(None, ago=61.0, stop=True).state == "stopped"


def test_while_the_scheduler_is_silent_the_last_that_was_known_stands():
    silent = {"silent_since": NOW - 100, "why": "no route"}
    said = "the scheduler does not answer (no route); this is what was known last"
    for row in (Row(state="RUNNING", host="node7"), None):
        found = stands(row, "running", beat=SILENT, **silent)
        assert (found.state, found.reason) == ("running", said)
    assert stands(Row(state="PENDING"), **silent).state == "queued"
    ended = stands(Row(state="NODE_FAIL"), "running", **silent)
    assert (ended.state, ended.reason) == ("lost", "node failed")
    assert stands(None, "finished", **silent).reason == ""


def test_a_number_that_could_not_be_written_down_is_that_of_the_heartbeat():
    unknown = replace(SENT, job=None)
    beat = replace(BEATING, job="17")
    found = stands(Row(state="RUNNING", host="node7"), "running", beat=beat, sent=unknown)
    assert (found.number, found.host) == ("17", "node7")
