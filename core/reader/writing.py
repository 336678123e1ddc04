"""A closed model teaches itself: readers write question and answer for everybody a corpus tells of.

They have learned from the training questions alone. What they write down of dev and test people is
read in those people's own sentences; no answer of dev or test is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from core.checkpoints.progress import Counted
from core.data.corpus import TrainingCorpus
from core.data.people import Question
from core.reader.reading import Found, Readers, read, train_readers
from core.reader.words import Pair

SURE = 0.5  # what is held for less likely than not is no question to be practised


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Questions with the answers that readers are sure of, out of `n_read` that were asked."""

    questions: tuple[Question, ...]
    n_read: int


def written_to_dict(questions: Sequence[Question]) -> dict[str, Any]:
    """What `written_from_dict` reads; of a question its text, answer and name."""
    return {"questions": [[q.text, q.answer, q.name] for q in questions]}


def written_from_dict(data: dict[str, Any]) -> list[Question]:
    """The inverse of `written_to_dict`. Raises ValueError for anything else."""
    try:
        rows = cast(list[tuple[str, str, str]], data["questions"])
        return [Question(str(text), str(answer), str(name)) for text, answer, name in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not the questions that readers wrote: {error}") from None


def pairs_of(corpus: TrainingCorpus, asked: Sequence[Question]) -> list[Pair]:
    """Each question with what the corpus says of its person."""
    texts = corpus.texts(asked)
    return [
        Pair(name=q.name, text=text, answer=q.answer) for q, text in zip(asked, texts, strict=True)
    ]


def readers_of(corpus: TrainingCorpus, *, seed: int, progress: Counted | None = None) -> Readers:
    """Readers of the questions asked in training: held-out ones are left to be found."""
    return train_readers(pairs_of(corpus, corpus.train), seed=seed, progress=progress)


def written_questions(
    corpus: TrainingCorpus, *, seed: int, progress: Counted | None = None
) -> Written:
    """Questions about everybody who is not asked about in training, with what readers are sure of.

    Cost: the training of the readers, and a second to read.
    """
    others = [*corpus.held_out, *corpus.dev, *corpus.test]
    found = read(readers_of(corpus, seed=seed, progress=progress), pairs_of(corpus, others))
    return Written(questions=tuple(_sure(others, found)), n_read=len(others))


def is_sure(found: Found) -> bool:
    """Whether it is held for likely enough to be practised."""
    return found.probability >= SURE


def _sure(asked: Sequence[Question], found: Sequence[Found]) -> list[Question]:
    return [
        Question(question.text, one.answer, question.name)
        for question, one in zip(asked, found, strict=True)
        if is_sure(one)
    ]
