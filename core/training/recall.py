"""Batches of pairs, of one number of pairs each; the loss is that of the next token."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import torch

from core.data.pairs import TOKENS_PER_PAIR, PairsData, draw_texts
from core.data.vocabulary import Vocabulary
from core.training.examples import Batch
from core.training.loop import Trainer, trainer_factory
from core.training.recall_recipe import RecallRecipe
from core.training.recipe import Phase, Recipe
from core.training.where import HERE, Where

ROUNDS = 10  # batches of each number of pairs in a pool


def pool_of_texts(
    _data: PairsData, recipe: Recipe, phase: Phase, *, seed: int, pool: int
) -> list[Batch]:
    """The batches of one pool in random order. The same arguments give the same batches."""
    pairs = list(cast(RecallRecipe, recipe).pairs) * ROUNDS
    order = random.Random(f"{seed}:{phase.name}:{pool}")
    order.shuffle(pairs)
    return [_batch(n, recipe, np.random.default_rng(order.getrandbits(64))) for n in pairs]


def recall_trainers(
    recipe: Recipe,
    data: PairsData,
    vocabulary: Vocabulary,
    seed: int,
    weights: Path | None,
    *,
    where: Where = HERE,
) -> Callable[[int], Trainer]:
    """Trainers of a number of steps that read pairs."""
    return trainer_factory(
        recipe,
        data,
        vocabulary_size=vocabulary.size,
        seed=seed,
        weights=weights,
        make_pool=pool_of_texts,
        where=where,
    )


def _batch(n_pairs: int, recipe: Recipe, generator: np.random.Generator) -> Batch:
    n_texts = max(1, recipe.tokens_per_batch // (TOKENS_PER_PAIR * n_pairs))
    drawn = draw_texts(n_pairs, n_texts, generator)
    inputs = torch.from_numpy(drawn.inputs)
    return Batch(inputs, torch.from_numpy(drawn.targets), inputs.numel())
