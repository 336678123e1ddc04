"""A SLURM of this machine, and trainings that are sent to it."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from core.jobs import actions
from core.jobs.cluster import Cluster as Settings
from core.jobs.folder import log_tail
from core.jobs.slurm import SlurmLauncher
from core.jobs.state import Job, show
from core.paths import ROOT
from tests.jobs.conftest import course_files, make_spec, runs
from tests.slurm.cluster_here import Cluster, lacking, running

__all__ = ["course_files", "make_spec", "runs"]
N_STEPS = 1500


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two slots; commands of SLURM in this process ask it."""
    if why := lacking():
        pytest.skip(why)
    with running(tmp_path_factory.mktemp("slurm")) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.environment.items():
            patch.setenv(name, value)
        yield found


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What runs a worker on a node: one in a hurry."""
    path = tmp_path_factory.mktemp("bin") / "python"
    script = quote(str(Path(__file__).with_name("hurried.py")))
    lines = (
        "#!/bin/bash",
        f"export PYTHONPATH={quote(str(ROOT))} OMP_NUM_THREADS=1",
        f'exec {quote(sys.executable)} {script} "$@"',
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def settings(python: Path) -> Settings:
    return Settings(python=str(python), time="30", options=("--mem=0",))


@pytest.fixture
def launcher(cluster: Cluster, settings: Settings) -> SlurmLauncher:
    return SlurmLauncher(settings)


@pytest.fixture
def send(
    runs: Path, launcher: SlurmLauncher, make_spec: Callable[..., Any]
) -> Callable[..., Path]:
    """Start a training on the cluster; returns its folder."""

    def put(launcher: SlurmLauncher = launcher, **options: Any) -> Path:
        spec = make_spec(**{"steps": N_STEPS, **options})
        return runs / actions.start(runs, spec, launcher)

    return put


def wait_for(folder: Path, *wanted: str, until: Callable[[Job], bool] = lambda _: True) -> Job:
    """A job in one of some states, as a page would come to see it; fails after five minutes."""
    deadline = time.monotonic() + 300
    while not ((job := show(folder.parent, folder.name)).state in wanted and until(job)):
        told = (job.state, job.message, job.there, log_tail(folder), os.listdir(folder))
        assert time.monotonic() < deadline, told
        assert job.state != "failed", told
        time.sleep(0.2)
    return job


def wait_for_step(folder: Path, step: int) -> Job:
    """A job that has saved a state behind a step."""
    return wait_for(folder, "running", until=lambda job: saved(job) >= step)


def saved(job: Job) -> int:
    return 0 if job.status is None else job.status.saved_step or 0
