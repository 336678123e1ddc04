"""Batches of a recogniser, its loss against a sum over alignments, and that a run can go on."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.data.people import load_people
from core.models.recogniser import Memory
from core.paths import PEOPLE
from core.speech.spoken import Utterance, load_spoken
from core.training.examples import IGNORE, POOL_SIZE
from core.training.speech import (
    SpeechBatch,
    _drawn,
    collate,
    ctc_loss,
    loss_of,
    mask,
    pool_of_sounds,
    speech_trainers,
    speech_vocabulary,
)
from core.training.speech_recipe import SpeechRecipe, speech_recipe_from_dict
from tests.tiny_speech import tiny_recipe, tiny_recogniser, tone_folder


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> tuple[Utterance, ...]:
    folder: Path = tmp_path_factory.mktemp("speech") / "spoken"
    return load_spoken(tone_folder(folder, load_people(PEOPLE))).utterances["train"]


def test_a_batch_holds_sounds_and_texts_between_two_marks(heard: tuple[Utterance, ...]):
    recipe = tiny_recipe(n_band_masks=0, n_time_masks=0)
    batch = collate(heard[:3], recipe, seed=0)
    vocabulary = speech_vocabulary()
    for row, one in enumerate(heard[:3]):
        n, ids = int(batch.n_frames[row]), vocabulary.encode(one.text)
        np.testing.assert_allclose(batch.frames[row, :n], one.frames.astype(np.float32))
        assert not batch.frames[row, n:].any()
        assert batch.inputs[row, : len(ids) + 1].tolist() == [vocabulary.mask_id, *ids]
        assert batch.targets[row, : len(ids) + 1].tolist() == [*ids, vocabulary.mask_id]
        assert set(batch.targets[row, len(ids) + 1 :].tolist()) <= {IGNORE}
    assert batch.n_tokens == int((batch.targets != IGNORE).sum())


def test_pools_are_functions_of_seed_and_number(heard: tuple[Utterance, ...]):
    recipe = tiny_recipe()
    phase = recipe.phases[0]
    one, again = (pool_of_sounds(heard, recipe, phase, seed=3, pool=1) for _ in range(2))
    other = pool_of_sounds(heard, recipe, phase, seed=3, pool=2)
    assert all(torch.equal(a.frames, b.frames) for a, b in zip(one, again, strict=True))
    assert sum(len(batch.inputs) for batch in one) == POOL_SIZE
    assert [batch.seed for batch in one] != [batch.seed for batch in other]
    for batch in one:
        assert batch.frames.shape[0] * batch.frames.shape[1] <= recipe.tokens_per_batch


@pytest.mark.parametrize("n", [7, POOL_SIZE, 1500])
def test_all_are_heard_before_one_is_heard_again(n: int):
    found = [i for pool in range(4) for i in _drawn(n, seed=0, pool=pool)]
    assert len(found) == 4 * POOL_SIZE
    for start in range(0, len(found) - n + 1, n):
        assert sorted(found[start : start + n]) == list(range(n))


def test_masks_are_no_wider_than_told_and_change_nothing_else():
    recipe = tiny_recipe(n_band_masks=1, n_time_masks=1)
    for seed in range(20):
        heard = np.ones((50, 40), np.float32)
        mask(heard, recipe, np.random.default_rng(seed))
        assert (heard == 0).all(0).sum() <= 6
        assert (heard == 0).all(1).sum() <= 8
        assert set(np.unique(heard)) <= {0.0, 1.0}


def test_ctc_is_the_sum_over_all_alignments():
    batch = SpeechBatch(
        frames=torch.zeros(1, 12, 40),
        n_frames=torch.tensor([12]),
        inputs=torch.tensor([[1, 2, 3]]),
        targets=torch.tensor([[2, 3, 1]]),
        n_tokens=3,
        seed=0,
    )
    generator = torch.Generator().manual_seed(0)
    head = torch.nn.Linear(4, 5)
    memory = Memory(torch.randn(1, 3, 4, generator=generator))
    shares = head(memory.x)[0].softmax(-1).detach()

    def said(path: tuple[int, ...]) -> list[int]:
        kept = [c for c, before in zip(path, (-1, *path), strict=False) if c != before]
        return [c for c in kept if c != 0]

    total = sum(
        float(torch.stack([shares[t, c] for t, c in enumerate(path)]).prod())
        for path in itertools.product(range(5), repeat=3)
        if said(path) == [2, 3]
    )
    found = float(ctc_loss(head, memory, batch).detach())
    assert found == pytest.approx(-np.log(total) / 2, rel=1e-4)


def test_the_loss_with_ctc_is_the_loss_without_it_and_its_share(heard: tuple[Utterance, ...]):
    recipe = tiny_recipe(dropout=0.0)
    model = tiny_recogniser().model
    batch = collate(heard[:4], recipe, seed=0)
    losses = [
        float(loss_of(replace(recipe, ctc_weight=weight))(model, batch).detach())  # pyright: ignore[reportArgumentType]
        for weight in (0.0, 1.0, 2.0)
    ]
    assert losses[1] - losses[0] == pytest.approx(losses[2] - losses[1], rel=1e-4)
    assert losses[1] > losses[0]


def test_dropout_is_the_batch_s_own_and_leaves_the_world_s_randomness(
    heard: tuple[Utterance, ...],
):
    loss, model = loss_of(tiny_recipe(dropout=0.5)), tiny_recogniser().model
    batch = collate(heard[:4], tiny_recipe(), seed=7)
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    one = float(loss(model, batch).detach())  # pyright: ignore[reportArgumentType]
    assert torch.equal(torch.rand(1), expected)
    assert float(loss(model, batch).detach()) == one  # pyright: ignore[reportArgumentType]
    other = replace(batch, seed=8)
    assert float(loss(model, other).detach()) != one  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("decoder", ["attention", "lstm"])
def test_a_training_goes_on_bit_for_bit(heard: tuple[Utterance, ...], decoder: str):
    recipe = tiny_recipe(decoder=decoder, lstm_width=0 if decoder == "attention" else 8)
    make = speech_trainers(recipe, heard, speech_vocabulary(), 5, None)
    whole = make(6)
    losses = [record.loss for record in whole.steps()]
    first, second = make(6), make(6)
    steps = first.steps()
    found = [next(steps).loss for _ in range(2)]
    tensors, cursor = first.state()
    second.load_state({name: t.clone() for name, t in tensors.items()}, cursor)
    found += [record.loss for record in second.steps()]
    assert found == losses
    assert losses[-1] < losses[0]
    for (name, one), other in zip(
        whole.model.state_dict().items(), second.model.state_dict().values(), strict=True
    ):
        assert torch.equal(one, other), name


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"dropout": 1.0}, "dropout is 1.0; numbers from 0.0 to 0.9 are allowed"),
        ({"n_time_masks": 33}, "n_time_masks is 33; whole numbers from 0 to 32"),
        ({"ctc_weight": -1.0}, "ctc_weight is -1.0"),
        ({"kind": "corpus"}, "'corpus' of 'spoken' is no recipe of speech"),
        ({"attention": "favor"}, "attention 'favor': a recogniser has softmax alone"),
        ({"n_latents": 3}, "n_latents is 3: no recogniser has it"),
    ],
)
def test_a_recipe_beyond_use_is_refused(change: dict, match: str):
    with pytest.raises(ValueError, match=match):
        tiny_recipe(**change)


def test_a_recipe_comes_back_and_knows_its_keys():
    recipe = tiny_recipe(real_voice=True)
    assert speech_recipe_from_dict(recipe.to_dict()) == recipe
    with pytest.raises(ValueError, match="not a recipe of speech: unknown keys block_size"):
        speech_recipe_from_dict({**recipe.to_dict(), "block_size": 3})
    with pytest.raises(ValueError, match="not a recipe of speech: 'phases'"):
        speech_recipe_from_dict({"kind": "speech"})


def test_sizes_told_roughly_are_near_enough_for_a_limit():
    recipe: SpeechRecipe = tiny_recipe(width=144, n_heads=4, n_layers=3)
    assert 0.8 < recipe.rough_parameters / 1_514_478 < 1.1
