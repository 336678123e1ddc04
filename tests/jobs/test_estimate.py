"""An estimate comes from a few real steps, in a process of its own."""

import io
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.jobs import estimate as estimate_module
from core.jobs.estimate import estimate, seconds_ahead
from core.jobs.folder import LOCK
from core.jobs.locks import held
from core.jobs.spec import TrainSpec
from core.jobs.state import list_jobs
from core.jobs.status import Reporter
from core.paths import COURSE_VARIABLE
from core.training.recipe import Overrides

MakeSpec = Callable[..., TrainSpec]


def test_an_estimate_is_measured_by_another_process(make_spec: MakeSpec):
    spec = make_spec(minutes=2.0)
    result = estimate(spec)
    assert result.n_parameters > spec.recipe.width**2
    assert result.n_steps == round(120 * result.steps_per_second)
    assert result.seconds == pytest.approx(120, rel=0.1)
    assert result.tokens_per_second > result.steps_per_second


def test_steps_that_are_fixed_give_their_seconds(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    spec = make_spec(steps=30, overrides=Overrides(width=8))
    monkeypatch.setattr(estimate_module.sys, "stdin", io.StringIO(json.dumps(spec.to_dict())))
    assert estimate_module.main() == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_steps"] == 30
    assert told["seconds"] == pytest.approx(30 / told["steps_per_second"])


def test_what_goes_wrong_there_is_one_sentence(
    make_spec: MakeSpec,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
):
    text = json.dumps(make_spec().to_dict())
    monkeypatch.setenv(COURSE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(estimate_module.sys, "stdin", io.StringIO(text))
    assert estimate_module.main() == 1
    said = capsys.readouterr().out
    assert "wiki.txt: " in said

    def failed(*_: Any, **__: Any) -> Any:
        return subprocess.CompletedProcess([], 1, stdout=said, stderr="noise\n")

    monkeypatch.setattr(estimate_module.subprocess, "run", failed)
    with pytest.raises(ValueError, match="a few steps could not be measured: .*wiki.txt"):
        estimate(make_spec())


def test_a_process_that_answers_too_late_is_given_up(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
):
    def late(*_: Any, timeout: float, **__: Any) -> Any:
        raise subprocess.TimeoutExpired([], timeout)

    monkeypatch.setattr(estimate_module.subprocess, "run", late)
    with pytest.raises(ValueError, match="a few steps took more than 180 s"):
        estimate(make_spec())


def test_a_spec_that_does_not_fit_is_refused_before_anything_runs(make_spec: MakeSpec):
    with pytest.raises(ValueError, match="5000000 steps"):
        estimate(replace(make_spec(), steps=5_000_000))


def test_what_comes_before_a_new_job_takes_the_time_of_all(start: Callable[..., Path], runs: Path):
    assert seconds_ahead([], "cpu") == 0
    first = start(minutes=10)
    start(minutes=2)
    assert seconds_ahead(list_jobs(runs), "cpu") == 720
    assert seconds_ahead(list_jobs(runs), "another") == 0
    with held(first / LOCK, seconds=1):
        Reporter(first, 1).write(state="running", seconds_left=30.0)
        assert seconds_ahead(list_jobs(runs), "cpu") == 150
        Reporter(first, 1).write(state="running")
        assert seconds_ahead(list_jobs(runs), "cpu") is None
