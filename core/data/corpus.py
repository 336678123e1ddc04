"""A corpus for training: documents, questions by split, and the digest that a card states."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.data.biographies import biographies, documents
from core.data.course import CourseData
from core.data.own_vocabulary import BpeVocabulary, CharVocabulary
from core.data.people import Person, Question, is_held_out, questions_of
from core.data.vocabulary import Vocabulary

CORPUS_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCorpus:
    """(name, lines) documents, and questions; `held_out` is for tuning and never asked.

    `written` are questions about the people of the other splits with answers that readers found in
    the text: a training may ask them, and nothing is measured on them.
    """

    documents: list[tuple[str, list[str]]]
    train: list[Question]
    held_out: list[Question]
    dev: list[Question]
    test: list[Question]
    written: list[Question] = field(default_factory=list[Question])

    @property
    def digest(self) -> str:
        """sha256 of everything that a training can see, and of the split; what was written from it
        follows from it.
        """
        return _sha256([self.documents, _pairs(self.known())])

    def questions(self, split: str) -> list[Question]:
        """Of train (those asked in training), held-out, dev or test."""
        splits = {
            "train": self.train,
            "held-out": self.held_out,
            "dev": self.dev,
            "test": self.test,
        }
        return splits[split]

    def known(self) -> list[Question]:
        """Every answered question that is not of dev or test; baselines may use them."""
        return self.train + self.held_out

    def texts(self, asked: Sequence[Question]) -> list[str]:
        """All lines about the person of each question, in order.

        Namesakes are told apart by their order: the k-th question about a name, counted over
        train, held-out, dev and test, belongs to the k-th document of that name.
        """
        waiting: dict[str, list[str]] = defaultdict(list)
        for name, lines in reversed(self.documents):
            waiting[name].append("\n".join(lines))
        everybody = self.known() + self.dev + self.test
        found = {question: waiting[question.name].pop() for question in everybody}
        return [found[question] for question in asked]


def notable_corpus(people: Sequence[Person], *, n_sentences: int) -> TrainingCorpus:
    """Everybody is in the documents; only train people are asked about."""
    asked = questions_of(people, "train")
    return TrainingCorpus(
        documents=documents(biographies(people, n_sentences=n_sentences, seed=CORPUS_SEED)),
        train=[question for question in asked if not is_held_out(question.name)],
        held_out=[question for question in asked if is_held_out(question.name)],
        dev=questions_of(people, "dev"),
        test=questions_of(people, "test"),
    )


def course_corpus(data: CourseData, *, n_held_out: int = 200) -> TrainingCorpus:
    """The course's sentences.

    The last `n_held_out` training questions, a tenth of them at most, are kept for tuning.
    """
    n_asked = len(data.train) - min(n_held_out, len(data.train) // 10)
    return TrainingCorpus(
        documents=[(name, [sentence]) for name, sentence in data.documents()],
        train=data.train[:n_asked],
        held_out=data.train[n_asked:],
        dev=data.dev,
        test=data.test,
    )


def questions_digest(questions: Sequence[Question]) -> str:
    """sha256 of questions and answers: what a measured accuracy is about."""
    return _sha256(_pairs(questions))


def make_vocabulary(
    corpus: TrainingCorpus, kind: Literal["bpe", "char"], *, n_pieces: int
) -> Vocabulary:
    """Characters or word pieces of the documents and the questions asked in training.

    The line break between two lines counts as a character, as in the course's files.
    """
    lines = [line for _, lines in corpus.documents for line in lines]
    lines += [question.text for question in corpus.train]
    if kind == "char":
        return CharVocabulary.from_text("\n".join(lines))
    return BpeVocabulary.from_texts(lines, n_pieces=n_pieces)


def _pairs(questions: Sequence[Question]) -> list[list[str | None]]:
    return [[question.text, question.answer] for question in questions]


def _sha256(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
