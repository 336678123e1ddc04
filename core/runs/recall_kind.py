"""The row of trainings that recall pairs: texts drawn by the seed, a GPT, the share it answers.

What is held out, dev and test are texts of their own seeds: of 64 keys and values nothing can be
known before a text is read.
"""

from pathlib import Path
from typing import Any, cast

import numpy as np

from core.checkpoints.store import Checkpoint
from core.data.pairs import SPLITS, VALUES, PairsData, draw_texts, pairs_vocabulary
from core.data.vocabulary import Vocabulary
from core.evaluation.recalled import recalled
from core.generation.greedy import answer
from core.runs.kind import Kind, Probe, figure
from core.training.loop import Trainer
from core.training.recall import recall_trainers
from core.training.recall_recipe import KIND, RecallRecipe, recall_recipe_from_dict
from core.training.recipe import Recipe

N_PROBED = 256  # asked keys of each number of pairs, while it trains
SHOWN_PAIRS = 8


def _read_recipe(data: dict[str, Any]) -> Recipe:
    recipe = recall_recipe_from_dict(data)
    recipe.check_sizes()
    return recipe


def _load(_recipe: Recipe, _folder: Path | None) -> PairsData:
    return PairsData()


def _make_vocabulary(_recipe: Recipe, _data: PairsData) -> Vocabulary:
    return pairs_vocabulary()


def _probe(trainer: Trainer, vocabulary: Vocabulary, _data: PairsData, seed: int) -> Probe:
    stored = Checkpoint(trainer.model, vocabulary)
    found = recalled(stored, "held-out", _pairs(trainer.recipe), n_asked=N_PROBED).values()
    return Probe(
        correct=sum(one.correct for one in found),
        total=sum(one.total for one in found),
        sample=_sample(stored, _pairs(trainer.recipe), seed),
    )


def _sample(stored: Checkpoint, pairs: tuple[int, ...], seed: int) -> dict[str, Any]:
    """A text that ends with its first asked key, and the one token that follows."""
    n = min(SHOWN_PAIRS, pairs[-1])
    drawn = draw_texts(n, 1, np.random.default_rng(seed))
    text, right = (
        stored.vocabulary.decode(ids)
        for ids in (drawn.inputs[0, : 2 * n + 1], drawn.targets[0, 2 * n : 2 * n + 1])
    )
    (given,) = answer(stored, [text], max_new_tokens=1)
    return {"question": text, "answer": given.text, "expected": right}


def _baseline(_data: PairsData) -> dict[str, Any]:
    """Any value, always."""
    return {"answer": VALUES[0], "accuracy": 1 / len(VALUES)}


def _measure(stored: Checkpoint, _data: PairsData, split: str) -> dict[str, Any]:
    """Of as many asked keys of each number of pairs: the share of all, and of each number."""
    recipe = recall_recipe_from_dict(cast(dict[str, Any], stored.card["recipe"]))
    found = recalled(stored, split, recipe.pairs)
    total = figure(sum(f.correct for f in found.values()), sum(f.total for f in found.values()))
    by_pairs = {str(n): round(one.correct / one.total, 4) for n, one in found.items()}
    return {**total, "by_pairs": by_pairs}


def _pairs(recipe: Recipe) -> tuple[int, ...]:
    return cast(RecallRecipe, recipe).pairs


RECALL = Kind(
    name=KIND,
    recipe=RecallRecipe,
    read_recipe=_read_recipe,
    load_data=_load,
    make_vocabulary=_make_vocabulary,
    make_trainers=recall_trainers,
    probe=_probe,
    baseline=_baseline,
    measure=_measure,
    splits=tuple(SPLITS),
    tuning_splits=("held-out",),
    snapshot_split="held-out",
)
