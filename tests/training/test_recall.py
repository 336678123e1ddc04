"""The recipe of pairs and its batches."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from core.data.pairs import UNASKED, PairsData
from core.training.examples import IGNORE, Batch
from core.training.presets import kind_of, preset, presets_of
from core.training.recall import ROUNDS, pool_of_texts
from core.training.recall_recipe import RecallRecipe, recall_recipe_from_dict
from core.training.recipe import Overrides


@pytest.fixture(scope="module")
def mqar() -> RecallRecipe:
    recipe = preset("mqar")
    assert isinstance(recipe, RecallRecipe)
    return recipe


def pool(recipe: RecallRecipe, *, seed: int = 0, number: int = 0) -> list[Batch]:
    return pool_of_texts(PairsData(), recipe, recipe.phases[0], seed=seed, pool=number)


def test_a_pool_has_every_number_of_pairs_as_often_and_a_batch_one_of_them(mqar: RecallRecipe):
    batches = pool(mqar)
    assert len(batches) == ROUNDS * len(mqar.pairs)
    lengths = [batch.inputs.shape[1] for batch in batches]
    assert {n: lengths.count(3 * n) for n in mqar.pairs} == dict.fromkeys(mqar.pairs, ROUNDS)
    assert lengths != sorted(lengths)
    for batch in batches:
        n = batch.inputs.shape[1] // 3
        assert batch.n_tokens == batch.inputs.numel() <= mqar.tokens_per_batch
        assert int((batch.targets != IGNORE).sum()) == n * len(batch.inputs)


def test_pools_are_functions_of_seed_and_number(mqar: RecallRecipe):
    one, again, other, seeded = pool(mqar), pool(mqar), pool(mqar, number=1), pool(mqar, seed=1)
    assert all(torch.equal(a.inputs, b.inputs) for a, b in zip(one, again, strict=True))
    for different in (other, seeded):
        rows = {batch.inputs.numpy().tobytes() for batch in different}
        assert not rows & {batch.inputs.numpy().tobytes() for batch in one}


def test_what_does_not_count_is_said_alike_where_texts_are_drawn_and_where_losses_are_made():
    assert UNASKED == IGNORE


def test_the_preset_is_chosen_by_its_text_and_its_kind_and_takes_other_mechanisms(
    mqar: RecallRecipe,
):
    assert presets_of("pairs", "recall") == ["mqar"]
    assert kind_of(mqar) == "recall"
    changed = Overrides(attention="window", sizes={"window": 8}, learning_rate=0.01).apply(mqar)
    assert recall_recipe_from_dict(changed.to_dict()) == changed
    assert (changed.adamw_rate, changed.window) == (pytest.approx(0.0015), 8)
    changed.check_sizes()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pairs": (4, 4)}, r"pairs are \(4, 4\); rising whole numbers"),
        ({"pairs": (8, 4)}, "rising whole numbers are needed"),
        ({"pairs": ()}, r"pairs are \(\); rising"),
        ({"pairs": ("4",)}, "rising whole numbers are needed"),
        ({"pairs": (0, 4)}, "1 to 64 are possible: there are 64 keys"),
        ({"pairs": (4, 65)}, "1 to 64 are possible"),
        ({"block_size": 48}, "1 to 16 are possible: .* takes 3 of the block's 48 tokens"),
        ({"corpus": "notable"}, "'recall' of 'notable' is no recipe of recall"),
        ({"kind": "speech"}, "'speech' of 'pairs' is no recipe of recall"),
    ],
)
def test_pairs_that_no_text_has_are_refused(mqar: RecallRecipe, changes: dict[str, Any], said: str):
    with pytest.raises(ValueError, match=said):
        replace(mqar, **changes)


def test_what_is_no_recipe_of_recall_is_refused(mqar: RecallRecipe):
    written = mqar.to_dict()
    with pytest.raises(ValueError, match="not a recipe of recall: unknown keys n_pieces"):
        recall_recipe_from_dict({**written, "n_pieces": 3})
    del written["pairs"]
    with pytest.raises(ValueError, match="not a recipe of recall: 'pairs'"):
        recall_recipe_from_dict(written)
