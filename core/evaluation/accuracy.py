"""How many birthplace questions a model answers, beside what needs no model at all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.generation.greedy import Answer, answer
from core.models.gpt import GPT


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Answers in the order of the questions, and how many equal the expected text."""

    answers: list[Answer]
    correct: int
    total: int

    @property
    def accuracy(self) -> float:
        return self.correct / self.total


def evaluate(model: GPT, vocabulary: Vocabulary, questions: Sequence[Question]) -> Evaluation:
    """Greedy answers, exact match after trimming. Raises ValueError without answered questions."""
    if not questions or any(question.answer is None for question in questions):
        raise ValueError("evaluation needs at least one question, and an answer to each")
    answers = answer(model, vocabulary, [question.text for question in questions])
    correct = sum(
        given.text.strip() == (question.answer or "").strip()
        for given, question in zip(answers, questions, strict=True)
    )
    return Evaluation(answers, correct, len(questions))


def constant_baseline(known: Sequence[Question], asked: Sequence[Question]) -> tuple[str, float]:
    """(place, accuracy) of always answering the place most frequent among the known answers."""
    place, _ = Counter(question.answer for question in known).most_common(1)[0]
    return str(place), _share(asked, [place] * len(asked))


def nearest_name_baseline(known: Sequence[Question], asked: Sequence[Question]) -> float:
    """Accuracy of answering with the birthplace of the known person whose name is most similar.

    Similarity is the Jaccard index of letter trigrams of the folded names; ties go to the
    earlier person. Cost: |known| · |asked| set operations.
    """
    grams = [(_trigrams(question.name), question.answer) for question in known]
    answers = [
        max(grams, key=lambda entry: _jaccard(_trigrams(question.name), entry[0]))[1]
        for question in asked
    ]
    return _share(asked, answers)


def wilson_interval(correct: int, total: int, *, z: float = 1.96) -> tuple[float, float]:
    """Wilson score interval of a share (95 % by default); sound near 0 and 1."""
    if not 0 <= correct <= total or total < 1:
        raise ValueError(f"{correct} of {total}: needs 0 <= correct <= total and total >= 1")
    share, n = correct / total, total
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, center - half), min(1.0, center + half)


def _share(asked: Sequence[Question], answers: Sequence[str | None]) -> float:
    right = sum(question.answer == a for question, a in zip(asked, answers, strict=True))
    return right / len(asked)


def _trigrams(name: str) -> frozenset[str]:
    padded = f"  {name.casefold()} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
