"""`jobs start --on slurm` and what lists, stop and resume make of it, on programs like SLURM's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import paths
from core.jobs.submission import SCRIPT
from tests.fake_slurm import calls, listed, put_programs

Run = Callable[..., Any]
START = ("jobs", "start", "--preset", "tiny", "--steps", 10, "--threads", 1)


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs and settings; nothing outside of this folder is written."""
    monkeypatch.setattr(paths, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(paths, "RUNS", tmp_path / "checkpoints" / "runs")
    path = tmp_path / "cluster.toml"
    path.write_text('partition = "cpu"\ntime = "2:00:00"\n')
    monkeypatch.setenv("EXPLORER_CLUSTER", str(path))
    return put_programs(tmp_path / "slurm", monkeypatch)


def test_a_job_is_sent_with_what_it_asks_for_and_listed_where_it_is(run: Run, slurm: Path):
    asked = ("--on", "slurm", "--partition", "gpu", "--time", "0:30:00", "--gpus", 2)
    report = run(*START, *asked, "--json").report
    job_id = report["id"]
    assert (report["on"], list(report)) == ("slurm", ["id", "device", "on"])
    folder = paths.RUNS / job_id
    script = (folder / SCRIPT).read_text().splitlines()
    for option in ("--partition=gpu", "--time=0:30:00", "--gres=gpu:2"):
        assert f"#SBATCH {option}" in script
    listed(slurm, folder, "PENDING", reason="Priority")
    (row,) = run("jobs", "list", "--json").report["jobs"]
    assert (row["state"], row["on"], row["host"]) == ("queued", "slurm", None)
    assert row["reason"] == "others come first"
    assert "(on the cluster: others come first)" in run("jobs", "list").out
    listed(slurm, folder, "RUNNING")
    assert "(on the cluster, node7: its worker is on its way)" in run("jobs", "list").out


def test_it_is_stopped_and_goes_on_there(run: Run, slurm: Path):
    job_id = run(*START, "--on", "slurm", "--json").report["id"]
    folder = paths.RUNS / job_id
    listed(slurm, folder, "CANCELLED")
    assert run("jobs", "show", job_id, "--json").report["state"] == "stopped"
    assert run("jobs", "resume", job_id).out.startswith(f"{job_id} is in the queue of the cluster")
    assert len(calls(slurm, "sbatch")) == 2


def test_what_means_nothing_or_cannot_be_is_refused(
    run: Run, slurm: Path, monkeypatch: pytest.MonkeyPatch
):
    assert "--time is a cluster's matter" in run(*START, "--time", "30").error
    assert "partition is 'a;b'" in run(*START, "--on", "slurm", "--partition", "a;b").error
    assert "time is '1'" in run(*START, "--on", "slurm", "--time", "1").error
    assert "gpus is 99" in run(*START, "--on", "slurm", "--gpus", 99).error
    (slurm / "sbatch.err").write_text("sbatch: error: invalid account\n")
    assert "does not take the job: invalid account" in run(*START, "--on", "slurm").error
    monkeypatch.delenv("EXPLORER_CLUSTER")
    assert "there is no cluster here" in run(*START, "--on", "slurm").error
    assert not [path for path in paths.RUNS.glob("*") if not path.name.startswith(".")]


def test_a_sweep_is_one_array(run: Run, slurm: Path):
    together = ("jobs", "sweep", *START[2:], "--on", "slurm", "--seeds", 0, 1, 2)
    report = run(*together, "--json").report
    assert len(calls(slurm, "sbatch")) == 1
    for job_id in report["ids"]:
        assert "#SBATCH --array=0-2" in (paths.RUNS / job_id / SCRIPT).read_text().splitlines()
    (slurm / "sbatch.err").write_text("sbatch: error: Invalid account\n")
    assert "Invalid account" in run(*together).error
    assert len(run("jobs", "list", "--json").report["jobs"]) == 3
