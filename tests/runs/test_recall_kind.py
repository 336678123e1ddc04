"""A training on pairs is a kind like any other: begun, stopped, resumed, measured, told."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from core.checkpoints.shelf import WEIGHTS
from core.checkpoints.store import Checkpoint, load_checkpoint
from core.data.pairs import KEYS, VALUES, pairs_vocabulary
from core.evaluation.recalled import recalled
from core.generation.greedy import answer
from core.inspection.trace import trace
from core.models.config import GPTConfig
from core.models.gpt import GPT
from core.runs import loop
from core.runs.kinds import RECALL, kind_of
from core.runs.run import Run, finish, resume_run, save, start_run
from core.training.presets import preset
from core.training.recall_recipe import RecallRecipe


def tiny() -> RecallRecipe:
    recipe = preset("mqar")
    assert isinstance(recipe, RecallRecipe)
    return replace(
        recipe,
        pairs=(2, 4),
        block_size=12,
        n_layers=1,
        width=16,
        attention="delta",
        tokens_per_batch=96,
    )


def begin(folder: Path) -> Run:
    return start_run(
        tiny(),
        folder,
        minutes=None,
        steps=4,
        seed=2,
        corpus_folder=None,
        command=lambda steps: f"train --steps {steps}",
    )


def test_it_is_trained_stopped_resumed_and_stored(tmp_path: Path):
    whole, run = begin(tmp_path / "whole"), begin(tmp_path / "run")
    loop.train(whole, after_step=lambda _: None, save=lambda: save(whole))
    loop.train(
        run, after_step=lambda _: None, save=lambda: save(run), is_stopped=lambda: run.step == 2
    )
    again = resume_run(run.folder)
    assert (again.kind, again.step) == (RECALL, 2)
    loop.train(again, after_step=lambda _: None, save=lambda: save(again))
    card, _ = finish(again), finish(whole)
    assert list(card["figures"]) == ["held_out", "dev", "test"]
    dev = card["figures"]["dev"]
    assert dev["total"] == 2 * 2048
    assert list(dev["by_pairs"]) == ["2", "4"]
    mean = sum(dev["by_pairs"].values()) / 2
    assert dev["accuracy"] == pytest.approx(mean, abs=1e-4)
    stored, other = (load_file(each.folder / WEIGHTS) for each in (again, whole))
    assert stored.keys() == other.keys()
    assert all(torch.equal(stored[name], other[name]) for name in stored)


def test_its_checkpoint_reads_a_typed_text_and_proves_its_heads(tmp_path: Path):
    run = begin(tmp_path / "run")
    loop.train(run, after_step=lambda _: None, save=lambda: save(run))
    finish(run)
    stored = load_checkpoint(run.folder)
    assert stored.task is None
    (given,) = answer(stored, ["aαbβa"], max_new_tokens=1)
    seen = trace(stored, "aαbβa", max_new_tokens=1)
    assert seen.answer == given.text
    assert seen.proof.replay_max_difference < 1e-5
    assert seen.proof.future_exactly_zero


def test_it_is_probed_on_held_out_texts_beside_a_constant_answer(tmp_path: Path):
    run = begin(tmp_path / "run")
    probe = run.probe()
    assert probe.total == 2 * 256
    assert set(probe.sample) == {"question", "answer", "expected"}
    question = probe.sample["question"]
    assert len(question) == 9
    assert question[-1] in question[:8:2]
    assert probe.sample["expected"] == question[question.index(question[-1]) + 1]
    assert RECALL.baseline(run.data) == {"answer": VALUES[0], "accuracy": 1 / 64}
    assert kind_of(tiny()) is RECALL


class Copying(GPT):
    """A model that looks up the asked key by itself."""

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        ids = self.read
        n = ids.shape[1] // 3
        same = ids[:, :, None] == ids[:, None, : 2 * n : 2]
        values = ids[:, 1 : 2 * n : 2]
        return torch.nn.functional.one_hot((same * values[:, None]).sum(-1), 130).float()

    def run(self, inputs: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
        self.read = inputs
        return inputs


@pytest.mark.parametrize("n_asked", [1, 130])
def test_who_looks_up_is_right_always_and_who_does_not_hardly_ever(n_asked: int):
    sizes = GPTConfig(vocabulary_size=130, block_size=192, width=8, n_heads=1, n_layers=1)
    vocabulary = pairs_vocabulary()
    found = recalled(Checkpoint(Copying(sizes), vocabulary), "dev", (1, 64), n_asked=n_asked)
    assert [one.correct == one.total for one in found.values()] == [True, True]
    assert found[64].total == (64 if n_asked == 1 else 192)
    drawn = GPT(sizes, generator=torch.Generator().manual_seed(0)).eval()
    other = recalled(Checkpoint(drawn, vocabulary), "dev", (64,), n_asked=640)
    assert other[64].correct < 0.1 * other[64].total
    assert len(KEYS) == 64
