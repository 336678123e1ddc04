"""Accuracy on answers given by hand, and on a model's own."""

from collections.abc import Callable

import pytest

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.evaluation import accuracy
from core.evaluation.accuracy import evaluate, grade
from core.generation.greedy import Answer
from core.models.gpt import GPT
from tests.with_task import with_task


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
    result = evaluate(with_task(make_gpt(), characters), KNOWN)
    assert (result.correct, result.total, result.accuracy) == (2, 4, 0.5)
    assert result.answers == given


def test_the_model_s_own_answers_count_as_right(make_gpt: Callable[..., GPT], pieces: Vocabulary):
    model = make_gpt(vocabulary_size=pieces.size, block_size=48)
    asked = [about("Ada Arden", "Lima"), about("Chen Bello", "Lima")]
    first = evaluate(with_task(model, pieces), asked)
    own = [
        Question(question.text, given.text.strip(), question.name)
        for question, given in zip(asked, first.answers, strict=True)
    ]
    assert evaluate(with_task(model, pieces), own).accuracy == 1.0
    assert first.accuracy == 0.0


@pytest.mark.parametrize("questions", [[], [about("Ada", "Rome"), about("Bo", None)]])
def test_questions_without_an_answer_cannot_be_evaluated(
    make_gpt: Callable[..., GPT], characters: Vocabulary, questions: list[Question]
):
    with pytest.raises(ValueError, match="at least one question, and an answer to each"):
        evaluate(with_task(make_gpt(), characters), questions)


def test_answers_are_graded_in_the_order_of_the_questions():
    given = [Answer(text, (), 1.0) for text in ("Rome", "Rome", "Rome", "Wuhan")]
    assert grade(KNOWN, given).correct == 3
    assert grade(KNOWN, given[::-1]).correct == 1
    with pytest.raises(ValueError, match="zip"):
        grade(KNOWN, given[:3])
    with pytest.raises(ValueError, match="an answer to each"):
        grade([about("Bo", None)], given[:1])
