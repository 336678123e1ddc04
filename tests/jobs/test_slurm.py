"""The launcher of a cluster, on programs that stand for SLURM's: script, commands, refusals."""

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.jobs import actions
from core.jobs.cluster import Cluster
from core.jobs.folder import read_stop, read_ticket
from core.jobs.places import launcher_of, launcher_on
from core.jobs.slurm import NO_SBATCH, SlurmLauncher, preview, script
from core.jobs.spec import TrainSpec
from core.jobs.state import list_all, read_job, show
from core.jobs.submission import SCRIPT, TOKEN_VARIABLE, is_sent, read_submission
from core.paths import ROOT
from tests.fake_slurm import calls, listed, put_programs

SETTINGS = Cluster(
    partition="gpu",
    account="course",
    time="4:00:00",
    gpus=1,
    setup=("module load cuda",),
    python="/opt/a venv/python",
    options=("--qos=low",),
)


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what the programs say and have been told; sbatch answers 17."""
    return put_programs(tmp_path / "slurm", monkeypatch)


def test_a_job_is_one_sbatch_and_its_script_stays_in_its_folder(
    runs: Path, slurm: Path, make_spec: Callable[..., TrainSpec]
):
    launcher = SlurmLauncher(SETTINGS)
    folder = runs / actions.start(runs, make_spec(name="$(reboot)"), launcher)
    (call,) = calls(slurm, "sbatch")
    assert call == (
        f"sbatch --parsable --job-name=explorer-{folder.name} --output={folder}/log.txt --chdir=/ "
        f"{folder}/{SCRIPT}"
    )
    sent = read_submission(folder)
    assert sent is not None
    assert (sent.attempt, sent.job, sent.name) == (1, "17", f"explorer-{folder.name}")
    text = (folder / SCRIPT).read_text()
    assert text == script(SETTINGS, [folder], threads=1, token=sent.token)
    assert "reboot" not in text + call
    assert read_ticket(folder).patience == launcher.patience
    assert (read_job(folder).on, is_sent(folder)) == ("slurm", True)


def test_a_script_is_what_bash_can_read_and_says_what_was_set(tmp_path: Path):
    folder = tmp_path / "it's a $folder; `id`"
    text = script(SETTINGS, [folder], threads=3, token="t")
    lines = text.splitlines()
    assert lines[0] == "#!/bin/bash"
    for option in (
        "--cpus-per-task=3",
        "--time=4:00:00",
        "--partition=gpu",
        "--account=course",
        "--gres=gpu:1",
        "--signal=B:TERM@60",
        "--open-mode=append",
        "--requeue",
        "--qos=low",
    ):
        assert f"#SBATCH {option}" in lines
    assert lines.index("module load cuda") < lines.index(f"cd -- {ROOT} || exit 1")
    assert f"export {TOKEN_VARIABLE}=t" in lines
    assert lines[-1] == "exec '/opt/a venv/python' -m core.jobs.worker \"$folder\""
    picked = next(line for line in lines if line.startswith("folder="))
    said = f'{picked}\nprintf %s "$folder"'
    done = subprocess.run(["bash", "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == str(folder)
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    plain = script(Cluster(), [folder], threads=1, token="t")
    assert not any(word in plain for word in ("--partition", "--account", "--gres"))
    assert "#SBATCH --time=" in preview(SETTINGS, threads=1)


def test_several_jobs_are_one_array_whose_tasks_pick_their_folder(
    runs: Path, slurm: Path, start: Callable[..., Path]
):
    folders = [start() for _ in range(3)]
    SlurmLauncher(SETTINGS).launch_all(folders, threads=2)
    (call,) = calls(slurm, "sbatch")
    assert "--output=/dev/null" in call
    sent = [read_submission(folder) for folder in folders]
    assert [one.job for one in sent if one is not None] == ["17_0", "17_1", "17_2"]
    text = (folders[1] / SCRIPT).read_text()
    assert "#SBATCH --array=0-2" in text.splitlines()
    head = text[text.index("folders=(") : text.index("exec >>")]
    for index, folder in enumerate(folders):
        done = subprocess.run(
            ["bash", "-c", f'{head}printf %s "$folder"'],
            env={**os.environ, "SLURM_ARRAY_TASK_ID": str(index)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == str(folder)


def test_nodes_may_know_the_folder_by_another_name(
    runs: Path, slurm: Path, tmp_path: Path, start: Callable[..., Path]
):
    folder, link = start(), tmp_path / "shared"
    link.symlink_to(runs)
    launcher = SlurmLauncher(replace(SETTINGS, runs=f"{link}/"))
    launcher.launch(folder, threads=1)
    assert f"folder={link}/{folder.name}" in (folder / SCRIPT).read_text().splitlines()
    assert f"--output={link}/{folder.name}/log.txt" in calls(slurm, "sbatch")[0]
    with pytest.raises(ValueError, match="which is another folder than"):
        SlurmLauncher(replace(SETTINGS, runs=str(tmp_path))).launch(folder, threads=1)


def test_what_sbatch_refuses_is_told_and_nothing_is_left(
    runs: Path, slurm: Path, make_spec: Callable[..., TrainSpec]
):
    (slurm / "sbatch.err").write_text("sbatch: error: Batch job submission failed: no such thing\n")
    with pytest.raises(ValueError, match=r"does not take the job: Batch job .* no such thing"):
        actions.start(runs, make_spec(), SlurmLauncher(SETTINGS))
    assert list_all(runs) == []
    assert [path.name for path in runs.iterdir() if not path.name.startswith(".")] == []


def test_what_goes_on_and_is_refused_stays_as_it_was(
    runs: Path, slurm: Path, make_spec: Callable[..., TrainSpec]
):
    launcher = SlurmLauncher(SETTINGS)
    folder = runs / actions.start(runs, make_spec(), launcher)
    listed(slurm, folder, "NODE_FAIL")
    before = read_job(folder)
    assert (before.state, before.can_resume) == ("lost", True)
    (slurm / "sbatch.err").write_text("sbatch: error: not now\n")
    with pytest.raises(ValueError, match="not now"):
        actions.resume(runs, folder.name, launcher)
    assert (read_submission(folder), read_ticket(folder)) == (
        before.there and read_submission(folder),
        before.ticket,
    )
    assert read_job(folder).state == "lost"
    (slurm / "sbatch.err").unlink()
    (slurm / "sbatch.out").write_text("18\n")
    actions.resume(runs, folder.name, launcher)
    sent = read_submission(folder)
    assert sent is not None
    assert (sent.attempt, sent.job) == (2, "18")
    assert read_job(folder).state == "queued"


def test_a_job_that_waits_leaves_the_line_at_once(
    runs: Path, slurm: Path, make_spec: Callable[..., TrainSpec]
):
    folder = runs / actions.start(runs, make_spec(), SlurmLauncher(SETTINGS))
    listed(slurm, folder, "PENDING")
    assert actions.stop(runs, folder.name) == "stopping"
    assert calls(slurm, "scancel") == ["scancel 17"]
    listed(slurm, folder, "CANCELLED")
    assert show(runs, folder.name).state == "stopped"


def test_who_runs_is_asked_by_its_folder_then_by_term_then_ended(
    runs: Path, slurm: Path, make_spec: Callable[..., TrainSpec], monkeypatch: pytest.MonkeyPatch
):
    folder = runs / actions.start(runs, make_spec(), SlurmLauncher(SETTINGS))
    listed(slurm, folder, "RUNNING")
    actions.stop(runs, folder.name)
    assert calls(slurm, "scancel") == []
    for seconds, call in ((16, "scancel --signal=TERM --batch 17"), (46, "scancel 17")):
        request = read_stop(folder)
        assert request is not None
        monkeypatch.setattr(actions.time, "time", lambda at=request.requested_at + seconds: at)
        actions.stop(runs, folder.name)
        assert calls(slurm, "scancel")[-1] == call
    assert actions.signal.SIGTERM == signal.SIGTERM


def test_a_scancel_that_fails_is_told(runs: Path, slurm: Path, make_spec: Callable[..., TrainSpec]):
    folder = runs / actions.start(runs, make_spec(), SlurmLauncher(SETTINGS))
    listed(slurm, folder, "PENDING")
    (slurm / "scancel.err").write_text("scancel: error: Access denied\n")
    with pytest.raises(ValueError, match="the scheduler does not end the job: Access denied"):
        actions.stop(runs, folder.name)
    (slurm / "scancel.err").write_text("scancel: error: Kill job error: Invalid job id specified\n")
    (folder / "stop.json").unlink()
    assert actions.stop(runs, folder.name) == "stopping"


def test_where_jobs_run_is_chosen_by_name(tmp_path: Path, slurm: Path, start: Callable[..., Path]):
    path = tmp_path / "cluster.toml"
    path.write_text('partition = "cpu"\n')
    environment = {"EXPLORER_CLUSTER": str(path)}
    launcher = launcher_on("slurm", environment, partition="gpu", time="30", gpus=2)
    assert launcher == SlurmLauncher(Cluster(partition="gpu", time="30", gpus=2))
    assert launcher.obstacle() is None
    folder = start()
    assert launcher_of(read_job(folder), environment) != launcher
    launcher.launch(folder, threads=1)
    assert launcher_of(read_job(folder), environment) == SlurmLauncher(Cluster(partition="cpu"))
    with pytest.raises(ValueError, match=r"there is no cluster here: .*EXPLORER_CLUSTER"):
        launcher_on("slurm", {})
    with pytest.raises(ValueError, match="--gpus is a cluster's matter: it goes with --on slurm"):
        launcher_on("local", environment, gpus=1)


def test_without_sbatch_nothing_can_be_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert SlurmLauncher(Cluster()).obstacle() == NO_SBATCH
