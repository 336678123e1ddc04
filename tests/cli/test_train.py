"""`train`: what is on disk at each moment is enough to go on, and nothing else is written over."""

import json
import re
import shlex
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from core.checkpoints.shelf import CARD, SNAPSHOTS, WEIGHTS, snapshot_steps
from core.checkpoints.store import load_checkpoint
from core.cli import train
from core.runs import loop as run_loop
from core.runs import run as run_driver
from tests.with_task import gpt_of

Run = Callable[..., Any]
N_STEPS = 10


def start(run: Run, folder: Path, *more: object) -> Any:
    return run("train", "--preset", "tiny", "--steps", N_STEPS, "--out", folder, "--json", *more)


def assert_same_result(one: Path, other: Path) -> None:
    for path in (WEIGHTS, *(f"{SNAPSHOTS}/{step:06d}.safetensors" for step in (5, 10))):
        assert (one / path).read_bytes() == (other / path).read_bytes()
    cards = [json.loads((folder / CARD).read_text()) for folder in (one, other)]
    assert cards[0]["figures"] == cards[1]["figures"]
    assert cards[0]["snapshots"] == cards[1]["snapshots"]


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def saved_step(folder: Path) -> int:
    with safe_open(folder / train.STATE, framework="pt") as file:
        return json.loads(file.metadata()["meta"])["cursor"]["step"]


def test_a_finished_run_is_a_checkpoint_with_a_card(run: Run, tmp_path: Path):
    folder = tmp_path / "new" / "run"
    card = start(run, folder, "--seed", 3).report
    names = ["card.json", "config.json", "model.safetensors", "snapshots", "vocabulary.json"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert snapshot_steps(folder) == [5, 10]
    stored = load_checkpoint(folder, snapshot=10)
    assert torch.equal(gpt_of(stored).head.weight, gpt_of(load_checkpoint(folder)).head.weight)
    assert (card["seed"], card["n_steps"], card["recipe"]["name"]) == (3, N_STEPS, "tiny")
    command = "python -m core train --preset tiny --steps 10 --seed 3 --out checkpoints/run"
    assert card["command"] == command
    assert set(card["figures"]) == {"held_out", "dev", "test"}
    assert [entry["step"] for entry in stored.card["snapshots"]] == [5, 10]
    for key in ("data_sha256", "seconds", "machine", "n_parameters"):
        assert card[key]


def test_a_tuning_run_measures_held_out_questions_only(run: Run, tmp_path: Path):
    card = start(run, tmp_path / "run", "--tuning").report
    assert set(card["figures"]) == {"held_out"}
    assert "snapshots" not in card
    assert "--tuning" in card["command"]
    refused = run("train", "--resume", tmp_path / "run", "--tuning")
    assert refused.status == 2
    assert "--tuning is fixed since the run began" in refused.err


def test_progress_goes_to_standard_error(run: Run, tmp_path: Path):
    outcome = start(run, tmp_path / "run")
    assert outcome.report["n_steps"] == N_STEPS
    assert "step 10 of 10 (answers)" in outcome.err
    assert "held-out" in outcome.err


def test_a_trained_checkpoint_answers(run: Run, trained: Path):
    report = run("ask", "--checkpoint", trained, "--json", "Where was Ada Arden born?").report
    assert isinstance(report["answer"], str)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_in_the_middle_of_a_step_and_resumed_equals_never_stopped(
    run: Run, at_step: Any, trained: Path, tmp_path: Path, number: signal.Signals
):
    folder = tmp_path / "stopped"
    before = signal.getsignal(number)
    at_step(4, lambda: signal.raise_signal(number))
    assert start(run, folder).error == f"error: stopped; continue with --resume {folder}"
    assert saved_step(folder) == 4  # the step under way was finished
    assert signal.getsignal(number) is before
    assert not (folder / CARD).exists()
    assert run("train", "--resume", folder, "--json").report["n_steps"] == N_STEPS
    assert_same_result(folder, trained)


def test_a_second_interrupt_stops_at_once_and_saves_no_half_step(
    run: Run, at_step: Any, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "stopped"
    at_step(4, lambda: (interrupt(), interrupt()))
    monkeypatch.setattr(run_loop, "SAVE_EVERY_SECONDS", -1.0)
    outcome = start(run, folder)
    assert (outcome.status, outcome.err.splitlines()[-1]) == (130, "interrupted")
    assert saved_step(folder) == 3
    assert run("train", "--resume", folder).status == 0
    assert_same_result(folder, trained)


@pytest.mark.parametrize("every", [-1.0, 60.0])
def test_a_run_that_died_goes_on_from_its_last_save_or_from_the_start(
    run: Run, at_step: Any, trained: Path, tmp_path: Path, monkeypatch: Any, every: float
):
    def die() -> None:
        raise MemoryError

    folder = tmp_path / "died"
    monkeypatch.setattr(run_loop, "SAVE_EVERY_SECONDS", every)
    at_step(7, die)
    with pytest.raises(MemoryError):
        start(run, folder)
    assert saved_step(folder) == (6 if every < 0 else 0)
    assert run("train", "--resume", folder).status == 0
    assert_same_result(folder, trained)


def test_a_run_that_died_while_it_was_measured_is_only_measured_again(
    run: Run, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "died"

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(run_driver, "finish_card", fail)
        assert "No space left on device" in start(run, folder).error
    assert saved_step(folder) == N_STEPS
    outcome = run("train", "--resume", folder)
    assert outcome.status == 0
    assert "step 10 of 10" not in outcome.err
    assert_same_result(folder, trained)
    assert not (folder / train.STATE).exists()


@pytest.mark.parametrize(("every", "kept"), [(-1.0, "the last good state"), (60.0, "nothing")])
def test_a_loss_that_is_no_number_keeps_the_last_good_state(
    run: Run, at_step: Any, tmp_path: Path, monkeypatch: Any, every: float, kept: str
):
    def spoil() -> None:
        nan = torch.tensor(torch.nan)
        monkeypatch.setattr(torch.nn.functional, "cross_entropy", lambda *_, **__: nan)

    monkeypatch.setattr(run_loop, "SAVE_EVERY_SECONDS", every)
    at_step(4, spoil)
    error = start(run, tmp_path / "run").error
    assert error.startswith(f"error: the loss is nan at step 4; {kept}")
    if every < 0:
        assert saved_step(tmp_path / "run") == 3


def test_resume_refuses_a_changed_corpus(run: Run, at_step: Any, tmp_path: Path, people_file: Path):
    at_step(2, interrupt)
    assert "stopped" in start(run, tmp_path / "run").error
    table = people_file.read_text(encoding="utf-8")
    people_file.write_text(table.replace("Kyoto", "Osaka", 1), encoding="utf-8")
    error = run("train", "--resume", tmp_path / "run").error
    assert error.endswith("the corpus has changed since this run began")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_steps": 10**12}, "run.json: n_steps is 1000000000000; whole numbers from 1 to 100,"),
        ({"seed": 2**62}, "run.json: seed is 4611686018427387904; whole numbers from 0 to"),
        (
            {"recipe": {"n_layers": 10**12}},
            "run.json: n_layers is 1000000000000; it must .* 512",
        ),
        ({"recipe": {"width": 8000}}, "run.json: 1 layers of width 8000 .* at most 200 million"),
        ({"recipe": {"n_snapshots": 10**12}}, "run.json: n_snapshots is 1000000000000; whole num"),
        ({"recipe": {"depth": 3}}, "run.json: not a recipe: .*depth"),
    ],
)
def test_resume_refuses_sizes_that_no_run_began_with(
    run: Run, at_step: Any, tmp_path: Path, change: dict[str, Any], message: str
):
    at_step(2, interrupt)
    assert "stopped" in start(run, tmp_path / "run").error
    settings = json.loads((tmp_path / "run" / train.RUN).read_text())
    recipe = {**settings["recipe"], **change.get("recipe", {})}
    (tmp_path / "run" / train.RUN).write_text(json.dumps({**settings, **change, "recipe": recipe}))
    assert re.search(message, run("train", "--resume", tmp_path / "run").error)


def test_resume_refuses_a_state_larger_than_its_model_can_have(
    run: Run, at_step: Any, tmp_path: Path
):
    at_step(2, interrupt)
    assert "stopped" in start(run, tmp_path / "run").error
    save_file({"model.a": torch.zeros(10_000_000)}, tmp_path / "run" / train.STATE)
    error = run("train", "--resume", tmp_path / "run").error
    assert re.search(r"state\.safetensors: 40,000,\d+ bytes; at most 16,\d+,\d+ are read", error)


def test_what_is_fixed_by_the_run_cannot_be_given_with_resume(
    run: Run, at_step: Any, tmp_path: Path
):
    at_step(2, interrupt)
    assert "stopped" in start(run, tmp_path / "run").error
    for option in ("--steps", "--minutes", "--seed", "--out"):
        error = run("train", "--resume", tmp_path / "run", option, 5).error
        assert error == f"error: {option} is fixed since the run began; leave it out"


def test_a_finished_run_cannot_be_resumed_nor_written_over(run: Run, trained: Path):
    before = {path: path.read_bytes() for path in trained.rglob("*.*") if path.is_file()}
    assert run("train", "--resume", trained).error == f"error: {trained}: this run is finished"
    error = start(run, trained).error
    assert error == f"error: {trained} already holds a checkpoint: name another folder"
    assert {p: p.read_bytes() for p in trained.rglob("*.*") if p.is_file()} == before


def test_weights_that_are_not_shipped_are_trained_again_in_their_folder(run: Run, trained: Path):
    before = (trained / WEIGHTS).read_bytes()
    (trained / WEIGHTS).unlink()
    assert run("train", "--preset", "tiny", "--steps", 10, "--out", trained).status == 0
    assert (trained / WEIGHTS).read_bytes() == before
    assert not (trained / train.RUN).exists()


def test_a_stopped_run_is_not_started_again_by_mistake(run: Run, at_step: Any, tmp_path: Path):
    folder = tmp_path / "run"
    at_step(2, interrupt)
    assert "stopped" in start(run, folder).error
    assert start(run, folder).error.endswith(f"continue it with --resume {folder}")


def test_hints_can_be_typed_as_they_stand(run: Run, at_step: Any, tmp_path: Path):
    folder = tmp_path / "Ada's  run"
    at_step(2, interrupt)
    for error in (start(run, folder).error, start(run, folder).error):  # stopped; begun already
        *_, option, named = shlex.split(error.partition("continue")[2])
        assert (option, named) == ("--resume", str(folder))
    card = run("train", "--resume", folder, "--json").report
    words = shlex.split(card["command"])
    assert words[:3] == ["python", "-m", "core"]
    assert words[-2:] == ["--out", "checkpoints/Ada's  run"]


def test_a_folder_without_a_run_cannot_be_resumed(run: Run, tmp_path: Path):
    assert run("train", "--resume", tmp_path).error == f"error: {tmp_path}: no run is here"
    (tmp_path / train.RUN).write_text('{"seed": 0}')
    error = run("train", "--resume", tmp_path).error
    assert (
        "run.json: recipe, n_steps, data_sha256, command, corpus_folder, tuning is missing" in error
    )


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (("--steps", 0), "steps is 0; whole numbers from 1 to 100,000,000 are allowed"),
        (("--steps", 10**12), "steps is 1000000000000; whole numbers from 1 to 100,000,000"),
        (("--minutes", 0), "0.0 minutes: a number above 0"),
        (("--minutes", "nan"), "minutes is nan; numbers from 0.0 to 525,600.0 are allowed"),
        (("--minutes", "1e300"), "minutes is 1e+300; numbers from 0.0 to 525,600.0"),
        (
            ("--seed", 10**30),
            "seed is 1000000000000000000000000000000; whole numbers from 0",
        ),
        (("--seed", -1), "seed is -1; whole numbers from 0 to 2,147,483,647"),
    ],
)
def test_a_run_of_no_length_leaves_no_folder(
    run: Run, tmp_path: Path, length: tuple[object, ...], message: str
):
    folder = tmp_path / "run"
    assert message in run("train", "--preset", "tiny", "--out", folder, *length).error
    assert not folder.exists()


def test_minutes_become_a_number_of_steps_in_the_card(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        run_driver, "steps_for_minutes", lambda make, minutes, **_: round(4 * minutes)
    )
    made = run("train", "--preset", "tiny", "--minutes", 1, "--out", tmp_path / "a", "--json")
    card = made.report
    assert card["n_steps"] == 4
    command = "python -m core train --preset tiny --steps 4 --seed 0 --out checkpoints/a"
    assert card["command"] == command


@pytest.mark.parametrize("name", [train.STATE, train.RUN])
def test_a_run_that_lost_its_state_or_itself_is_not_begun_again_over_what_is_left(
    run: Run, at_step: Any, tmp_path: Path, name: str
):
    folder = tmp_path / "run"
    at_step(7, interrupt)
    assert "stopped" in start(run, folder).error
    (folder / name).rename(tmp_path / name)
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    assert len(before) > 1  # a snapshot among them
    error = run("train", "--resume", folder).error
    why = "and the training had begun: put the file back, or train anew"
    assert error.startswith(f"error: {folder}: {name} is missing, {why}")
    assert ("already holds a run" if name == train.STATE else why) in start(run, folder).error
    assert {p: p.read_bytes() for p in folder.rglob("*.*") if p.is_file()} == before
    (tmp_path / name).rename(folder / name)
    assert run("train", "--resume", folder).status == 0


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_run_whose_folder_is_removed_ends_after_its_step_and_leaves_the_name_alone(
    run: Run, at_step: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
):
    folder = tmp_path / "run"
    monkeypatch.setattr(run_loop, "SAVE_EVERY_SECONDS", -1.0)

    def remove() -> None:
        shutil.rmtree(folder)
        if is_replaced:
            folder.mkdir()
            (folder / train.RUN).write_text("{}")

    at_step(4, remove)
    outcome = start(run, folder)
    assert outcome.error.startswith(f"error: {folder} is gone (removed, renamed or replaced")
    assert [line for line in outcome.err.splitlines() if "step 4 of" in line] == []
    assert folder.exists() is is_replaced
    assert [path.name for path in folder.glob("*")] == [train.RUN] * is_replaced
