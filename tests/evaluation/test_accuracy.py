"""Accuracy, baselines and the interval on values worked out by hand."""

from collections.abc import Callable

import pytest

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.evaluation import accuracy
from core.evaluation.accuracy import (
    constant_baseline,
    evaluate,
    nearest_name_baseline,
    wilson_interval,
)
from core.generation.greedy import Answer
from core.models.gpt import GPT


def about(name: str, place: str | None) -> Question:
    return Question(f"Where was {name} born?", place, name)


KNOWN = [
    about("Anna Bell", "Rome"),
    about("Karl Weber", "Trier"),
    about("Carla Weber", "Rome"),
    about("Mei Lin", "Wuhan"),
]


def test_an_answer_counts_when_it_is_equal_after_trimming(
    monkeypatch: pytest.MonkeyPatch, make_gpt: Callable[..., GPT], characters: Vocabulary
):
    given = [Answer(text, (), 1.0) for text in (" Rome ", "Trier", "Romeo", "wuhan")]
    monkeypatch.setattr(accuracy, "answer", lambda *_: given)
    result = evaluate(make_gpt(), characters, KNOWN)
    assert (result.correct, result.total, result.accuracy) == (2, 4, 0.5)
    assert result.answers == given


def test_the_model_s_own_answers_count_as_right(make_gpt: Callable[..., GPT], pieces: Vocabulary):
    model = make_gpt(vocabulary_size=pieces.size, block_size=48)
    asked = [about("Ada Arden", "Lima"), about("Chen Bello", "Lima")]
    first = evaluate(model, pieces, asked)
    own = [
        Question(question.text, given.text.strip(), question.name)
        for question, given in zip(asked, first.answers, strict=True)
    ]
    assert evaluate(model, pieces, own).accuracy == 1.0
    assert first.accuracy == 0.0


@pytest.mark.parametrize("questions", [[], [about("Ada", "Rome"), about("Bo", None)]])
def test_questions_without_an_answer_cannot_be_evaluated(
    make_gpt: Callable[..., GPT], characters: Vocabulary, questions: list[Question]
):
    with pytest.raises(ValueError, match="at least one question, and an answer to each"):
        evaluate(make_gpt(), characters, questions)


def test_the_constant_baseline_answers_the_most_frequent_known_place():
    asked = [about("A", "Rome"), about("B", "Trier"), about("C", "Trier"), about("D", "Oslo")]
    assert constant_baseline(KNOWN, asked) == ("Rome", 0.25)


def test_the_nearest_name_baseline_answers_the_place_of_the_most_similar_name():
    asked = [about("Anna Belli", "Rome"), about("Karl Webers", "Trier"), about("Mei Ling", "Oslo")]
    assert nearest_name_baseline(KNOWN, asked) == pytest.approx(2 / 3)


def test_a_tie_between_names_goes_to_the_earlier_person():
    twins = [about("Jo Smith", "Leeds"), about("jo smith", "York")]
    assert nearest_name_baseline(twins, [about("JO SMITH", "Leeds")]) == 1.0
    assert nearest_name_baseline(twins[::-1], [about("JO SMITH", "Leeds")]) == 0.0


@pytest.mark.parametrize(
    ("correct", "total", "low", "high"),
    [
        # centre (p + z²/2n) / (1 + z²/n), z = 1.96; at p = 0 the upper end is z² / (n + z²)
        (5, 10, 0.23659, 0.76341),
        (0, 10, 0.0, 0.27754),
        (10, 10, 0.72246, 1.0),
        (90, 100, 0.82563, 0.94477),
    ],
)
def test_the_wilson_interval_has_its_hand_computed_ends(
    correct: int, total: int, low: float, high: float
):
    assert wilson_interval(correct, total) == pytest.approx((low, high), abs=1e-5)


def test_a_narrower_confidence_gives_a_narrower_interval():
    low, high = wilson_interval(5, 10, z=1.0)
    assert (low, high) == pytest.approx((0.5 - 0.5 / 11**0.5, 0.5 + 0.5 / 11**0.5))


@pytest.mark.parametrize(("correct", "total"), [(1, 0), (0, 0), (3, 2), (-1, 4)])
def test_impossible_counts_have_no_interval(correct: int, total: int):
    with pytest.raises(ValueError, match=f"{correct} of {total}: needs 0 <= correct <= total"):
        wilson_interval(correct, total)
