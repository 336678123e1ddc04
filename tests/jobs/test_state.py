"""The state of a job follows from its lock and its files, whatever a process claims."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from core.files import read_json, write_json
from core.jobs import state as state_module
from core.jobs.folder import JOB, LOCK, STATUS, STOP, TICKET, StopRequest, read_ticket, write_stop
from core.jobs.locks import HeldError, held, is_held, take
from core.jobs.state import list_jobs, read_job, show
from core.jobs.status import Reporter, read_status

Start = Callable[..., Path]


def say(folder: Path, state: str, *, attempt: int = 1, **more: Any) -> None:
    Reporter(folder, attempt).write(state=state, **more)


def request_stop(folder: Path, attempt: int) -> None:
    write_stop(folder, StopRequest(attempt=attempt, requested_at=0.0))


@pytest.mark.parametrize(
    ("said", "stop", "is_alive", "age", "state"),
    [
        (None, False, False, 0, "queued"),  # its worker is on its way
        (None, False, False, 31, "lost"),  # it never came
        (None, False, True, 31, "queued"),
        ("queued", False, True, 31, "queued"),
        ("queued", False, False, 0, "lost"),  # it was there and died
        ("running", False, True, 0, "running"),
        ("running", False, False, 0, "lost"),
        ("running", True, True, 0, "stopping"),
        ("running", True, False, 0, "stopped"),  # killed before it could say so
        (None, True, False, 0, "stopping"),
        (None, True, False, 31, "stopped"),
        ("stopped", True, True, 0, "stopped"),  # the last words count before the lock is free
        ("failed", False, False, 0, "failed"),
        ("finished", True, False, 0, "finished"),
    ],
)
def test_the_state_follows_from_lock_ticket_status_and_request(
    start: Start, said: str | None, stop: bool, is_alive: bool, age: float, state: str
):
    folder = start()
    if said is not None:
        say(folder, said)
    if stop:
        request_stop(folder, 1)
    now = read_ticket(folder).written_at + age
    with held(folder / LOCK, seconds=1) if is_alive else nullcontext():
        job = read_job(folder, now=now)
    assert job.state == state
    assert job.alive is is_alive


def test_what_belongs_to_an_earlier_attempt_counts_no_more(start: Start):
    folder = start()
    say(folder, "stopped", step=5, n_steps=20)
    request_stop(folder, 1)
    ticket = read_ticket(folder)
    write_json(
        folder / TICKET,
        {"attempt": 2, "order": 2, "written_at": ticket.written_at, "patience": 30.0},
    )
    now = ticket.written_at
    assert read_job(folder, now=now).state == "queued"
    assert read_job(folder, now=now + 31).state == "lost"
    assert read_job(folder).progress == 0.25  # still worth showing
    say(folder, "running", attempt=2)
    with held(folder / LOCK, seconds=1):
        assert read_job(folder).state == "running"


def test_a_new_attempt_goes_on_telling_what_the_earlier_one_measured(start: Start):
    folder = start()
    say(folder, "stopped", step=5, n_steps=20, loss=2.5, message="gone", tokens_per_second=9.0)
    told = Reporter(folder, 2).status
    assert (told.attempt, told.state, told.step, told.loss) == (2, "queued", 5, 2.5)
    assert (told.message, told.tokens_per_second) == ("", None)


def test_looking_at_a_lock_disturbs_neither_lookers_nor_the_worker(tmp_path: Path):
    path = tmp_path / "lock"
    assert not is_held(path)
    assert not path.exists()
    lock = take(path, seconds=0)
    assert is_held(path)
    with pytest.raises(HeldError, match="held by another process"):
        take(path, seconds=0)
    lock.release()
    assert not is_held(path)
    take(path, seconds=0).release()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (JOB, "{", "job.json: not JSON"),
        (JOB, '{"verb": "train", "colour": 1}', "job.json: unknown keys: colour"),
        (JOB, '{"verb": "sweep"}', "job.json: unknown verb 'sweep'; this version knows train, b"),
        (TICKET, "[]", "ticket.json: a JSON object is needed"),
        (TICKET, '{"attempt": 1}', "ticket.json: needs exactly attempt, order, written_at, pat"),
        (STATUS, '{"state": "running"}', "status.json: missing keys: attempt, pid, created_at"),
        (STOP, '{"attempt": "1", "requested_at": 0, "terminated_at": null}', "a number is needed"),
    ],
)
def test_a_damaged_file_makes_a_job_failed_and_the_list_still_whole(
    start: Start, runs: Path, file: str, content: str, message: str
):
    whole, damaged = start(), start()
    (damaged / file).write_text(content)
    later = read_ticket(whole).written_at + 31
    job = read_job(damaged, now=later)
    assert job.state == "failed"
    assert message in job.message
    assert {row["id"] for row in (job.row() for job in list_jobs(runs))} == {
        whole.name,
        damaged.name,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "3"}, "status.json: step is '3', int is needed"),
        ({"state": "asleep"}, "status.json: state is 'asleep', one of queued, running, stopped, "),
        ({"seconds": None}, "status.json: seconds is None, float is needed"),
        ({"held_out": 0.5}, "status.json: held_out is 0.5, an object | None is needed"),
    ],
)
def test_a_status_of_wrong_types_says_which_key(start: Start, change: dict[str, Any], message: str):
    folder = start()
    say(folder, "running", step=3)
    write_json(folder / STATUS, {**read_json(folder / STATUS), **change})
    job = read_job(folder, now=read_ticket(folder).written_at + 31)
    assert (job.state, job.status) == ("failed", None)
    assert job.message.startswith(message)


def test_a_folder_that_cannot_be_written_to_is_told(start: Start, monkeypatch: pytest.MonkeyPatch):
    folder = start()
    monkeypatch.setattr(state_module.os, "access", lambda *_: False)
    job = read_job(folder, now=read_ticket(folder).written_at + 31)
    assert (job.state, job.message) == ("failed", "its folder cannot be written to")


def test_a_list_has_the_newest_first_and_nothing_that_is_no_job(
    start: Start, runs: Path, monkeypatch: pytest.MonkeyPatch
):
    assert list_jobs(runs) == []
    names = [f"2026112{day}-101112-0a1b2c" for day in (1, 2, 3)]
    monkeypatch.setattr("core.jobs.actions.new_id", lambda _: names[len(list(runs.glob("2*")))])
    for _ in names:
        start()
    (runs / "mine").mkdir()  # python -m core train --out checkpoints/runs/mine
    (runs / "20261124-101112-0a1b2c").mkdir()  # has no job.json
    jobs = list_jobs(runs)
    assert [job.id for job in jobs] == names[::-1]
    assert [job.place for job in jobs] == [3, 2, 1]
    assert show(runs, names[1]).place == 2


def test_a_row_has_the_keys_that_scripts_rely_on(start: Start):
    folder = start(name="<b>Ada's & Bruno's</b>")
    row = read_job(folder).row()
    keys = "id name verb state step progress started device on host reason sweep"
    assert list(row) == keys.split()
    assert row["name"] == "<b>Ada's & Bruno's</b>"
    assert (row["id"], row["verb"], row["state"]) == (folder.name, "train", "queued")
    assert (row["step"], row["progress"], row["started"], row["device"]) == (0, 0.0, None, "cpu")
    say(folder, "finished", started_at=0.0, step=5, n_steps=5)
    assert read_job(folder).row()["started"] == "1970-01-01T00:00:00+00:00"
    assert (row["on"], row["host"], row["reason"]) == ("local", None, None)


@pytest.mark.parametrize(
    "bad", ["../etc", "20261128-101112-0a1b2c/..", "", ".", "20261128-101112-0A1B2C", "x\n"]
)
def test_only_an_id_becomes_part_of_a_path(runs: Path, bad: str):
    with pytest.raises(ValueError, match="is no id of a job"):
        show(runs, bad)


def test_an_id_without_a_job_is_refused(runs: Path):
    with pytest.raises(ValueError, match="there is no job 20261128-101112-0a1b2c"):
        show(runs, "20261128-101112-0a1b2c")


def test_a_status_of_a_later_version_is_read_without_what_is_unknown(start: Start):
    folder = start()
    say(folder, "running", step=3)
    write_json(folder / STATUS, {**read_json(folder / STATUS), "mood": "good"})
    told = read_status(folder)
    assert told is not None
    assert told.step == 3
