"""A row a kind of training. The rest of this room, and whoever steps a run, asks the row.

A kind says what its recipe is, what it learns from, what is trained and how it is measured. What
its batches are, only its trainers know. A recipe tells its kind by its class, and by the key `kind`
once it is written; those of the first row, which are older, have none.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.checkpoints.progress import Progress
from core.checkpoints.store import Checkpoint
from core.data.corpus import TrainingCorpus, make_vocabulary
from core.data.task import TASKS
from core.data.vocabulary import Vocabulary
from core.evaluation.accuracy import evaluate
from core.evaluation.shares import constant_baseline
from core.reader.writing import written_from_dict, written_questions, written_to_dict
from core.runs.kind import Kind, Probe, figure
from core.runs.recall_kind import RECALL
from core.runs.speech_kind import SPEECH
from core.training.examples import training_data
from core.training.loop import Trainer, trainer_factory
from core.training.recipe import Recipe, recipe_from_dict
from core.training.where import HERE, Where


def kind_of(recipe: Recipe) -> Kind:
    """The row of a recipe."""
    return next(kind for kind in KINDS if type(recipe) is kind.recipe)


def kind_of_dict(recipe: Mapping[str, Any]) -> Kind:
    """The row of a written recipe. Raises ValueError for one that is not known."""
    name = recipe.get("kind", CORPUS.name)
    for kind in KINDS:
        if kind.name == name:
            return kind
    known = ", ".join(kind.name for kind in KINDS)
    raise ValueError(f"not a recipe: kind {name!r:.40}; this version knows {known}")


def _read_recipe(data: dict[str, Any]) -> Recipe:
    recipe = recipe_from_dict(data)
    recipe.check_sizes()
    return recipe


def _load_corpus(recipe: Recipe, folder: Path | None) -> TrainingCorpus:
    return TASKS[recipe.corpus].corpus(n_sentences=recipe.n_sentences, folder=folder)


def _make_vocabulary(recipe: Recipe, corpus: TrainingCorpus) -> Vocabulary:
    return make_vocabulary(corpus, recipe.vocabulary, n_pieces=recipe.n_pieces)


def _make_trainers(
    recipe: Recipe,
    corpus: TrainingCorpus,
    vocabulary: Vocabulary,
    seed: int,
    weights: Path | None,
    *,
    where: Where = HERE,
) -> Callable[[int], Trainer]:
    asked = corpus.train + corpus.written
    data = training_data(corpus.documents, asked, vocabulary, recipe)
    return trainer_factory(
        recipe, data, vocabulary_size=vocabulary.size, seed=seed, weights=weights, where=where
    )


def _write_questions(
    recipe: Recipe, corpus: TrainingCorpus, seed: int, told: Progress
) -> dict[str, Any]:
    """Of all that readers are sure of a share is practised, drawn by the seed."""
    if not recipe.self_taught:
        return {}

    def progress(done: int, total: int) -> None:
        told(f"training readers: {done} of {total} epochs")

    written = written_questions(corpus, seed=seed, progress=progress)
    n_practised = round(recipe.self_taught * len(written.questions))
    practised = random.Random(seed).sample(written.questions, n_practised)
    return {
        "n_read": written.n_read,
        "n_sure": len(written.questions),
        **written_to_dict(practised),
    }


def _with_written(corpus: TrainingCorpus, made: dict[str, Any]) -> TrainingCorpus:
    return replace(corpus, written=written_from_dict(made))


def _card_of_written(made: dict[str, Any]) -> dict[str, Any]:
    """Counts alone: neither names nor answers leave the run's folder."""
    counts = {"read": made["n_read"], "sure": made["n_sure"], "practised": len(made["questions"])}
    return {"self_taught": counts}


def _probe(trainer: Trainer, vocabulary: Vocabulary, corpus: TrainingCorpus, seed: int) -> Probe:
    """All held-out training questions; by its seed a run has the one that is shown."""
    asked = corpus.held_out
    task = TASKS[trainer.recipe.corpus]
    result = evaluate(Checkpoint(trainer.model, vocabulary, task), asked)
    index = seed % len(asked)
    question, given = asked[index], result.answers[index].text
    sample = {"question": question.text, "answer": given, "expected": question.answer}
    return Probe(correct=result.correct, total=result.total, sample=sample)


def _baseline(corpus: TrainingCorpus) -> dict[str, Any]:
    place, accuracy = constant_baseline(corpus.train, corpus.held_out)
    return {"answer": place, "accuracy": accuracy}


def _measure(stored: Checkpoint, corpus: TrainingCorpus, split: str) -> dict[str, Any] | None:
    questions = corpus.questions(split)
    if any(question.answer is None for question in questions):
        return None
    result = evaluate(stored, questions)
    return figure(result.correct, result.total)


CORPUS = Kind(
    name="corpus",
    recipe=Recipe,
    read_recipe=_read_recipe,
    load_data=_load_corpus,
    make=_write_questions,
    with_made=_with_written,
    card=_card_of_written,
    make_vocabulary=_make_vocabulary,
    make_trainers=_make_trainers,
    probe=_probe,
    baseline=_baseline,
    measure=_measure,
    splits=("held-out", "dev", "test"),
    tuning_splits=("held-out",),
    snapshot_split="dev",
)
KINDS: tuple[Kind, ...] = (CORPUS, SPEECH, RECALL)
