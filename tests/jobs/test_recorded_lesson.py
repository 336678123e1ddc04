"""The recorded lesson: what is shipped is whole, and what is recorded is read back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.jobs import actions
from core.jobs.launcher import Launcher
from core.jobs.lesson import lesson_specs
from core.jobs.recorded_lesson import read_recorded, recorded_of
from core.jobs.status import Reporter
from core.runs.journal import METRICS

ROW = {"step": 5, "phase": "recall", "loss": 1.23456, "tokens": 9, "seconds": 1.5, "rate": 1.0}


@pytest.fixture
def finished(runs: Path, launcher: Launcher) -> Callable[..., Path]:
    """The folder of a run of the lesson, as its worker would have left it."""

    def put(which: int = 0, **said: Any) -> Path:
        folder = runs / actions.start(runs, lesson_specs()[which], launcher)
        rows = [ROW | {"held_out": {"correct": 1, "total": 4}}]
        (folder / METRICS).write_text("".join(json.dumps(row) + "\n" for row in rows))
        figures = {"dev": {"correct": 3, "total": 4}}
        told: dict[str, Any] = {"step": 5, "n_steps": 5, "n_parameters": 7, "figures": figures}
        Reporter(folder, 1).close("finished", "", **told | said)
        return folder

    return put


def test_what_is_shipped_are_both_runs_of_the_lesson():
    specs, found = lesson_specs(), read_recorded()
    for spec, run in zip(specs, found, strict=True):
        assert run.command.startswith(f"python -m core jobs start --preset {spec.preset} ")
        assert run.metrics[-1]["step"] == run.n_steps
        assert run.metrics[-1]["held_out"]["correct"] == run.figures["held_out"]["correct"]
        for name, value in spec.overrides.given().items():
            assert f"--{name.removeprefix('n_')} {value}" in run.command
    assert len({run.n_parameters for run in found}) == 1


def test_what_is_recorded_is_read_back(finished: Callable[..., Path], tmp_path: Path):
    path = tmp_path / "recorded.json"
    path.write_text(json.dumps(recorded_of([finished(0), finished(1)])))
    scratch, pretrained = read_recorded(path)
    assert (scratch.n_steps, scratch.figures) == (5, {"dev": {"correct": 3, "total": 4}})
    assert scratch.metrics[0]["loss"] == 1.2346
    assert "rate" not in scratch.metrics[0]
    assert "--steps 5" in pretrained.command
    job = pretrained.job(lesson_specs()[1])
    assert (job.state, job.name) == ("finished", lesson_specs()[1].name)


def test_a_run_that_has_not_finished_is_not_recorded(
    runs: Path, launcher: Launcher, finished: Callable[..., Path]
):
    folder = runs / actions.start(runs, lesson_specs()[0], launcher)
    with pytest.raises(ValueError, match=f"{folder.name} is .*; a finished training is needed"):
        recorded_of([finished(), folder])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": None}, "runs: a list of 2 runs is needed"),
        ({"runs": [1, 2]}, "a run is 1, an object is needed"),
        ({"runs": [{}, {}]}, "recorded.json: .*command"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, change: dict[str, Any], message: str):
    path = tmp_path / "recorded.json"
    path.write_text(json.dumps(change))
    with pytest.raises(ValueError, match=message):
        read_recorded(path)


def test_a_line_without_a_loss_is_refused(tmp_path: Path, finished: Callable[..., Path]):
    data = recorded_of([finished(0), finished(1)])
    del data["runs"][1]["metrics"][0]["loss"]
    path = tmp_path / "recorded.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="recorded.json: metrics.jsonl, line 1: loss is missing"):
        read_recorded(path)
