"""`jobs sweep`, and what is done to whole sweeps; tables of trainings made of their jobs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import paths
from core.cli import jobs as verb
from core.cli import tables
from core.jobs import recorder, training, worker
from core.training.presets import PRESETS
from core.training.recipe import Recipe
from core.training.variation import Variation

Run = Callable[..., Any]


class FakeLauncher:
    """Launches nothing; the test runs the workers when it wants to."""

    patience = 30.0

    def obstacle(self) -> str | None:
        return None

    def launch(self, folder: Path, *, threads: int) -> None:
        self.launch_all([folder], threads=threads)

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        assert threads == 1


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is started and nothing outside of this folder is written."""
    monkeypatch.setattr(paths, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(paths, "RUNS", tmp_path / "checkpoints" / "runs")
    monkeypatch.setattr("core.jobs.places.LocalLauncher", FakeLauncher)
    monkeypatch.setattr(training, "NICENESS", 0)
    monkeypatch.setattr(recorder, "N_PROBES", 2)
    return paths.RUNS


def sweep(run: Run, *more: object) -> tuple[str, list[str]]:
    options = ("--steps", 4, "--threads", 1)
    report = run("jobs", "sweep", "--preset", "tiny", *options, *more, "--json").report
    assert list(report) == ["ids", "sweep"]
    return report["sweep"], report["ids"]


def work(runs: Path, ids: Sequence[str]) -> None:
    for job_id in ids:
        assert worker.main([str(runs / job_id)]) == 0


def test_seeds_and_rates_are_queued_and_listed_with_their_sweep(run: Run, runs: Path):
    sweep_id, ids = sweep(run, "--seeds", 0, 1, "--learning-rates", "1e-2", "3e-3")
    rows = run("jobs", "list", "--json").report["jobs"]
    assert [row["id"] for row in rows] == ids[::-1]
    assert {row["sweep"] for row in rows} == {sweep_id}
    assert [row["name"] for row in rows][::-1] == [
        "tiny · rate 0.01 · seed 0",
        "tiny · rate 0.003 · seed 0",
        "tiny · rate 0.01 · seed 1",
        "tiny · rate 0.003 · seed 1",
    ]
    assert run("jobs", "list").out.splitlines()[0].endswith(f"seed 1  [{sweep_id}]")


def test_one_seed_for_several_rates_and_other_options_reach_every_job(run: Run, runs: Path):
    given = ("--seed", 5, "--width", 8, "--name", "mine", "--learning-rates", 0.1, 0.2)
    _, ids = sweep(run, *given)
    specs = [run("jobs", "show", one, "--json").report["spec"] for one in ids]
    assert [spec["seed"] for spec in specs] == [5, 5]
    assert [spec["overrides"]["learning_rate"] for spec in specs] == [0.1, 0.2]
    assert {spec["recipe"]["width"] for spec in specs} == {8}
    assert [spec["name"] for spec in specs] == ["mine · rate 0.1", "mine · rate 0.2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seeds", "1"), "a sweep of one training: name several seeds"),
        (("--seeds", "1", "1"), "seed 1 is named twice"),
        (("--seeds", "1", "x"), "argument --seeds: invalid int value: 'x'"),
        (("--seeds", "0", "1", "--steps", "0"), "0 steps: 1 to"),
        (("--seeds", "0", "1", "--time", "1:00:00"), "--time is a cluster's matter"),
        (
            ("--learning-rate", "0.1", "--learning-rates", "0.1", "0.2"),
            "one learning rate and several are named",
        ),
    ],
)
def test_what_is_no_sweep_is_one_line_and_starts_nothing(
    run: Run, runs: Path, arguments: tuple[str, ...], message: str
):
    assert message in run("jobs", "sweep", "--preset", "tiny", *arguments).error
    assert run("jobs", "list", "--json").report["jobs"] == []


def test_a_sweep_is_shown_with_its_means_and_what_may_be_noise(run: Run, runs: Path):
    sweep_id, ids = sweep(run, "--seeds", 0, 1, "--learning-rates", 0.01, 0.003)
    report = run("jobs", "show", sweep_id, "--json").report
    assert list(report) == ["sweep", "jobs", "groups", "verdict"]
    assert ([row["id"] for row in report["jobs"]], report["verdict"]) == (ids, "")
    assert run("jobs", "show", sweep_id).out.splitlines()[-1] == (
        "rate 0.003, 0 of 2 seeds: nothing yet"
    )
    work(runs, ids)
    report = run("jobs", "show", sweep_id, "--json").report
    first, second = report["groups"]
    assert (first["name"], first["runs"], first["finished"]) == ("rate 0.01", 2, 2)
    assert set(second["dev"]["by_seed"]) == {"0", "1"}
    assert len(second["dev"]["interval"]) == 2
    assert "rate 0.01" in report["verdict"]
    assert "rate 0.003" in report["verdict"]
    lines = run("jobs", "show", sweep_id).out.splitlines()
    assert (len(lines), lines[-1]) == (7, report["verdict"])


def test_a_sweep_is_stopped_resumed_and_removed(
    run: Run, runs: Path, monkeypatch: pytest.MonkeyPatch
):
    sweep_id, ids = sweep(run, "--seeds", 0, 1)
    turns: list[float] = []

    def work_meanwhile(seconds: float) -> None:
        turns.append(seconds)
        work(runs, ids[len(turns) - 1 : len(turns)])

    monkeypatch.setattr(verb.time, "sleep", work_meanwhile)
    report = run("jobs", "stop", sweep_id, "--json").report
    assert [row["state"] for row in report["jobs"]] == ["stopped", "stopped"]
    assert len(turns) == 2
    assert f"no job of {sweep_id} waits or runs" in run("jobs", "stop", sweep_id).error
    report = run("jobs", "resume", sweep_id, "--json").report
    assert [row["state"] for row in report["jobs"]] == ["queued", "queued"]
    assert f"2 jobs of {sweep_id} wait or run" in run("jobs", "remove", sweep_id).error
    work(runs, ids)
    assert run("jobs", "remove", sweep_id).out == f"2 jobs of {sweep_id} are removed\n"
    assert run("jobs", "show", sweep_id).error == f"error: there is no sweep {sweep_id}"


def test_the_table_of_seeds_is_made_of_a_sweep(run: Run, runs: Path, tmp_path: Path):
    sweep_id, ids = sweep(run, "--seeds", 5, 3)
    out = ("--out", tmp_path / "seeds.json", "--runs", tmp_path / "none")
    error = run("seeds", "--sweep", sweep_id, *out).error
    assert error.endswith(f"of {sweep_id} is queued: a table needs finished ones")
    work(runs, ids)
    table = run("seeds", "--sweep", sweep_id, *out, "--json").report
    assert (table["preset"], table["minutes"], table["split"]) == ("tiny", None, "dev")
    assert [(row["seed"], row["n_steps"]) for row in table["runs"]] == [(3, 4), (5, 4)]
    assert not (tmp_path / "none").exists()
    mixed, ids = sweep(run, "--seeds", 0, "--learning-rates", 0.1, 0.2)
    work(runs, ids)
    assert "differ in more than their seed" in run("seeds", "--sweep", mixed, *out).error


def test_the_table_of_an_ablation_is_made_of_a_sweep_over_its_presets(
    run: Run, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: Recipe
):
    one, other = (replace(recipe, name=name, n_snapshots=0) for name in ("one", "other"))
    rows = (
        Variation(label="all", differs="nothing", recipe=one),
        Variation(label="AdamW", differs="optimizer", recipe=replace(other, optimizer="adamw")),
    )
    monkeypatch.setitem(tables.ABLATIONS, "pretraining", (rows, "ablation.json"))
    for row in rows:
        monkeypatch.setitem(PRESETS, row.recipe.name, row.recipe)
    sweep_id, ids = sweep(run, "--preset", "other", "one", "--seed", 2)
    work(runs, ids)
    out = ("--out", tmp_path / "table.json")
    table = run("ablation", "--sweep", sweep_id, *out, "--json").report
    assert [row["label"] for row in table["runs"]] == ["all", "AdamW"]
    assert (table["seed"], table["minutes"], table["split"]) == (2, None, "held-out")
    wrong, ids = sweep(run, "--seeds", 0, 1)
    work(runs, ids)
    error = run("ablation", "--sweep", wrong, *out).error
    assert (
        "one job of each of these presets, all of one seed and as many steps: one, other" in error
    )
