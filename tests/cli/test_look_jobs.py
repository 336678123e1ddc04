"""`look train` with --on: a job for each seed, waited for, and one file of all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.jobs import looking
from core.jobs.state import list_all
from core.pictures.drawn import drawn_digits
from core.pictures.sweep import read_sweep
from tests.cli.test_awaited import Meanwhile, launcher, meanwhile, train_one
from tests.cli.test_sweeps import runs

__all__ = ["launcher", "meanwhile", "runs"]
Run = Callable[..., Any]
SMALL = ("look", "train", "--source", "drawn", "--epochs", 1, "--batch", 16, "--rates", 0.05)
SEEDS = (*SMALL, "--threads", 1, "--networks", "pooling", "strides", "--seeds", 2)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = drawn_digits(32, 10, 20)
    monkeypatch.setattr(looking, "load_pictures", lambda _: drawn)
    monkeypatch.setattr("core.cli.look.load_pictures", lambda _: drawn)


def test_seeds_are_a_job_each_and_their_file_is_that_of_a_sweep_here(
    run: Run, runs: Path, meanwhile: Meanwhile, tmp_path: Path
):
    here, out = tmp_path / "here.json", tmp_path / "jobs.json"
    report = run(*SEEDS, "--out", here, "--json").report
    meanwhile(train_one(runs))
    done = run(*SEEDS, "--out", out, "--on", "local", "--json")
    assert done.report == report
    jobs = list_all(runs)[::-1]
    (sweep_id,) = {job.sweep.id for job in jobs if job.sweep is not None}
    first, *told = [line for line in done.err.splitlines() if line.startswith(sweep_id)]
    assert first.startswith(f"{sweep_id}: 2 jobs are in the queue")
    assert first.endswith(f"made by python -m core look train --out {out} --sweep {sweep_id}")
    assert told[-1] == f"{sweep_id}: 2 of 2 have finished"
    assert [job.name[-6:] for job in jobs] == ["seed 0", "seed 1"]
    one, other = read_sweep(here), read_sweep(out)
    assert [run.case for run in one.runs] == [run.case for run in other.runs]
    assert [run.shifted_correct for run in one.runs] == [run.shifted_correct for run in other.runs]
    assert one.spec == other.spec
    written = out.read_text()
    again = run("look", "train", "--sweep", sweep_id, "--out", out, "--json")
    assert (again.report, out.read_text()) == (report, written)


def test_its_jobs_are_listed_and_removed_as_those_of_any_sweep(
    run: Run, runs: Path, meanwhile: Meanwhile
):
    meanwhile(train_one(runs))
    run(*SEEDS, "--on", "local")
    (sweep_id,) = {job.sweep.id for job in list_all(runs) if job.sweep is not None}
    found = run("jobs", "show", sweep_id, "--json").report
    assert [job["verb"] for job in found["jobs"]] == ["look", "look"]
    assert (found["groups"], found["verdict"]) == ([], "")
    done = run("seeds", "--preset", "tiny", "--sweep", sweep_id)
    assert f"{sweep_id} is a sweep of the verb look" in done.error
    assert run("jobs", "remove", sweep_id, "--json").report["sweep"] == sweep_id
    assert list_all(runs) == []


def test_what_says_nothing_together_is_refused(run: Run, runs: Path):
    done = run(*SEEDS, "--on", "local", "--sweep", "sweep-20260101-000000-abcdef")
    assert "--on trains, --sweep reads what was trained: leave out one of both" in done.error
    assert "--gpus is a cluster's matter" in run(*SEEDS, "--gpus", 1).error
    assert "is no id of a sweep" in run("look", "train", "--sweep", "mine").error
    assert list_all(runs) == []
