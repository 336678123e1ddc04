"""A SLURM of this machine, and trainings that are sent to it."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from core.files import write_text
from core.jobs import actions
from core.jobs.cluster import Cluster as Settings
from core.jobs.folder import log_tail
from core.jobs.slurm import SlurmLauncher
from core.jobs.spec import TrainSpec, train_spec
from core.jobs.squeue import squeue
from core.jobs.state import Job, list_all, show
from core.paths import COURSE_VARIABLE, ROOT
from core.training.presets import PRESETS
from core.training.recipe import Recipe
from tests.jobs.conftest import course_files, runs
from tests.slurm.cluster_here import ASIDE, Cluster, lacking, running
from tests.slurm.hurried import HELD, hold_file

__all__ = ["course_files", "runs"]
N_STEPS, ENDLESS = 600, 2_000_000
Send = Callable[..., Path]
Hold = Callable[[int | None], None]


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
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A worker in a hurry stands for python on a node."""
    path = tmp_path_factory.mktemp("bin") / "python"
    script = quote(str(Path(__file__).with_name("hurried.py")))
    lines = (
        "#!/bin/bash",
        f"export PYTHONPATH={quote(str(ROOT))} OMP_NUM_THREADS=1",
        f'exec {quote(sys.executable)} {script} "$@"',
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return Settings(python=str(path), time="30")


@pytest.fixture(scope="session")
def send_to(cluster: Cluster, course_files: Path, recipe: Recipe) -> Send:
    """Start a training in a folder of jobs, with some settings; returns its own folder."""

    def put(runs: Path, settings: Settings, **options: Any) -> Path:
        with pytest.MonkeyPatch.context() as patch:  # what sbatch sees, the worker has
            patch.setenv(COURSE_VARIABLE, str(course_files))
            patch.setitem(PRESETS, "tiny", replace(recipe, corpus="course"))
            given: dict[str, Any] = {"steps": N_STEPS, "threads": 1, **options}
            spec: TrainSpec = train_spec("tiny", **given)
            return runs / actions.start(runs, spec, SlurmLauncher(settings))

    return put


@pytest.fixture
def send(send_to: Send, runs: Path, settings: Settings, course_files: Path) -> Iterator[Send]:
    """The same in the folder of this test; what is left of it is ended."""

    def put(settings: Settings = settings, **options: Any) -> Path:
        return send_to(runs, settings, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(COURSE_VARIABLE, str(course_files))  # for those that go on
        yield put
    hold_file(runs).unlink(missing_ok=True)
    for job in list_all(runs):
        if job.is_active:
            actions.stop(runs, job.id)
            wait_for(runs / job.id, "stopped", "finished", "lost")


@pytest.fixture
def hold(runs: Path) -> Hold:
    """Trainings of this test save behind a step and wait a few steps later; None lets them go."""

    def put(step: int | None) -> None:
        if step is None:
            hold_file(runs).unlink()
        else:
            runs.parent.mkdir(parents=True, exist_ok=True)
            write_text(hold_file(runs), str(step))

    return put


@pytest.fixture(scope="session", autouse=True)
def early(
    send_to: Send, settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Begun before all tests, looked at by later ones: one run that nobody disturbs, and one that
    comes to the end of its time.
    """
    runs = tmp_path_factory.mktemp("early") / "checkpoints" / "runs"
    aside = replace(settings, partition=ASIDE)
    return {
        "whole": send_to(runs, aside),
        "long": send_to(runs, aside, steps=ENDLESS),
    }


@pytest.fixture(scope="session")
def near_its_end(early: dict[str, Path], cluster: Cluster) -> Path:
    """The second of them, from a step on with a minute or two left; the scheduler looks at the time
    twice a minute.
    """
    there = wait_for_step(early["long"], 1).there
    assert there is not None
    began = squeue([there.number])[there.number].starts_at
    assert began is not None
    minutes = int((time.time() - began) / 60) + 2
    cluster.said("scontrol", "update", f"jobid={there.number}", f"TimeLimit={minutes}")
    return early["long"]


def wait_for(folder: Path, *wanted: str, until: Callable[[Job], bool] = lambda _: True) -> Job:
    """A job in one of some states, as a page would come to see it; fails after five minutes."""
    deadline = time.monotonic() + 300
    while not ((job := show(folder.parent, folder.name)).state in wanted and until(job)):
        told = (job.state, job.message, job.there, log_tail(folder), sorted(folder.iterdir()))
        assert time.monotonic() < deadline, told
        assert job.state not in ("failed", "finished"), told  # it would stay so
        time.sleep(0.2)
    return job


def wait_for_step(folder: Path, step: int) -> Job:
    """A job that has saved a state behind a step."""
    return wait_for(folder, "running", until=lambda job: saved(job) >= step)


def wait_until_held(folder: Path, step: int) -> Job:
    """A job that waits, with steps that are not saved, a few behind a step that is."""
    job = wait_for(folder, "running", until=lambda job: saved(job) >= step and is_held(job))
    assert job.status is not None
    assert job.status.step > saved(job)
    return job


def is_held(job: Job) -> bool:
    return job.status is not None and job.status.activity == HELD


def saved(job: Job) -> int:
    return 0 if job.status is None else job.status.saved_step or 0
