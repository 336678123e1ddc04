"""Examples and batches: a function of seed and position, padded and masked as they should be."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch

from core.data.corpus import TrainingCorpus
from core.data.own_vocabulary import MASK_ID
from core.data.vocabulary import Vocabulary
from core.training import examples
from core.training.examples import (
    FACTS,
    IGNORE,
    Batch,
    TrainingData,
    collate,
    draw,
    pool_of_batches,
    training_data,
)
from core.training.recipe import Phase, Recipe


@pytest.fixture
def data(corpus: TrainingCorpus, pieces: Vocabulary, recipe: Recipe) -> TrainingData:
    return training_data(corpus.documents, corpus.train, pieces, recipe)


@pytest.fixture(autouse=True)
def small_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "POOL_SIZE", 40)


def test_targets_are_the_inputs_one_later_and_padding_does_not_count(data: TrainingData):
    batch = collate([[5, 1, 6, 1], [7, 8]], data, answer_only=False)
    assert batch.inputs.tolist() == [[5, 1, 6], [7, 8, 0]]
    assert batch.targets.tolist() == [[1, 6, 1], [8, IGNORE, IGNORE]]
    assert batch.n_tokens == 5


def test_with_answer_only_the_loss_begins_after_the_first_mark(data: TrainingData):
    batch = collate([[5, 9, 1, 6, 7, 1], [5, 1, 8, 1]], data, answer_only=True)
    assert batch.inputs.tolist() == [[5, 9, 1, 6, 7], [5, 1, 8, 1, 0]]
    assert batch.targets.tolist() == [
        [IGNORE, IGNORE, 6, 7, 1],
        [IGNORE, 8, 1, IGNORE, IGNORE],
    ]


def test_mark_and_padding_are_those_of_the_vocabulary(data: TrainingData, pieces: Vocabulary):
    assert (data.mark, data.pad) == (pieces.mask_id, pieces.pad_id)
    other = replace(data, mark=7, pad=9)
    batch = collate([[5, 7, 6, 7], [5, 1]], other, answer_only=True)
    assert batch.inputs.tolist() == [[5, 7, 6], [5, 1, 9]]
    assert batch.targets.tolist() == [[IGNORE, 6, 7], [IGNORE] * 3]
    assert batch.n_tokens == 5


def test_a_document_holds_its_name_lines_facts_and_cuts(pieces: Vocabulary, recipe: Recipe):
    documents = [("Ada Arden", ["Ada Arden was born in Lagos in 1815."])]
    (document,) = training_data(documents, [], pieces, recipe).documents
    assert pieces.decode(document.name) == "Ada Arden"
    assert [pieces.decode(fact) for fact in document.facts] == ["Lagos", "1815"]
    before, span, after = (pieces.decode(part) for part in document.cuts[0])
    assert (before, span, after) == ("Ada Arden was born in", "Lagos", "in 1815.")


@pytest.mark.parametrize(
    ("n_cue_words", "cued"),
    [
        (0, [("Ada Arden", "Lagos"), ("Ada Arden", "Nigeria")]),
        (2, [("Ada Arden born in", "Lagos"), ("Ada Arden in Lagos", "Nigeria")]),
    ],
)
def test_a_cued_fact_follows_the_name_and_the_words_before_it(
    n_cue_words: int, cued: list[tuple[str, str]], pieces: Vocabulary, recipe: Recipe
):
    documents = [("Ada Arden", ["Ada Arden was born (1815) in Lagos, Nigeria."])]
    changed = replace(recipe, n_cue_words=n_cue_words, numbers=False)
    (document,) = training_data(documents, [], pieces, changed).documents
    assert [(pieces.decode(a), pieces.decode(b)) for a, b in document.cued] == cued


@pytest.mark.parametrize(
    ("name", "line", "facts"),
    [
        ("Leonardo da Vinci", "Leonardo da Vinci was born in Vinci.", ["Vinci"]),
        ("Ada Arden", "Ada Arden. Arden met Ada in Arden Hills.", ["Arden Hills"]),
        ("Michelangelo", "Michelangelo came from Caprese Michelangelo.", ["Caprese Michelangelo"]),
        ("Plato", "Plato's life began in Athens.", ["Athens"]),
        ("Ada Arden", "Ada Arden's life.", []),
        ("Ada Arden", "Augusta Arden, called Ada, was born in Lagos.", ["Lagos"]),
        ("Ada Arden", "Ada Arden: singer, born 1815, Old Arden.", ["1815", "Old Arden"]),
    ],
)
def test_a_mention_of_the_name_is_no_fact(
    name: str, line: str, facts: list[str], pieces: Vocabulary, recipe: Recipe
):
    (document,) = training_data([(name, [line])], [], pieces, recipe).documents
    assert [pieces.decode(fact) for fact in document.facts] == facts


@pytest.mark.parametrize(
    ("n_characters", "numbers", "facts"),
    [
        (None, True, ["3 March 1822 Rome", "Paris"]),
        (None, False, ["Rome", "Paris"]),
        (33, True, ["3 March 1822 Rome"]),
        (10, True, []),
    ],
)
def test_facts_come_from_the_beginning_of_a_line_and_can_be_names_only(
    n_characters: int | None, numbers: bool, facts: list[str], pieces: Vocabulary, recipe: Recipe
):
    changed = replace(recipe, fact_characters=n_characters, numbers=numbers)
    line = "Ada Arden (3 March 1822 Rome) went to Paris."
    (document,) = training_data([("Ada Arden", [line])], [], pieces, changed).documents
    assert [pieces.decode(fact) for fact in document.facts] == facts
    assert pieces.decode(document.lines[0]) == line


def test_only_the_questions_that_are_given_can_be_asked(
    corpus: TrainingCorpus, data: TrainingData, pieces: Vocabulary
):
    asked = {pieces.decode(question) for question, _ in data.questions}
    assert asked == {question.text for question in corpus.train}
    assert not asked & {q.text for q in [*corpus.held_out, *corpus.dev, *corpus.test]}


@pytest.mark.parametrize(
    ("kind", "n_marks"),
    [
        ("questions", {2}),
        ("salient_spans", {3}),
        ("cued_facts", {2}),
        ("span_corruption", {2}),
        ("shuffled_facts", set(range(2, 8))),
        ("ordered_facts", set(range(2, 8))),
    ],
)
def test_a_mixture_of_one_kind_draws_that_kind_alone(
    data: TrainingData, recipe: Recipe, kind: str, n_marks: set[int]
):
    generator = random.Random(0)
    weight: dict[str, Any] = {kind: 1.0}
    phase = Phase(name="one", **weight)
    drawn = [draw(data, recipe, phase, generator) for _ in range(60)]
    counts = {ids.count(MASK_ID) for ids in drawn}
    assert counts <= n_marks
    if kind == "questions":
        whole = {(*q, MASK_ID, *a, MASK_ID) for q, a in data.questions}
        assert {tuple(ids) for ids in drawn} <= whole
    if kind in FACTS:
        names = {document.name for document in data.documents}
        assert {tuple(ids[: ids.index(MASK_ID)]) for ids in drawn} <= names


def test_the_weights_of_a_mixture_are_its_shares(data: TrainingData, recipe: Recipe):
    generator, n = random.Random(0), 2000
    phase = Phase(name="two", questions=3.0, salient_spans=1.0)
    counts = Counter(draw(data, recipe, phase, generator).count(MASK_ID) for _ in range(n))
    error = (0.75 * 0.25 / n) ** 0.5
    assert abs(counts[2] / n - 0.75) < 4 * error
    assert counts[2] + counts[3] == n


def test_an_example_is_never_longer_than_the_block_and_its_target(
    data: TrainingData, recipe: Recipe
):
    short = replace(recipe, block_size=12)
    generator = random.Random(0)
    lengths = [len(draw(data, short, recipe.phases[0], generator)) for _ in range(200)]
    assert max(lengths) == 13


def test_the_same_place_in_the_data_gives_the_same_batches(data: TrainingData, recipe: Recipe):
    first, same, later, other_seed, other_phase = (
        as_lists(pool_of_batches(data, recipe, recipe.phases[phase], seed=seed, pool=pool))
        for phase, seed, pool in ((0, 3, 1), (0, 3, 1), (0, 3, 2), (0, 4, 1), (1, 3, 1))
    )
    assert first == same
    assert all(first != other for other in (later, other_seed, other_phase))


def test_a_pool_holds_all_its_examples_in_batches_of_about_the_wanted_size(
    data: TrainingData, recipe: Recipe
):
    batches = pool_of_batches(data, recipe, recipe.phases[0], seed=0, pool=0)
    assert sum(len(batch.inputs) for batch in batches) == 40
    wanted = recipe.tokens_per_batch
    sizes = [(len(b.inputs), b.inputs.shape[1] + 1) for b in batches]
    assert sum(rows * longest < wanted for rows, longest in sizes) <= 1  # the rest of the pool
    assert all((rows - 1) * (longest - 20) < wanted for rows, longest in sizes)


def test_a_phase_can_say_how_many_examples_a_batch_has(data: TrainingData, recipe: Recipe):
    by_number = replace(recipe, examples_per_batch=16)
    other = replace(recipe.phases[0], examples_per_batch=10)
    for phase, sizes in ((recipe.phases[0], [8, 16, 16]), (other, [10] * 4)):
        batches = pool_of_batches(data, by_number, phase, seed=0, pool=0)
        assert sorted(len(batch.inputs) for batch in batches) == sizes


def test_batches_hold_examples_of_similar_length(data: TrainingData, recipe: Recipe):
    batches = pool_of_batches(data, recipe, recipe.phases[0], seed=0, pool=0)
    total = sum(batch.inputs.numel() for batch in batches)
    examples_as_one = 40 * max(batch.inputs.shape[1] for batch in batches)
    assert total < 0.75 * examples_as_one
    lengths = [batch.inputs.shape[1] for batch in batches]
    assert lengths != sorted(lengths)  # long and short ones take turns


def as_lists(batches: list[Batch]) -> list[list[list[int]]]:
    return [torch.cat([b.inputs, b.targets]).tolist() for b in batches]
