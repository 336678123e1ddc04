"""Sweeps: what they are made of, started all or none, and stopped, resumed and removed as one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.files import read_json
from core.jobs import actions
from core.jobs.folder import SWEEP, is_sweep_id, read_ticket
from core.jobs.keep import keep
from core.jobs.spec import TrainSpec
from core.jobs.state import Job, list_jobs, read_job
from core.jobs.status import Reporter
from core.jobs.sweeps import (
    Sweep,
    jobs_of_sweep,
    make_sweep,
    remove_sweep,
    resume_sweep,
    several,
    stop_sweep,
)
from core.training.presets import PRESETS
from core.training.recipe import Overrides

Make = Callable[..., Sweep]
GONE = "sweep-20260131-235959-0a1b2c"


@pytest.fixture
def make(make_spec: Callable[..., TrainSpec]) -> Make:
    """A sweep of 20 steps of the preset `tiny`."""
    make_spec()

    def made(presets: Sequence[str] = ("tiny",), **options: Any) -> Sweep:
        given: dict[str, Any] = {"steps": 20, "threads": 1, **options}
        return make_sweep(presets, **given)

    return made


@pytest.fixture
def put(runs: Path, launcher: Any, make: Make) -> Callable[..., tuple[str, list[Path]]]:
    """Put a sweep into the queue; returns its id and the folders of its jobs."""

    def put_(**options: Any) -> tuple[str, list[Path]]:
        sweep = make(**{"seeds": (0, 1, 2), **options})
        sweep_id, ids = actions.start_sweep(runs, sweep.specs, launcher, name=sweep.name)
        return sweep_id, [runs / one for one in ids]

    return put_


def end(folder: Path, state: str) -> None:
    """As if its worker had said so."""
    Reporter(folder, read_ticket(folder).attempt).write(state=state)


def states(jobs: list[Job]) -> list[str]:
    return [job.state for job in jobs]


def test_a_seed_goes_through_all_rates_before_the_next_does(make: Make):
    sweep = make(seeds=(0, 5), learning_rates=(0.01, 3e-4), name=" mine ")
    assert sweep.name == "mine"
    assert [(spec.seed, spec.overrides.learning_rate) for spec in sweep.specs] == [
        (0, 0.01),
        (0, 3e-4),
        (5, 0.01),
        (5, 3e-4),
    ]
    assert [spec.name for spec in sweep.specs][1:3] == [
        "mine · rate 0.0003 · seed 0",
        "mine · rate 0.01 · seed 5",
    ]
    assert {spec.steps for spec in sweep.specs} == {20}


def test_what_is_not_varied_is_in_no_title_and_stays_as_it_was_given(make: Make):
    first, second = make(seeds=(3, 1), overrides=Overrides(width=8, learning_rate=0.5)).specs
    assert (first.name, second.name) == ("tiny · seed 3", "tiny · seed 1")
    assert first.overrides == second.overrides == Overrides(width=8, learning_rate=0.5)
    assert {spec.name for spec in make(seeds=(4,), learning_rates=(0.1, 0.2)).specs} == {
        "tiny · rate 0.1",
        "tiny · rate 0.2",
    }


def test_presets_are_varied_as_well(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(PRESETS, "other", replace(PRESETS["tiny"], name="other"))
    sweep = make(("tiny", "other"), seeds=(0, 1))
    assert sweep.name == "tiny, other"
    assert [spec.name for spec in sweep.specs][:2] == ["tiny · seed 0", "other · seed 0"]
    named = make(("tiny", "other"), name="both").specs
    assert [spec.name for spec in named] == ["both · tiny", "both · other"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "a sweep of one training: name several seeds or several learning rates"),
        ({"seeds": (1, 2, 1)}, "seed 1 is named twice"),
        ({"learning_rates": (0.1, 0.10)}, "learning rate 0.1 is named twice"),
        ({"presets": ("tiny", "tiny")}, "preset tiny is named twice"),
        ({"seeds": (0, -1)}, "seed -1: a whole number from 0"),
        ({"learning_rates": (0.1, 2.0)}, "learning rate 2.0: more than 0 and at most 1"),
        ({"seeds": range(41)}, "41 trainings: a sweep has at most 40"),
        ({"seeds": (0, 1), "name": "x" * 75}, "1 to 80 printable characters are needed"),
        (
            {"learning_rates": (0.1, 0.2), "overrides": Overrides(learning_rate=0.1)},
            "one learning rate and several are named: leave out one of both",
        ),
    ],
)
def test_what_is_no_sweep_is_refused(make: Make, options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        make(**options)


def test_several_values_are_typed_with_spaces_or_commas():
    assert several(" 0 1,2, 3 ", int, what="seeds", example="0 1 2") == [0, 1, 2, 3]
    assert several("1e-2 .003", float, what="rates", example="0.1") == [0.01, 0.003]
    assert several(" ", int, what="seeds", example="0 1 2") == []
    with pytest.raises(ValueError, match="seeds: '1.5' cannot be read; write 0 1 2"):
        several("0 1.5", int, what="seeds", example="0 1 2")


def test_all_jobs_are_there_at_once_in_the_order_of_the_sweep(
    put: Callable[..., tuple[str, list[Path]]], runs: Path, launcher: Any
):
    sweep_id, folders = put(name="mine")
    assert is_sweep_id(sweep_id)
    assert launcher.launched == folders == sorted(folders)
    assert [read_ticket(folder).order for folder in folders] == [1, 2, 3]
    for folder in folders:
        assert read_json(folder / SWEEP) == {"id": sweep_id, "name": "mine"}
    jobs = jobs_of_sweep(runs, sweep_id)
    assert [job.spec.seed for job in jobs if job.spec] == [0, 1, 2]
    assert [job.row()["sweep"] for job in jobs] == [sweep_id] * 3
    assert [job.place for job in jobs] == [1, 2, 3]


def test_a_job_alone_belongs_to_no_sweep_and_a_damaged_name_is_said(
    start: Callable[..., Path], runs: Path
):
    folder = start()
    assert read_job(folder).sweep is None
    (folder / SWEEP).write_text('{"id": "../x", "name": "mine"}')
    assert "'../x' is no id of a sweep" in read_job(folder).message
    (folder / SWEEP).write_text('{"id": 3, "name": "mine"}')
    assert "id is 3, a text is needed" in read_job(folder).message


def test_a_queue_without_room_for_all_takes_none(
    put: Callable[..., tuple[str, list[Path]]], runs: Path, monkeypatch: pytest.MonkeyPatch
):
    put()
    monkeypatch.setattr(actions, "MOST_IN_SWEEPS", 5)
    with pytest.raises(ValueError, match="3 jobs beside 3 jobs of sweeps that wait: at most 5 may"):
        put()
    assert len(list_jobs(runs)) == 3
    put(seeds=(7, 8))
    assert len(list_jobs(runs)) == 5


def test_a_sweep_keeps_no_job_out_that_stands_alone(
    put: Callable[..., tuple[str, list[Path]]],
    start: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(actions, "MOST_WAITING", 1)
    put()
    start()
    with pytest.raises(ValueError, match="1 jobs are waiting already"):
        start()
    put()


def test_a_disk_without_room_for_all_takes_none(
    put: Callable[..., tuple[str, list[Path]]],
    start: Callable[..., Path],
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    start()
    usage = actions.shutil.disk_usage(runs)
    monkeypatch.setattr(
        actions.shutil, "disk_usage", lambda _: usage._replace(free=2.5 * actions.LEAST_FREE_BYTES)
    )
    with pytest.raises(ValueError, match="the disk has 500 MB left; 3 jobs need 600 MB"):
        put()
    put(seeds=(0, 1))
    assert len(list_jobs(runs)) == 3


def test_a_quota_is_asked_once_for_all(make: Make, runs: Path, launcher: Any):
    asked: list[int] = []

    def refuse(jobs: list[Job]) -> None:
        asked.append(len(jobs))
        raise ValueError("no more for you")

    specs = make(seeds=(0, 1)).specs
    with pytest.raises(ValueError, match="no more for you"):
        actions.start_sweep(runs, specs, launcher, name="mine", allow=refuse)
    assert (asked, list_jobs(runs)) == ([0], [])


def test_a_launch_that_fails_half_way_leaves_no_job_of_the_sweep(make: Make, runs: Path):
    class Broken:
        patience = 30.0

        def obstacle(self) -> str | None:
            return None

        def launch(self, folder: Path, *, threads: int) -> None:
            raise AssertionError

        def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
            raise OSError(11, "Resource temporarily unavailable")

    with pytest.raises(OSError, match="temporarily unavailable"):
        actions.start_sweep(runs, make(seeds=(0, 1)).specs, Broken(), name="mine")
    assert [path.name for path in runs.iterdir() if path.is_dir()] == []


def test_a_stop_ends_those_that_wait_before_the_one_that_runs(
    put: Callable[..., tuple[str, list[Path]]], runs: Path, monkeypatch: pytest.MonkeyPatch
):
    sweep_id, folders = put()
    end(folders[0], "finished")
    stopped: list[str] = []
    real = actions.stop
    monkeypatch.setattr(
        actions, "stop", lambda root, one: (stopped.append(one), real(root, one))[1]
    )
    assert states(stop_sweep(runs, sweep_id)) == ["finished", "stopping", "stopping"]
    assert stopped == [folders[2].name, folders[1].name]
    for folder in folders[1:]:
        end(folder, "stopped")
    with pytest.raises(ValueError, match=f"no job of {sweep_id} waits or runs"):
        stop_sweep(runs, sweep_id)


def test_a_sweep_goes_on_with_what_has_not_finished(
    put: Callable[..., tuple[str, list[Path]]], runs: Path, launcher: Any
):
    def go_on(job: Job) -> None:
        actions.resume(runs, job.id, launcher)

    sweep_id, folders = put()
    with pytest.raises(ValueError, match="can go on: none has ended without finishing"):
        resume_sweep(runs, sweep_id, go_on)
    for folder, state in zip(folders, ("finished", "stopped", "failed"), strict=True):
        end(folder, state)
    assert states(resume_sweep(runs, sweep_id, go_on)) == [
        "finished",
        "queued",
        "queued",
    ]
    assert launcher.launched[3:] == folders[1:]
    assert [read_ticket(folder).attempt for folder in folders] == [1, 2, 2]


def test_a_sweep_is_removed_once_nobody_works_for_it(
    put: Callable[..., tuple[str, list[Path]]], start: Callable[..., Path], runs: Path
):
    sweep_id, folders = put()
    other = start()
    end(folders[0], "finished")
    with pytest.raises(ValueError, match=f"2 jobs of {sweep_id} wait or run: stop it first"):
        remove_sweep(runs, sweep_id)
    for folder in folders[1:]:
        end(folder, "stopped")
    assert len(remove_sweep(runs, sweep_id)) == 3
    assert [job.id for job in list_jobs(runs)] == [other.name]


@pytest.mark.parametrize(
    ("sweep_id", "message"), [(GONE, f"there is no sweep {GONE}"), ("../x", "no id of a sweep")]
)
def test_what_is_no_sweep_here_is_named(runs: Path, sweep_id: str, message: str):
    for act in (jobs_of_sweep, stop_sweep, remove_sweep):
        with pytest.raises(ValueError, match=message):
            act(runs, sweep_id)
    with pytest.raises(ValueError, match="is no id of a job"):
        keep(runs, sweep_id, "mine", checkpoints=runs)


def test_jobs_of_a_sweep_are_trained_stopped_and_kept_as_any_other(
    put: Callable[..., tuple[str, list[Path]]], work: Callable[[Path], Job], runs: Path
):
    _, (first, second, third) = put()
    actions.stop(runs, second.name)
    assert [work(folder).state for folder in (first, second, third)] == [
        "finished",
        "stopped",
        "finished",
    ]
    assert keep(runs, first.name, "mine", checkpoints=runs.parent).is_dir()
    actions.remove(runs, third.name)
    assert len(list_jobs(runs)) == 2
