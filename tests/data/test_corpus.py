"""A training corpus holds everybody, asks train people only, and has a digest that notices."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.data.corpus import (
    TrainingCorpus,
    course_corpus,
    make_vocabulary,
    notable_corpus,
    questions_digest,
)
from core.data.course import CourseData, load_course
from core.data.own_vocabulary import BpeVocabulary, CharVocabulary
from core.data.people import Person, Question, is_held_out, split_of

PersonMaker = Callable[..., Person]


@pytest.fixture(scope="module")
def whole(table: list[Person]) -> TrainingCorpus:
    return notable_corpus(table, n_sentences=2)


def course(n_train: int) -> CourseData:
    train = [Question(f"Where was {i} born?", "Rome", str(i)) for i in range(n_train)]
    return CourseData(
        sentences=[f"{question.name} was born in Rome." for question in train],
        train=train,
        dev=[],
        test=[],
    )


def test_everybody_is_in_the_documents_with_as_many_lines_as_asked_for(
    whole: TrainingCorpus, table: list[Person]
) -> None:
    assert [name for name, _ in whole.documents] == [person.name for person in table]
    assert {len(lines) for _, lines in whole.documents} == {2}


def test_only_train_people_are_asked_about_in_training(whole: TrainingCorpus) -> None:
    assert {split_of(q.name) for q in whole.train} == {"train"}
    assert not any(is_held_out(q.name) for q in whole.train)
    assert all(is_held_out(q.name) for q in whole.held_out)
    assert {split_of(q.name) for q in whole.dev} == {"dev"}
    assert {split_of(q.name) for q in whole.test} == {"test"}


def test_the_four_sets_of_questions_cover_everybody_once(
    whole: TrainingCorpus, table: list[Person]
) -> None:
    asked = [*whole.train, *whole.held_out, *whole.dev, *whole.test]
    assert sorted(q.name for q in asked) == sorted(person.name for person in table)
    assert whole.known() == whole.train + whole.held_out


def test_questions_are_found_by_split_without_the_held_out_slice(whole: TrainingCorpus) -> None:
    assert whole.questions("train") is whole.train
    assert whole.questions("dev") is whole.dev
    assert whole.questions("test") is whole.test


def test_no_question_stands_in_the_documents(whole: TrainingCorpus) -> None:
    assert not any("Where was" in line for _, lines in whole.documents for line in lines)


def test_the_digest_is_the_same_for_the_same_table_and_notices_a_changed_fact(
    make_person: PersonMaker,
) -> None:
    def digest(n_sentences: int = 18, **changes: object) -> str:
        people = [make_person(), make_person(name="Bo Example", **changes)]
        return notable_corpus(people, n_sentences=n_sentences).digest

    assert digest() == digest()
    assert len(digest()) == 64
    changed = [digest(birthplace="Rome"), digest(known_for="glass"), digest(n_sentences=2)]
    assert len({digest(), *changed}) == 4


def test_the_digest_notices_which_questions_are_asked() -> None:
    given = course(40)
    documents = course_corpus(given, n_held_out=2).documents
    assert documents == course_corpus(given, n_held_out=4).documents
    other = CourseData(
        sentences=given.sentences, train=given.train[:-1], dev=given.train[-1:], test=[]
    )
    assert course_corpus(given).digest != course_corpus(other).digest


def test_the_course_keeps_the_last_training_questions_for_tuning() -> None:
    data = course(100)
    corpus = course_corpus(data, n_held_out=7)
    assert corpus.train == data.train[:93]
    assert corpus.held_out == data.train[93:]
    assert corpus.documents[0] == ("0", ["0 was born in Rome."])


@pytest.mark.parametrize(
    ("n_train", "n_held_out", "n_kept"),
    [(100, 0, 0), (100, 200, 10), (9, 200, 0), (3000, 200, 200)],
)
def test_at_most_a_tenth_of_the_course_is_held_out(
    n_train: int, n_held_out: int, n_kept: int
) -> None:
    corpus = course_corpus(course(n_train), n_held_out=n_held_out)
    assert (len(corpus.train), len(corpus.held_out)) == (n_train - n_kept, n_kept)


def test_the_real_course_asks_1800_questions_and_holds_200_out(real_course: Path) -> None:
    corpus = course_corpus(load_course(real_course))
    assert (len(corpus.train), len(corpus.held_out)) == (1800, 200)
    assert (len(corpus.dev), len(corpus.test), len(corpus.documents)) == (500, 437, 2937)


def test_both_kinds_of_vocabulary_can_say_every_line_and_question(table: list[Person]) -> None:
    corpus = notable_corpus(table[:300], n_sentences=2)
    texts = [line for _, lines in corpus.documents for line in lines]
    texts += [q.text for q in [*corpus.train, *corpus.held_out, *corpus.dev, *corpus.test]]
    char = make_vocabulary(corpus, "char", n_pieces=0)
    bpe = make_vocabulary(corpus, "bpe", n_pieces=600)
    assert isinstance(char, CharVocabulary)
    assert isinstance(bpe, BpeVocabulary)
    assert bpe.size == 600
    for text in texts:
        assert char.decode(char.encode(text)) == text == bpe.decode(bpe.encode(text))


def test_the_characters_are_those_of_the_documents_and_of_training_questions() -> None:
    corpus = TrainingCorpus(
        documents=[("A", ["ab", "c"])],
        train=[Question("d?", "a", "A")],
        held_out=[Question("h", "a", "A")],
        dev=[Question("v", "a", "A")],
        test=[],
    )
    vocabulary = make_vocabulary(corpus, "char", n_pieces=0)
    assert set("abcd?") <= set(vocabulary.decode(range(vocabulary.size)))
    with pytest.raises(ValueError, match="position 0: 'v'"):
        vocabulary.encode("v")


def test_texts_are_all_lines_about_the_person_of_each_question(whole: TrainingCorpus) -> None:
    documents = dict(whole.documents)
    asked = whole.dev[::-1]
    assert whole.texts(asked) == ["\n".join(documents[question.name]) for question in asked]
    with pytest.raises(KeyError):
        whole.texts([Question("Where was Nobody born?", "Rome", "Nobody")])


def test_namesakes_are_told_apart_by_their_order() -> None:
    def about(place: str | None) -> Question:
        return Question("Where was Bo born?", place, "Bo")

    data = CourseData(
        sentences=["Bo, of Rome.", "Bo, of Oslo.", "Bo, of Lima."],
        train=[about("Rome")],
        dev=[about("Oslo")],
        test=[about(None)],
    )
    corpus = course_corpus(data)
    assert corpus.texts(corpus.train) == ["Bo, of Rome."]
    assert corpus.texts(corpus.dev) == ["Bo, of Oslo."]
    assert corpus.texts(corpus.test) == ["Bo, of Lima."]


def test_the_digest_of_questions_notices_text_answer_and_order() -> None:
    one, two = Question("a", "Rome", "x"), Question("b", None, "y")
    digests = {
        questions_digest(questions)
        for questions in ([one, two], [two, one], [one], [Question("a", None, "x"), two], [])
    }
    assert len(digests) == 5
    assert questions_digest([one]) == questions_digest([Question("a", "Rome", "another name")])
