"""A worker that is killed at any moment loses its steps since the last save, and nothing else."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.checkpoints.shelf import CARD, SNAPSHOTS, WEIGHTS
from core.checkpoints.state import load_state
from core.checkpoints.store import load_checkpoint
from core.files import read_json
from core.jobs import actions
from core.jobs.state import Job, list_all, read_job
from core.paths import ROOT
from core.runs.folder import RUN, STATE
from core.runs.journal import read_metrics

N_KILLS, N_STEPS, SEED = 50, 300, 2026
EVERY = 3  # steps a line of metrics
CLOCKS = ("seconds", "tokens_per_second")


class Nursery:
    """A launcher whose workers are forks of one process that has torch loaded."""

    patience = 0.0

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("nursery.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        )
        self.worker = 0

    def obstacle(self) -> str | None:
        return None

    def launch(self, folder: Path, *, threads: int) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        self.worker = int(self.process.stdout.readline())

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        for folder in folders:
            self.launch(folder, threads=threads)

    def kill(self) -> bool:
        """SIGKILL to the latest worker; whether it was still there. Returns when it is gone."""
        try:
            os.kill(self.worker, signal.SIGKILL)
        except ProcessLookupError:
            return False
        wait_until(self.is_gone)
        return True

    def is_gone(self) -> bool:
        try:
            os.kill(self.worker, 0)
        except ProcessLookupError:
            return True
        return False

    def close(self) -> None:
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        self.process.wait(timeout=30)


@pytest.fixture
def nursery(make_spec: Any) -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


def wait_until(condition: Callable[[], bool]) -> float:
    """Seconds until it became true; fails after five minutes, for the machine may be busy."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < 300, "this should have happened by now"
        time.sleep(0.005)
    return time.monotonic() - began


def activity(folder: Path) -> str:
    """What the worker of the present attempt does; nothing before it has its turn."""
    job = read_job(folder)
    if job.ticket is None or job.status is None or job.status.attempt != job.ticket.attempt:
        return ""
    return job.status.activity or job.status.state


def wait_for(folder: Path, *activities: str) -> None:
    wait_until(lambda: activity(folder).startswith(activities))


def wait_for_lines(folder: Path, nursery: Nursery, n: int) -> None:
    """Until this attempt wrote n lines, or ended: steps, for seconds differ between machines."""
    wait_for(folder, "training", "finished")
    goal = len(read_metrics(folder)) + n
    wait_until(lambda: nursery.is_gone() or len(read_metrics(folder)) >= goal)


def without_clocks(folder: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in CLOCKS} for row in read_metrics(folder)]


def saved_step(folder: Path) -> int:
    """The step of the state on the disk, which must be whole."""
    if not (folder / STATE).exists():
        return N_STEPS if (folder / CARD).exists() and not (folder / RUN).exists() else 0
    return load_state(folder / STATE)[1]["cursor"]["step"]


def assert_nothing_is_half_written(folder: Path, whole: Path, *, at_least: int) -> Job:
    """All files are whole, and the lines are the first of those of a run that nobody killed."""
    job = read_job(folder)
    assert job.state in ("lost", "finished"), job
    rows = without_clocks(folder)
    assert rows == without_clocks(whole)[: len(rows)]
    assert saved_step(folder) >= max(at_least, (job.status and job.status.saved_step) or 0)
    told = rows[-1]["step"] if rows else 0
    assert told > saved_step(folder) - EVERY  # the state knows of no line that is not there
    if (folder / CARD).exists():
        load_checkpoint(folder)
    return job


def assert_same_result(one: Path, other: Path) -> None:
    snapshots = sorted(path.name for path in (other / SNAPSHOTS).iterdir())
    for name in (WEIGHTS, *(f"{SNAPSHOTS}/{snapshot}" for snapshot in snapshots)):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    cards = [read_json(folder / CARD) for folder in (one, other)]
    assert [card["figures"] for card in cards] == [cards[1]["figures"]] * 2
    assert without_clocks(one) == without_clocks(other)
    assert [read_job(folder).state for folder in (one, other)] == ["finished"] * 2
    assert list(one.rglob(".*")) == []  # what the kills left half written is gone


def test_fifty_kills_lose_nothing_but_the_steps_since_the_last_save(
    runs: Path, nursery: Nursery, make_spec: Callable[..., Any]
):
    spec = make_spec(steps=N_STEPS)
    whole = runs / actions.start(runs, spec, nursery)
    seconds_to_start = wait_until(lambda: activity(whole).startswith("training: "))
    seconds_to_train = wait_until(lambda: not activity(whole).startswith("training"))
    seconds_to_measure = wait_until(nursery.is_gone)
    assert read_job(whole).state == "finished", read_job(whole).message

    generator = random.Random(SEED)
    folder = runs / actions.start(runs, spec, nursery)
    before, steps = 0, list[int]()
    while len(steps) < N_KILLS:
        if generator.random() < 0.4:  # while it loads and goes on from the state
            time.sleep(generator.uniform(0, seconds_to_start))
        elif len(steps) < N_KILLS - 5:
            wait_for_lines(folder, nursery, generator.randrange(5))
            time.sleep(generator.uniform(0, seconds_to_train * EVERY / N_STEPS))
        else:
            wait_for(folder, "measuring", "finished")
            time.sleep(generator.uniform(0, seconds_to_measure))
        if nursery.kill():
            steps.append(saved_step(folder))
        job = assert_nothing_is_half_written(folder, whole, at_least=before)
        before = saved_step(folder)
        if job.state == "finished":
            assert_same_result(folder, whole)
            folder, before = runs / actions.start(runs, spec, nursery), 0
        else:
            actions.resume(runs, folder.name, nursery)
    wait_until(nursery.is_gone)
    assert len(set(steps)) > 10  # the moments were different ones
    assert_same_result(folder, whole)


def test_a_removed_folder_ends_its_worker_and_the_next_job_has_its_turn(
    runs: Path, nursery: Nursery, make_spec: Callable[..., Any]
):
    folder = runs / actions.start(runs, make_spec(steps=20_000), nursery)
    wait_until(lambda: (told := read_job(folder).status) is not None and told.step > 0)
    first = psutil.Process(nursery.worker)
    nursery.patience = 300.0
    following = runs / actions.start(runs, make_spec(steps=4), nursery)
    wait_for(following, "queued")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)  # it may have written during the first
    wait_until(lambda: not first.is_running())
    wait_for(following, "finished")
    assert not folder.exists()
    assert [job.id for job in list_all(runs)] == [following.name]
