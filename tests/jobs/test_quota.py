"""What the jobs of one pupil may come to, and whose a job is."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core.bench.spec import BenchSpec
from core.jobs import actions
from core.jobs.bench_job import bench_job
from core.jobs.folder import OWNER, owner_of
from core.jobs.launcher import Launcher
from core.jobs.quota import minutes_of, over_quota, shortened
from core.jobs.spec import TrainSpec, train_spec
from core.jobs.state import list_jobs, read_job
from core.server import Server

CLASS = Server(mode="class", waiting_jobs=2, minutes=10.0)
MINE, OTHERS = owner_of("mine"), owner_of("another's")


class NoLauncher:
    """Launches nothing."""

    patience = 30.0

    def obstacle(self) -> str | None:
        return None

    def launch(self, folder: Path, *, threads: int) -> None:
        pass

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        for folder in folders:
            self.launch(folder, threads=threads)


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Put a waiting job into a folder; returns its own."""

    def put_(minutes: float = 4.0, owner: str | None = MINE) -> Path:
        launcher: Launcher = NoLauncher()
        return tmp_path / actions.start(tmp_path, training(minutes), launcher, owner=owner)

    return put_


def test_jobs_of_others_count_for_nothing(tmp_path: Path, put: Callable[..., Path]):
    put(owner=OTHERS)
    put(owner=None)
    put()
    jobs = list_jobs(tmp_path)
    assert over_quota(CLASS, jobs, [MINE], [training(4)]) == ""
    assert "2 jobs waiting or running here, and 1 of yours is there" in over_quota(
        CLASS, jobs, [MINE], [training(1), training(1)]
    )


def test_minutes_are_those_of_all_jobs_together(tmp_path: Path, put: Callable[..., Path]):
    put(minutes=6)
    jobs = list_jobs(tmp_path)
    assert over_quota(CLASS, jobs, [MINE], [training(4)]) == ""
    assert "the jobs of a pupil may take 10 minutes together" in over_quota(
        CLASS, jobs, [MINE], [training(4.5)]
    )


def test_a_training_of_so_many_steps_is_ended_in_time():
    spec = train_spec("notable-small", steps=100_000)
    assert over_quota(CLASS, [], [MINE], [spec])
    short = shortened(CLASS, spec)
    assert minutes_of(short) == 10
    assert over_quota(CLASS, [], [MINE], [short]) == ""
    assert shortened(CLASS, training(4)) == training(4)


def test_a_measurement_takes_what_it_is_estimated_to():
    bench = bench_job(BenchSpec(methods=("sdpa",), lengths=(64,)))
    assert 0 < minutes_of(bench) < 1
    assert shortened(CLASS, bench) is bench


def test_a_job_remembers_a_hash_of_who_started_it(put: Callable[..., Path]):
    folder = put()
    assert read_job(folder).owner == MINE
    assert "mine" not in (folder / OWNER).read_text()
    assert read_job(put(owner=None)).owner is None
    (folder / OWNER).write_text("{}")
    damaged = read_job(folder)
    assert damaged.owner is None
    assert "an owner is needed" in damaged.message


def test_one_job_too_many_is_refused_under_the_lock_of_the_queue(tmp_path: Path):
    def refuse(jobs: list) -> None:
        raise ValueError(f"{len(jobs)} jobs are enough")

    with pytest.raises(ValueError, match="0 jobs are enough"):
        actions.start(tmp_path, training(4), NoLauncher(), allow=refuse)
    assert list_jobs(tmp_path) == []


def training(minutes: float) -> TrainSpec:
    return train_spec("notable-small", minutes=minutes)
