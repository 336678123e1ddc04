"""How many questions a model answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.checkpoints.store import Checkpoint
from core.data.people import Question, is_right
from core.generation.greedy import Answer, answer


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Answers in the order of the questions, and how many are right by the questions' rule."""

    answers: list[Answer]
    correct: int
    total: int

    @property
    def accuracy(self) -> float:
        return self.correct / self.total


def evaluate(checkpoint: Checkpoint, questions: Sequence[Question]) -> Evaluation:
    """Greedy answers to questions whose answers are known, and how many are right."""
    _refuse_unanswered(questions)
    return grade(questions, answer(checkpoint, [question.text for question in questions]))


def grade(questions: Sequence[Question], answers: Sequence[Answer]) -> Evaluation:
    """How many are right. Raises ValueError without answered questions."""
    _refuse_unanswered(questions)
    correct = sum(
        is_right(given.text, question.answer or "", question.rule)
        for given, question in zip(answers, questions, strict=True)
    )
    return Evaluation([*answers], correct, len(questions))


def _refuse_unanswered(questions: Sequence[Question]) -> None:
    if not questions or any(question.answer is None for question in questions):
        raise ValueError("evaluation needs at least one question, and an answer to each")
