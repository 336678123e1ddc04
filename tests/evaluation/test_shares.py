"""The baselines on values worked out by hand, and on the course's files."""

from pathlib import Path

import pytest

from core.data.corpus import TrainingCorpus, course_corpus, notable_corpus
from core.data.course import load_course
from core.data.people import Person, Question
from core.evaluation.shares import (
    ceiling,
    constant_answer,
    constant_baseline,
    lookup_baseline,
    nearest_name_baseline,
    nearest_names,
)


def about(name: str, place: str | None) -> Question:
    return Question(f"Where was {name} born?", place, name)


KNOWN = [
    about("Anna Bell", "Rome"),
    about("Karl Weber", "Trier"),
    about("Carla Weber", "Rome"),
    about("Mei Lin", "Wuhan"),
]


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


def test_the_nearest_names_are_those_of_a_plain_comparison(people: list[Person]):
    known = [person.name for person in people]
    asked = [*known[::3], "Ada", "Bruno Ardn", "x", "Ada Arden"]

    def grams(name: str) -> set[str]:
        padded = f"  {name.casefold()} "
        return {padded[i : i + 3] for i in range(len(padded) - 2)}

    def similar(one: str, other: str) -> float:
        return len(grams(one) & grams(other)) / len(grams(one) | grams(other))

    plain = [known.index(max(known, key=lambda k: similar(name, k))) for name in asked]
    assert nearest_names(known, asked) == plain
    others = nearest_names(known, known[:5], known[:5])
    for index, found in enumerate(others):
        rest = [name for name in known if name != known[index]]
        assert found is not None
        assert known[found] == max(rest, key=lambda k: similar(known[index], k))


def test_where_nobody_else_is_known_no_name_is_nearest():
    assert nearest_names([], ["Ada"]) == [None]
    assert nearest_names(["Ada", "Ada"], ["Ada"], ["Ada"]) == [None]


def looked_up(name: str, text: str, *places: str) -> str | None:
    """What the lookup answers, found by asking which place it would count as right."""
    known = [about(f"Person {i}", place) for i, place in enumerate(places)]
    for place in places:
        if lookup_baseline(known, [about(name, place)], [text]) == 1.0:
            return place
    return None


def test_the_lookup_answers_the_first_known_place_in_the_text():
    text = "Bo went from Trier to Rome and on to Wuhan."
    assert looked_up("Bo", text, "Wuhan", "Rome", "Trier") == "Trier"
    assert looked_up("Bo", text, "Wuhan", "Rome") == "Rome"
    assert looked_up("Bo", text, "Oslo") is None
    assert looked_up("Bo", "", "Oslo") is None


def test_of_places_that_begin_together_the_longest_counts():
    assert looked_up("Bo", "Born in New York City.", "New", "New York", "York") == "New York"


def test_a_place_that_is_a_word_of_the_name_is_passed_over():
    text = "Erna Paris was born in Toronto, not in Paris."
    assert looked_up("Erna Paris", text, "Paris", "Toronto") == "Toronto"
    assert looked_up("Erna Parisi", text, "Paris", "Toronto") == "Paris"


def test_the_lookup_knows_places_from_known_questions_only():
    asked = [about("Bo", "Oslo")]
    assert lookup_baseline(KNOWN, asked, ["Bo, of Oslo."]) == 0.0
    assert lookup_baseline([*KNOWN, about("Cy", "Oslo")], asked, ["Bo, of Oslo."]) == 1.0


def test_the_ceiling_is_the_share_of_answers_that_stand_in_the_text():
    asked = [about("Bo", "Oslo"), about("Cy", "Rome"), about("Di", "Lima"), about("Ed", None)]
    texts = ["Bo, of Oslo.", "Cy is Roman.\nCy came from Rome.", "Di.", "Ed."]
    assert ceiling(asked, texts) == 0.5


def test_a_question_needs_its_text():
    with pytest.raises(ValueError, match="zip"):
        lookup_baseline(KNOWN, KNOWN, ["one"])
    with pytest.raises(ValueError, match="zip"):
        ceiling(KNOWN, ["one"])


def test_in_the_notable_corpus_every_answer_stands_in_one_of_the_lines(people: list[Person]):
    corpus = notable_corpus(people, n_sentences=2)
    assert ceiling(corpus.dev, corpus.texts(corpus.dev)) == 1.0
    assert lookup_baseline(corpus.known(), corpus.dev, corpus.texts(corpus.dev)) == 1.0


@pytest.fixture(scope="module")
def course(real_course: Path) -> TrainingCorpus:
    return course_corpus(load_course(real_course))


def test_on_the_course_s_dev_the_lookup_answers_428_and_479_answers_can_be_read(
    course: TrainingCorpus,
):
    texts = course.texts(course.dev)
    assert lookup_baseline(course.known(), course.dev, texts) == 428 / 500
    assert ceiling(course.dev, texts) == 479 / 500


def test_on_the_course_s_dev_always_london_is_right_in_one_of_twenty(course: TrainingCorpus):
    assert constant_answer(course.known()) == "London"
    assert constant_baseline(course.known(), course.dev) == ("London", 0.05)
    assert nearest_name_baseline(course.known(), course.dev) == 15 / 500
