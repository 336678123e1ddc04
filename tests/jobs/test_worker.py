"""One attempt of the real worker: what it leaves behind, however it ends."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import CARD, SNAPSHOTS, WEIGHTS
from core.checkpoints.state import load_state
from core.checkpoints.store import load_checkpoint
from core.files import read_json
from core.jobs import actions, status
from core.jobs.state import Job, read_job
from core.jobs.status import RESERVE
from core.runs.folder import RUN, STATE
from core.runs.journal import read_metrics
from core.training.recipe import Overrides

Work = Callable[[Path], Job]
Start = Callable[..., Path]
AtStep = Callable[[int, Callable[[], Any]], None]
CLOCKS = ("seconds", "tokens_per_second")


def state_step(folder: Path) -> int:
    return load_state(folder / STATE)[1]["cursor"]["step"]


def assert_same_result(one: Path, other: Path) -> None:
    for name in (WEIGHTS, *(f"{SNAPSHOTS}/{step:06d}.safetensors" for step in (10, 20))):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    cards = [read_json(folder / CARD) for folder in (one, other)]
    assert cards[0]["figures"] == cards[1]["figures"]
    lines = [
        [{k: v for k, v in row.items() if k not in CLOCKS} for row in read_metrics(folder)]
        for folder in (one, other)
    ]
    assert lines[0] == lines[1]


def test_a_finished_job_is_a_checkpoint_and_tells_its_figures(start: Start, work: Work):
    folder = start(seed=3)
    job = work(folder)
    assert (job.state, job.progress, job.message) == ("finished", 1.0, "")
    assert load_checkpoint(folder).card["seed"] == 3
    told = job.status
    assert told is not None
    assert (told.step, told.n_steps, told.saved_step) == (20, 20, 20)
    assert told.figures == read_json(folder / CARD)["figures"]
    assert set(told.figures or {}) == {"held_out", "dev"}  # the test file has no answers
    assert told.n_parameters == load_checkpoint(folder).model.n_parameters
    assert not {RUN, STATE, RESERVE} & {path.name for path in folder.iterdir()}
    command = read_json(folder / CARD)["command"]
    begin = "python -m core jobs start --preset tiny --steps 20 --seed 3"
    assert command == f"{begin} --threads 1"


@pytest.mark.parametrize("attention", ["elu", "favor", "taylor"])
def test_linear_attention_is_trained_and_answers(start: Start, work: Work, attention: str):
    folder = start(overrides=Overrides(attention=attention), steps=4)
    job = work(folder)
    assert (job.state, job.message) == ("finished", "")
    assert load_checkpoint(folder).model.shape.mechanism == attention
    assert f"--attention {attention}" in read_json(folder / CARD)["command"]


def test_metrics_and_status_hold_what_a_page_shows(
    start: Start, work: Work, capfd: pytest.CaptureFixture[str]
):
    folder = start()
    told = work(folder).status
    rows = read_metrics(folder)
    assert [row["step"] for row in rows] == list(range(2, 21, 2))
    assert {row["phase"] for row in rows} == {"mixed", "answers"}
    assert all(row["tokens_per_second"] > 0 for row in rows)
    assert [row["step"] for row in rows if "held_out" in row] == [4, 8, 12, 16, 20]
    assert rows[-1]["held_out"] == {"correct": rows[-1]["held_out"]["correct"], "total": 2}
    assert told is not None
    assert told.sample is not None
    assert told.sample["question"].startswith("Where was ")
    assert told.sample["answer"] == rows[-1]["sample"]
    assert told.sample["expected"] in ("Lagos", "Kyoto", "Lima")
    assert told.baseline is not None
    assert told.baseline["answer"] in ("Lagos", "Kyoto", "Lima")
    assert told.baseline["accuracy"] in (0.0, 0.5, 1.0)
    assert (told.tokens, told.loss) == (rows[-1]["tokens"], rows[-1]["loss"])
    assert "step 20 of 20 (answers)" in capfd.readouterr().err  # the launcher makes this log.txt


def test_stopped_between_two_steps_and_resumed_equals_never_stopped(
    start: Start, work: Work, at_step: AtStep, runs: Path, launcher: Any
):
    whole, folder = start(), start()
    assert work(whole).state == "finished"
    at_step(7, lambda: actions.stop(runs, folder.name))
    job = work(folder)
    assert (job.state, job.message) == ("stopped", "stopped as asked")
    assert (job.status and job.status.saved_step, state_step(folder)) == (7, 7)
    actions.resume(runs, folder.name, launcher)
    assert read_job(folder).state == "queued"
    assert work(folder).state == "finished"
    assert_same_result(folder, whole)


def test_a_termination_signal_stops_like_a_request(
    start: Start, work: Work, at_step: AtStep, runs: Path, launcher: Any
):
    whole, folder = start(), start()
    work(whole)
    at_step(4, lambda: signal.raise_signal(signal.SIGTERM))
    assert work(folder).state == "stopped"
    assert state_step(folder) == 4
    actions.resume(runs, folder.name, launcher)
    work(folder)
    assert_same_result(folder, whole)


def test_a_second_signal_ends_at_once_without_a_half_step(
    start: Start, work: Work, at_step: AtStep, save_always: None
):
    folder = start()

    def twice() -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)

    at_step(4, twice)
    job = work(folder)
    assert (job.state, job.message) == ("stopped", "interrupted before it could save")
    assert state_step(folder) == 3


def test_a_stop_at_the_last_step_leaves_only_the_measuring(
    start: Start, work: Work, at_step: AtStep, runs: Path, launcher: Any
):
    whole, folder = start(), start()
    work(whole)
    at_step(20, lambda: actions.stop(runs, folder.name))
    assert work(folder).state == "stopped"
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
    assert_same_result(folder, whole)


def test_a_job_that_died_after_it_was_finished_is_finished(
    start: Start, work: Work, monkeypatch: pytest.MonkeyPatch, runs: Path, launcher: Any
):
    folder = start()

    def die(*_: object, **__: object) -> None:
        raise SystemExit  # as if it were killed before its last words

    with monkeypatch.context() as broken:
        broken.setattr(status.Reporter, "close", die)
        with pytest.raises(SystemExit):
            work(folder)
    (folder / STATE).write_bytes(b"left over")
    assert read_job(folder).state == "lost"
    actions.resume(runs, folder.name, launcher)
    job = work(folder)
    assert (job.state, (folder / STATE).exists()) == ("finished", False)
    assert job.status is not None
    assert job.status.figures == read_json(folder / CARD)["figures"]
