"""One example and a whole split are read alike; the split is the mean of its examples."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.generation.greedy import Answer
from core.generation.written import reading
from core.inspection import split_readings as module
from core.inspection.answered import Answered, answered
from core.inspection.patterns import PATTERNS
from core.inspection.readings import Readings, named_scores, read_trace
from core.inspection.scores import HeadScores, head_scores, name_to_answer, uniform_over
from core.inspection.split_readings import read_split
from core.inspection.trace import trace
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from tests.with_task import with_task

SCORES = [field.name for field in fields(HeadScores)]
QUESTION = "Where was Ada Arden born?"


@pytest.fixture(scope="module")
def known(variant: GPT, characters: Vocabulary, questions: list[Question]) -> Answered:
    """Cut to the first two written tokens, so that a trace reads the same tokens."""
    asked = with_task(variant, characters)
    found = answered(asked, questions)
    short = tuple(Answer(given.text, given.ids[:2], 1.0) for given in found.answers)
    pairs = zip(found.prompts, short, strict=True)
    return Answered(
        questions=found.questions,
        prompts=found.prompts,
        answers=short,
        readings=tuple(reading(asked, prompt, given.ids) for prompt, given in pairs),
        log_probabilities=found.log_probabilities[:, :2],
    )


@pytest.fixture(scope="module")
def alone(variant: GPT, characters: Vocabulary, known: Answered) -> list[Readings]:
    """Each question read on its own."""
    return [
        read_split(
            with_task(variant, characters),
            Answered(
                questions=(known.questions[index],),
                prompts=(known.prompts[index],),
                answers=(known.answers[index],),
                readings=(known.readings[index],),
                log_probabilities=known.log_probabilities[[index]],
            ),
        )
        for index in range(len(known.questions))
    ]


def mean(values: list[np.ndarray]) -> np.ndarray:
    """The mean of what is there; nan where there is nothing."""
    stacked = np.stack(values)
    there = ~np.isnan(stacked)
    total = np.where(there, stacked, 0).sum(0)
    return np.where(there.any(0), total / np.maximum(there.sum(0), 1), np.nan)


def test_a_split_is_the_mean_of_its_questions(
    variant: GPT, characters: Vocabulary, known: Answered, alone: list[Readings]
):
    found = read_split(with_task(variant, characters), known)
    assert found.n_questions == len(known.questions)
    for name in ("patterns", "uniform_patterns", "contribution", "weight_on_name"):
        expected = mean([getattr(one, name) for one in alone])
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-5)
    for part in ("scores", "uniform_scores"):
        for name in SCORES:
            expected = mean([getattr(getattr(one, part), name) for one in alone])
            np.testing.assert_allclose(getattr(getattr(found, part), name), expected, atol=1e-5)
    others, apart = found.without_first, [one.without_first for one in alone]
    assert others is not None
    expected = mean([one.patterns for one in apart if one is not None])
    np.testing.assert_allclose(others.patterns, expected, atol=1e-4)


def test_few_questions_at_once_change_nothing(
    variant: GPT, characters: Vocabulary, known: Answered, monkeypatch: pytest.MonkeyPatch
):
    whole = read_split(with_task(variant, characters), known)
    monkeypatch.setattr(module, "AT_ONCE", 1)
    np.testing.assert_allclose(
        read_split(with_task(variant, characters), known).patterns, whole.patterns, atol=1e-5
    )


def test_a_trace_and_the_same_question_of_a_split_are_read_alike(
    variant: GPT, characters: Vocabulary
):
    seen = trace(with_task(variant, characters), QUESTION)
    one = read_trace(seen)
    known = answered(with_task(variant, characters), [Question(QUESTION, None, "Ada Arden")])
    other = read_split(with_task(variant, characters), known)
    assert one.n_questions == other.n_questions == 1
    # These come from the row of ⁇ alone, whatever is read behind it.
    places = slice(PATTERNS.index("surname"), None)
    np.testing.assert_allclose(one.patterns[..., places], other.patterns[..., places], atol=1e-5)
    np.testing.assert_allclose(one.contribution, other.contribution, rtol=1e-4)


@pytest.mark.parametrize("sizes", [{"attention": "taylor", "n_terms": 2}, {"attention": "favor"}])
def test_what_a_head_brings_is_a_size_in_the_readings_as_in_the_trace_whatever_the_weights_sign(
    make_gpt: Callable[..., GPT], characters: Vocabulary, sizes: dict[str, Any]
):
    model = make_gpt(seed=5, vocabulary_size=characters.size, block_size=48, **sizes)
    checkpoint = with_task(model, characters)
    seen = trace(checkpoint, QUESTION)
    row, name = seen.steps[0].row, list(seen.name_positions)
    brought = seen.contribution[:, :, row, name].sum(-1)
    known = answered(checkpoint, [Question(QUESTION, None, "Ada Arden")])
    for found in (read_trace(seen), read_split(checkpoint, known)):
        np.testing.assert_allclose(found.contribution, brought, rtol=1e-4)
    signed = (seen.weights[:, :, row, name] * seen.value_norm[:, :, name]).sum(-1)
    is_negative = bool((seen.weights[:, :, row, name] < 0).any())
    assert is_negative == ("n_terms" in sizes)  # two terms of exp go below 0, features never do
    assert np.allclose(signed, brought, rtol=1e-4) != is_negative


def test_scores_of_an_example_are_those_of_its_maps(variant: GPT, characters: Vocabulary):
    seen = trace(with_task(variant, characters), QUESTION)
    found, visible = read_trace(seen), seen.visible[:, None]
    expected = head_scores(seen.weights, seen.name_positions, visible)
    baseline = uniform_over(visible, seen.name_positions)
    for name in SCORES:
        np.testing.assert_allclose(getattr(found.scores, name), getattr(expected, name))
        np.testing.assert_allclose(getattr(found.uniform_scores, name), getattr(baseline, name))


def test_the_weight_on_the_name_and_what_it_brings_are_those_of_the_first_writing_row(
    traced: AttentionTrace,
):
    found = read_trace(traced)
    row, name = traced.steps[0].row, list(traced.name_positions)
    np.testing.assert_allclose(
        found.weight_on_name, traced.weights[:, :, row][..., name].sum(-1), rtol=1e-5
    )
    np.testing.assert_allclose(found.contribution, name_to_answer(traced)[0], rtol=1e-5)


@pytest.mark.parametrize("name", ["perceiver", "perceiver-stride"])
def test_of_a_perceiver_only_the_first_layer_looks_at_a_name(
    name: str, make_variant: Callable[[str], GPT], characters: Vocabulary
):
    seen = trace(with_task(make_variant(name), characters), QUESTION)
    found = read_trace(seen)
    row = seen.last_row(0, seen.steps[0].row)
    places = [place for place in seen.name_positions if place <= row]
    np.testing.assert_allclose(
        found.weight_on_name[0], seen.weights[0][:, row][:, places].sum(-1), rtol=1e-5
    )
    np.testing.assert_allclose(
        found.contribution[0], seen.contribution[0][:, row][:, places].sum(-1), rtol=1e-5
    )
    assert np.isnan(found.weight_on_name[1:]).all()
    assert np.isnan(found.contribution[1:]).all()


def test_a_text_without_a_name_has_none_to_look_at(
    make_variant: Callable[[str], GPT], characters: Vocabulary
):
    found = read_trace(trace(with_task(make_variant("learned"), characters), "Lima is a"))
    assert np.isnan(found.weight_on_name).all()
    assert np.isnan(found.contribution).all()
    assert np.isfinite(found.scores.previous_token).all()


def test_captions_come_from_the_patterns_beside_their_own_layers_baseline(
    make_variant: Callable[[str], GPT], characters: Vocabulary
):
    found = read_trace(trace(with_task(make_variant("learned"), characters), QUESTION))
    found.patterns[:] = found.uniform_patterns[:, None]
    caption = named_scores(found).caption  # its scores are views of those arrays
    assert {caption(layer, head) for layer in range(3) for head in range(2)} == {"no clear pattern"}
    found.patterns[1, 0, PATTERNS.index("surname")] = 0.9
    assert caption(1, 0) == "surname"
    found.uniform_patterns[1, PATTERNS.index("surname")] = 0.85
    assert caption(1, 0) == "no clear pattern"


def test_two_tokens_are_too_few(make_variant: Callable[[str], GPT], characters: Vocabulary):
    model = make_variant("learned")
    asked = with_task(model, characters)
    one = answered(asked, [Question("L", None, "")])
    cut = Answered(
        questions=one.questions,
        prompts=one.prompts,
        answers=(Answer("", one.answers[0].ids[:1], 1.0),),
        readings=(reading(asked, one.prompts[0], one.answers[0].ids[:1]),),
        log_probabilities=one.log_probabilities[:, :1],
    )
    with pytest.raises(ValueError, match="2 tokens: head scores need at least 3"):
        read_split(with_task(model, characters), cut)


def test_long_questions_are_read_a_few_at_a_time(
    make_variant: Callable[[str], GPT],
    characters: Vocabulary,
    questions: list[Question],
    monkeypatch: pytest.MonkeyPatch,
):
    checkpoint = with_task(make_variant("learned"), characters)
    known = answered(checkpoint, questions[:4])
    whole = read_split(checkpoint, known)
    monkeypatch.setattr(module, "MOST_BYTES", 1)
    np.testing.assert_allclose(read_split(checkpoint, known).patterns, whole.patterns, atol=1e-5)
