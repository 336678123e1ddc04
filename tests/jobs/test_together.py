"""A job in several processes: recorded by the first, stopped, gone on with, and refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import CARD
from core.jobs import together, worker
from core.jobs.spec import spec_from_dict
from core.jobs.state import read_job
from core.runs.folder import RUN
from core.runs.journal import read_metrics

Start = Callable[..., Path]


def test_a_job_in_two_processes_is_recorded_once_and_finished(start: Start):
    folder = start(processes=2)
    assert worker.main([str(folder)]) == 0
    job = read_job(folder)
    assert job.state == "finished", job.message
    assert job.status is not None
    assert (job.status.step, job.status.attempt) == (20, 1)
    assert job.status.figures == json.loads((folder / CARD).read_text())["figures"]
    rows = read_metrics(folder)
    assert [row["step"] for row in rows] == list(range(1, 21))
    assert rows[0]["where"]["processes"] == 2
    assert json.loads((folder / CARD).read_text())["where"]["processes"] == 2
    assert not (folder / RUN).exists()


def test_what_the_processes_say_is_the_end_of_the_attempt(
    start: Start, monkeypatch: pytest.MonkeyPatch
):
    folder = start(processes=2)
    monkeypatch.setattr(together, "run_ranks", lambda *_: {"figures": None})
    assert worker.main([str(folder)]) == 0
    assert (read_job(folder).state, read_job(folder).message) == ("stopped", "stopped as asked")

    def fail(*_: Any) -> dict[str, Any]:
        raise ValueError("process 2 of 2 was killed (SIGKILL), and the others ended")

    other = start(processes=2)
    monkeypatch.setattr(together, "run_ranks", fail)
    assert worker.main([str(other)]) == 0
    assert read_job(other).state == "failed"
    assert read_job(other).message.startswith("process 2 of 2 was killed")


def test_processes_are_kept_and_repeated(make_spec: Callable[..., Any]):
    spec = make_spec(processes=2)
    assert "--processes 2" in " ".join(spec.arguments())
    assert spec_from_dict(spec.to_dict()) == spec
    older = {key: value for key, value in make_spec().to_dict().items() if key != "processes"}
    assert spec_from_dict(older).processes == 1
    assert "--processes" not in make_spec().arguments()


def test_a_number_of_processes_that_cannot_be_is_refused(make_spec: Callable[..., Any]):
    with pytest.raises(ValueError, match="0 processes: 1 to 64 are possible"):
        make_spec(processes=0)


def test_only_a_training_runs_in_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start
):
    folder = start()
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setattr(together, "read_spec", lambda _: object())
    with pytest.raises(SystemExit):
        together.main([str(folder), "1", str(tmp_path)])
    said = json.loads((tmp_path / "0.json").read_text())
    assert said["failed"].endswith("is no training: only those run in several processes")
