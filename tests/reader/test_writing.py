"""What readers write of a corpus: question and answer for everybody, from the text alone."""

from dataclasses import replace
from functools import partial

import pytest

from core.data.corpus import TrainingCorpus
from core.reader import writing
from core.reader.reading import Found, train_readers
from core.reader.writing import (
    is_sure,
    pairs_of,
    readers_of,
    written_from_dict,
    written_questions,
    written_to_dict,
)


@pytest.fixture(autouse=True)
def one_quick_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "train_readers", partial(train_readers, n_nets=1, n_epochs=2))


@pytest.fixture
def unanswered(corpus: TrainingCorpus) -> TrainingCorpus:
    """The same corpus, in which nobody knows an answer but those of the training questions."""
    nobody = {
        name: [replace(q, answer=None) for q in corpus.questions(name)] for name in ("dev", "test")
    }
    held_out = [replace(q, answer="a wrong one") for q in corpus.held_out]
    return replace(corpus, held_out=held_out, **nobody)


def test_each_pair_has_the_lines_of_its_person(corpus: TrainingCorpus):
    for pair, question in zip(pairs_of(corpus, corpus.dev), corpus.dev, strict=True):
        assert pair.name == question.name
        assert pair.name in pair.text
        assert question.answer is not None
        assert question.answer in pair.text


def test_no_answer_but_those_asked_in_training_is_looked_at(
    corpus: TrainingCorpus, unanswered: TrainingCorpus
):
    one = written_questions(corpus, seed=0)
    assert one == written_questions(unanswered, seed=0)
    others = len(corpus.held_out) + len(corpus.dev) + len(corpus.test)
    assert one.n_read == others


def test_written_questions_are_about_the_others_and_mostly_right(
    corpus: TrainingCorpus, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(writing, "train_readers", partial(train_readers, n_nets=1, n_epochs=80))
    written = written_questions(corpus, seed=0).questions
    asked = {q.text: q.answer for q in corpus.held_out + corpus.dev + corpus.test}
    assert {q.text for q in written} <= set(asked)
    assert not {q.text for q in written} & {q.text for q in corpus.train}
    right = sum(question.answer == asked[question.text] for question in written)
    assert right > 0.7 * len(asked)


def test_what_is_not_sure_is_not_written(corpus: TrainingCorpus, monkeypatch: pytest.MonkeyPatch):
    assert is_sure(Found("Rome", 0.5))
    assert not is_sure(Found("Rome", 0.49))
    monkeypatch.setattr(writing, "read", lambda _, pairs: [Found("Rome", 0.2) for _ in pairs])
    assert written_questions(corpus, seed=0).questions == ()


def test_another_seed_gives_other_readers(corpus: TrainingCorpus):
    first, second = (readers_of(corpus, seed=seed).nets[0].ends.weight for seed in (0, 1))
    assert not first.equal(second)


def test_questions_are_read_as_they_were_written(corpus: TrainingCorpus):
    assert written_from_dict(written_to_dict(corpus.dev)) == corpus.dev


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "not the questions that readers wrote: 'questions'"),
        ({"questions": [["a", "b"]]}, "not enough values"),
        ({"questions": 3}, "not iterable"),
    ],
)
def test_other_questions_are_refused(data: dict[str, object], message: str):
    with pytest.raises(ValueError, match=message):
        written_from_dict(data)
