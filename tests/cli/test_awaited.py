"""`seeds` and `ablation` with --on: one sweep, told at once, waited for, and the same table."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from core.cli import awaited, table_sweeps, tables
from core.jobs.estimate import TrainingEstimate
from core.jobs.folder import LOCK, read_ticket
from core.jobs.locks import take
from core.jobs.state import list_all
from core.jobs.status import Reporter
from core.jobs.submission import SCRIPT
from core.training.presets import PRESETS
from core.training.recipe import Recipe
from core.training.variation import Variation
from tests.cli.test_sweeps import runs, work
from tests.fake_slurm import calls, put_programs

__all__ = ["runs"]
Run = Callable[..., Any]
Meanwhile = Callable[[Callable[[int], None]], None]
SEEDS = ("seeds", "--preset", "tiny", "--steps", 4, "--seeds", 5, 3)
HERE = ("--on", "local")


@pytest.fixture
def launcher(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches nothing, however many threads are asked for."""

    class Launcher:
        patience = 30.0

        def obstacle(self) -> str | None:
            return None

        def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
            pass

    monkeypatch.setattr("core.jobs.places.LocalLauncher", Launcher)


@pytest.fixture
def meanwhile(launcher: None, monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """What happens at each wait, which is none: it is told the number of the wait, from 1."""

    def set_(act: Callable[[int], None]) -> None:
        n_waits = 0

        def sleep(_seconds: float) -> None:
            nonlocal n_waits
            n_waits += 1
            act(n_waits)

        monkeypatch.setattr(awaited.time, "sleep", sleep)

    return set_


def ids_of(runs: Path) -> list[str]:
    """In the order of the queue."""
    return [job.id for job in list_all(runs)][::-1]


def train_one(runs: Path) -> Callable[[int], None]:
    return lambda number: work(runs, ids_of(runs)[number - 1 : number])


def end(folder: Path, state: str, message: str = "") -> None:
    """As if its worker had said so."""
    Reporter(folder, read_ticket(folder).attempt).write(state=state, message=message)


def test_seeds_are_one_sweep_that_is_told_at_once_waited_for_and_read(
    run: Run, runs: Path, meanwhile: Meanwhile, tmp_path: Path
):
    meanwhile(train_one(runs))
    out = tmp_path / "seeds.json"
    done = run(*SEEDS, *HERE, "--out", out, "--json")
    table = done.report
    (sweep_id,) = {job.sweep.id for job in list_all(runs) if job.sweep is not None}
    first, *lines = [line for line in done.err.splitlines() if line.startswith(sweep_id)]
    assert first.startswith(f"{sweep_id}: 2 trainings are in the queue; they go on without this")
    assert first.endswith(f"made by python -m core seeds --out {out} --sweep {sweep_id}")
    assert lines == [
        f"{sweep_id}: 0 of 2 have finished, 2 wait",
        f"{sweep_id}: 1 of 2 have finished, 1 waits",
        f"{sweep_id}: 2 of 2 have finished",
    ]
    assert [(row["seed"], row["n_steps"]) for row in table["runs"]] == [(3, 4), (5, 4)]
    written = out.read_text()
    assert run("seeds", "--sweep", sweep_id, "--out", out, "--json").report == table
    assert out.read_text() == written


def test_minutes_of_seeds_become_steps_once_and_here(
    run: Run, runs: Path, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch
):
    asked: list[float | None] = []

    def measure(spec: Any) -> TrainingEstimate:
        asked.append(spec.minutes)
        return TrainingEstimate(
            n_parameters=1, n_steps=4, steps_per_second=1, tokens_per_second=1, seconds=4
        )

    monkeypatch.setattr(table_sweeps, "estimate", measure)
    meanwhile(train_one(runs))
    seeds = ("seeds", "--preset", "tiny", "--seeds", 0, 1, "--minutes", 2)
    done = run(*seeds, *HERE, "--out", runs.parents[1] / "seeds.json", "--json")
    assert [row["n_steps"] for row in done.report["runs"]] == [4, 4]
    assert asked == [2.0]
    assert done.err.startswith("2 minutes are about 4 steps here: each seed has as many\n")


@pytest.mark.parametrize("length", [("--minutes", 1.5), ("--steps", 4)])
def test_rows_of_an_ablation_are_a_job_each(
    run: Run,
    runs: Path,
    meanwhile: Meanwhile,
    length: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
    recipe: Recipe,
):
    one, other = (replace(recipe, name=name, n_snapshots=0) for name in ("one", "other"))
    rows = (
        Variation(label="all", differs="nothing", recipe=one),
        Variation(label="AdamW", differs="optimizer", recipe=replace(other, optimizer="adamw")),
    )
    monkeypatch.setitem(tables.ABLATIONS, "pretraining", (rows, "ablation.json"))
    for row in rows:
        monkeypatch.setitem(PRESETS, row.recipe.name, row.recipe)
    steps = iter((4, 6))  # a slow and a quick moment of the machine
    monkeypatch.setattr("core.runs.run.steps_for_minutes", lambda *_, **__: next(steps))
    meanwhile(train_one(runs))
    out = ("--out", runs.parents[1] / "table.json")
    done = run("ablation", *HERE, "--seed", 2, *length, *out, "--json")
    table = done.report
    assert "python -m core ablation --of pretraining --out" in done.err
    assert [job.name for job in list_all(runs)][::-1] == [
        "ablation of pretraining · one",
        "ablation of pretraining · other",
    ]
    assert [row["label"] for row in table["runs"]] == ["all", "AdamW"]
    in_minutes = length[0] == "--minutes"
    assert (table["seed"], table["minutes"]) == (2, 1.5 if in_minutes else None)
    assert [row["n_steps"] for row in table["runs"]] == ([4, 6] if in_minutes else [4, 4])
    (sweep_id,) = {job.sweep.id for job in list_all(runs) if job.sweep is not None}
    assert run("ablation", "--sweep", sweep_id, *out, "--json").report == table


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("failed", "is failed (the disk is full): let it go on with jobs resume"),
        ("stopped", "is stopped (cancelled): let it go on with jobs resume"),
        ("removed", "was removed: the table needs it, start anew"),
    ],
)
def test_a_job_that_ends_otherwise_ends_the_wait_with_its_name(
    run: Run, runs: Path, meanwhile: Meanwhile, state: str, said: str
):
    locks: list[FileLock] = []

    def harm(number: int) -> None:
        last = runs / ids_of(runs)[-1]
        if number == 1:
            locks.append(take(last / LOCK, seconds=0))
            end(last, "running")
            return
        locks.pop().release()
        if state == "removed":
            shutil.rmtree(last)
        else:
            end(last, state, {"failed": "the disk is full", "stopped": "cancelled"}[state])

    meanwhile(harm)
    out = runs.parents[1] / "seeds.json"
    done = run(*SEEDS, *HERE, "--out", out)
    assert said in done.error
    assert "0 of 2 have finished, 1 runs, 1 waits" in done.err
    left = ids_of(runs)
    assert len(left) == (1 if state == "removed" else 2)
    if state != "removed":
        assert f"job {left[-1]}, tiny · seed 3, is" in done.error
        assert "once all have finished, make the table with --sweep sweep-" in done.error
    assert not out.exists()


def test_the_end_of_the_terminal_leaves_the_jobs_and_says_how_to_go_on(
    run: Run, runs: Path, meanwhile: Meanwhile
):
    def interrupt(_number: int) -> None:
        raise KeyboardInterrupt

    meanwhile(interrupt)
    done = run(*SEEDS, *HERE)
    assert (done.status, done.out) == (130, "")
    said, last = done.err.splitlines()[-2:]
    assert said.startswith("they go on; the table is made later with --sweep sweep-")
    assert last == "interrupted"
    assert [job.state for job in list_all(runs)] == ["queued", "queued"]


def test_seeds_are_one_array_of_the_cluster(
    run: Run,
    runs: Path,
    meanwhile: Meanwhile,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    (tmp_path / "cluster.toml").write_text('time = "2:00:00"\n')
    monkeypatch.setenv("EXPLORER_CLUSTER", str(tmp_path / "cluster.toml"))
    slurm = put_programs(tmp_path / "slurm", monkeypatch)

    def see_the_end(_number: int) -> None:
        for job_id in ids_of(runs):
            end(runs / job_id, "failed", "no module named torch")

    meanwhile(see_the_end)
    asked = ("--on", "slurm", "--partition", "gpu", "--gpus", 1, "--device", "auto")
    assert "no module named torch" in run(*SEEDS, *asked).error
    assert len(calls(slurm, "sbatch")) == 1
    for job in list_all(runs):
        lines = (runs / job.id / SCRIPT).read_text().splitlines()
        assert {"#SBATCH --array=0-1", "#SBATCH --partition=gpu"} <= {*lines}
        assert (job.on, job.device) == ("slurm", "cuda")
    in_minutes = ("seeds", "--preset", "tiny", "--seeds", 0, 1, "--on", "slurm")
    assert "--steps is needed: all seeds have as many" in run(*in_minutes).error


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((*HERE, "--sweep", "sweep-x"), "--on trains, --sweep reads what was trained"),
        (("--time", "1:00:00"), "--time is a cluster's matter: it goes with --on slurm"),
        ((*HERE, "--time", "1:00:00"), "--time is a cluster's matter: it goes with --on slurm"),
        ((*HERE, "--corpus", "/"), "jobs read the course's files from A5_DATA: set it, not"),
        ((*HERE, "--seeds", 1), "a sweep of one training: name several seeds"),
        ((*HERE, "--device", "cuda:7"), "device 'cuda:7' is not at hand here; devices: cpu"),
        (("--device", "cuda:7"), "torch sees no CUDA device here; devices: cpu"),
        (("--device", "gpu"), "argument --device: unknown device 'gpu'"),
        (("--on", "slurm"), "there is no cluster here: sbatch is needed"),
    ],
)
def test_what_cannot_be_is_refused_and_starts_nothing(
    run: Run,
    runs: Path,
    launcher: None,
    asked: tuple[object, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv("EXPLORER_CLUSTER", raising=False)
    assert message in run(*SEEDS, *asked).error
    assert list_all(runs) == []
