"""Training: repeatable, resumable bit for bit, and honest when the loss is no number."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from core.checkpoints.state import load_state, save_state
from core.data.own_vocabulary import MASK_ID
from core.training.loop import Trainer
from core.training.recipe import Phase
from core.training.step import StepRecord, TrainingDivergedError

MakeTrainer = Callable[..., Trainer]


def frozen(trainer: Trainer) -> tuple[dict[str, Tensor], dict[str, int]]:
    """A copy of everything that a run goes on from."""
    tensors, cursor = trainer.state()
    return {name: tensor.clone() for name, tensor in tensors.items()}, cursor


def assert_equal(one: Trainer, other: Trainer) -> None:
    (tensors, cursor), (expected, place) = frozen(one), frozen(other)
    assert cursor == place
    assert sorted(tensors) == sorted(expected)
    for name, tensor in expected.items():
        assert torch.equal(tensors[name], tensor), name


def test_the_same_seed_gives_the_same_losses_and_another_seed_others(make_trainer: MakeTrainer):
    first, same, other = (
        [record.loss for record in make_trainer(seed=seed).steps()] for seed in (0, 0, 1)
    )
    assert first == same
    assert first != other


def test_records_count_finished_steps_and_name_their_phase(make_trainer: MakeTrainer):
    records = list(make_trainer(n_steps=10).steps())
    assert [record.step for record in records] == list(range(1, 11))
    assert [record.phase for record in records] == ["mixed"] * 6 + ["answers"] * 4
    assert all(record.n_tokens > 0 and record.loss > 0 for record in records)
    assert records[-1].rate_factor < records[2].rate_factor


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_stopped_and_resumed_after_every_step_equals_never_stopped_bit_for_bit(
    make_trainer: MakeTrainer, tmp_path: Path, optimizer: str
):
    whole = make_trainer(optimizer=optimizer)
    expected: list[StepRecord] = []
    last_of_pool, places = 0, list[tuple[int, int]]()
    for record in whole.steps():
        expected.append(record)
        places.append((whole.cursor.phase, whole.cursor.pool))
        last_of_pool += whole.cursor.place == len(whole._batches)
    assert {(0, 0), (0, 1), (1, 0), (1, 1)} <= set(places)
    assert last_of_pool >= 2  # stops that lie exactly between two pools

    records: list[StepRecord] = []
    trainer = make_trainer(optimizer=optimizer)
    while trainer.cursor.step < 16:
        records.append(next(trainer.steps()))
        tensors, cursor = trainer.state()
        save_state(tmp_path / "state", tensors, {"cursor": cursor})
        trainer = make_trainer(optimizer=optimizer, seed=0)
        tensors, meta = load_state(tmp_path / "state")
        trainer.load_state(tensors, meta["cursor"])
    assert records == expected
    assert_equal(trainer, whole)


def test_a_finished_run_has_no_more_steps(make_trainer: MakeTrainer):
    trainer = make_trainer(n_steps=2)
    assert len(list(trainer.steps())) == 2
    assert list(trainer.steps()) == []


@pytest.mark.parametrize("n_steps", [0, -3])
def test_a_run_needs_a_step(make_trainer: MakeTrainer, n_steps: int):
    with pytest.raises(ValueError, match=f"{n_steps} steps: at least 1 is needed"):
        make_trainer(n_steps=n_steps)


def test_the_loss_falls_on_a_tiny_problem(make_trainer: MakeTrainer):
    answers = Phase(name="answers", questions=1, answer_only=True)
    trainer = make_trainer(n_steps=60, phases=(answers,), adamw_rate=0.03)
    losses = [record.loss for record in trainer.steps()]
    assert losses[0] == pytest.approx(math.log(trainer.model.config.vocabulary_size), abs=0.3)
    assert sum(losses[-5:]) / 5 < 1


def without_answers(trainer: Trainer) -> None:
    """Questions so long that no answer is left inside the block: there is nothing to average."""
    question = (5,) * 200
    trainer.data = replace(trainer.data, questions=((question, (6,)),))


def test_a_loss_that_is_no_number_stops_and_leaves_all_as_it_was(make_trainer: MakeTrainer):
    trainer = make_trainer(n_steps=10)
    without_answers(trainer)
    steps = trainer.steps()
    for _ in range(6):
        next(steps)
    before, cursor = frozen(trainer)
    with pytest.raises(TrainingDivergedError, match="the loss is nan at step 7"):
        next(steps)
    after, _ = frozen(trainer)
    assert sorted(after) == sorted(before)
    for name, tensor in before.items():
        assert torch.equal(after[name], tensor), name
    assert trainer.cursor.step == cursor["step"] == 6


def test_a_gradient_that_is_no_number_never_reaches_the_parameters(make_trainer: MakeTrainer):
    trainer = make_trainer()
    next(trainer.steps())
    before, cursor = frozen(trainer)
    trainer.model.norm.weight.register_hook(lambda gradient: gradient * torch.inf)
    with pytest.raises(TrainingDivergedError, match="the gradient is (inf|nan) at step 2"):
        next(trainer.steps())
    after, same = frozen(trainer)
    assert same == cursor
    for name, tensor in before.items():
        assert torch.equal(after[name], tensor), name


@pytest.mark.parametrize("change", [{"width": 32}, {"n_layers": 2}, {"positions": "learned"}])
def test_a_state_of_another_model_is_refused(make_trainer: MakeTrainer, change: dict[str, object]):
    other = make_trainer(**change)
    next(other.steps())
    with pytest.raises(ValueError, match="the saved state does not fit this model"):
        make_trainer().load_state(*other.state())


def test_a_cursor_with_an_unknown_field_is_refused(make_trainer: MakeTrainer):
    tensors, cursor = make_trainer().state()
    with pytest.raises(ValueError, match="does not fit this model: .*n_eyes"):
        make_trainer().load_state(tensors, {**cursor, "n_eyes": 2})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 17}, "the saved state has step 17; 0 to 16 are possible"),
        ({"step": -1}, "has step -1; 0 to"),
        ({"phase": 2}, "has phase 2; 0 to 1 are possible"),
        ({"pool": 10**12}, "has pool 1000000000000; 0 to 16 are possible"),
        ({"place": 10**12}, "has place 1000000000000; 0 to 1,024 are possible"),
        ({"place": 1.5}, r"has place 1\.5; 0 to"),
    ],
)
def test_a_place_that_the_run_never_comes_to_is_refused(
    make_trainer: MakeTrainer, change: dict[str, Any], message: str
):
    tensors, cursor = make_trainer().state()
    with pytest.raises(ValueError, match=message):
        make_trainer().load_state(tensors, {**cursor, **change})


def test_the_answers_phase_learns_to_write_the_closing_mark(make_trainer: MakeTrainer):
    trainer = make_trainer(n_steps=40)
    list(trainer.steps())
    question, answer = trainer.data.questions[0]
    with torch.inference_mode():
        logits = trainer.model(torch.tensor([[*question, MASK_ID, *answer]]))
    assert int(logits[0, -1].argmax()) == MASK_ID
