"""What else is sent to a real SLURM: a measurement to its end, and the trainings of a table."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import paths
from core.bench.record import read_bench
from core.bench.spec import BenchSpec
from core.cli import awaited
from core.cli.table_sweeps import cards_of_seeds
from core.jobs import actions
from core.jobs.bench_job import BENCH, bench_job
from core.jobs.cluster import Cluster as Settings
from core.jobs.slurm import SlurmLauncher
from core.jobs.state import list_benches
from core.jobs.sweeps import jobs_of_sweep, make_sweep
from core.training.presets import PRESETS
from core.training.recipe import Recipe
from pages.runtime.words import job_label
from tests.slurm.conftest import Send, wait_for


def test_a_measurement_is_made_on_a_node_and_listed_as_made_there(
    send: Send, runs: Path, settings: Settings
):
    spec = BenchSpec(methods=("sdpa", "elu"), lengths=(16, 32), repeats=3, seconds=0.001)
    runs.mkdir(parents=True)
    job_id = actions.start(runs, bench_job(spec, name="on a node"), SlurmLauncher(settings))
    wait_for(runs / job_id, "finished")
    (job,) = list_benches(runs)
    assert (job.on, job.host, job.message) == ("slurm", "one", "")
    assert job_label(job).startswith("on the cluster: on a node (finished, ")
    bench = read_bench(runs / job_id / BENCH)
    assert {(one.method, one.seq_len) for one in bench.records} == {*spec.cases}
    assert all(one.median_seconds for one in bench.records)
    assert bench.machine["processor"]


def test_the_trainings_of_a_table_are_waited_for_on_the_cluster(
    send: Send,
    runs: Path,
    settings: Settings,
    recipe: Recipe,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(PRESETS, "tiny", replace(recipe, corpus="course"))
    monkeypatch.setattr(paths, "RUNS", runs)
    monkeypatch.setattr(awaited, "LOOK_EVERY_SECONDS", 0.2)
    sweep = make_sweep(["tiny"], seeds=[7, 3], steps=20, threads=1)
    said: list[str] = []
    launcher = SlurmLauncher(settings)
    sweep_id = awaited.start(
        runs, sweep.specs, launcher, name=sweep.name, later="seeds", tell=said.append
    )
    awaited.wait(runs, sweep_id, tell=said.append)
    assert [job.on for job in jobs_of_sweep(runs, sweep_id)] == ["slurm", "slurm"]
    assert f"made by seeds --sweep {sweep_id}" in said[0]
    assert said[-1] == f"{sweep_id}: 2 of 2 have finished"
    assert [card["seed"] for card in cards_of_seeds(sweep_id)] == [3, 7]
