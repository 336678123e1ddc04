"""Each kind of wrong answer, and what is no mistake."""

import pytest

from core.data.people import Question
from core.evaluation.mistakes import KINDS, Mistake, count_kinds, mistakes

COUNTRIES = {"Rome": "IT", "Milan": "IT", "Lyon": "FR", "Nice": "FR", "Italy": "IT"}


def about(place: str | None) -> Question:
    return Question(f"Where was somebody from {place} born?", place, str(place))


KNOWN = [about("Lyon"), about("Atlantis"), about("Rome")]


def kind(given: str, expected: str) -> str:
    (found,) = mistakes([about(expected)], [given], KNOWN, COUNTRIES)
    return found.kind


@pytest.mark.parametrize(
    ("given", "expected", "is_kind"),
    [
        ("Milan", "Rome", "right_country"),
        ("Italy", "Rome", "right_country"),
        ("Lyon", "Rome", "known_place"),
        ("Nice", "Rome", "known_place"),  # no training answer, but a real place
        ("Atlantis", "Rome", "known_place"),  # a training answer without a country
        ("Lyonia", "Rome", "made_up"),
        ("rome", "Milan", "made_up"),
        ("", "Rome", "made_up"),
        (" ", "Rome", "made_up"),
    ],
)
def test_a_wrong_answer_has_one_kind(given: str, expected: str, is_kind: str):
    assert kind(given, expected) == is_kind


def test_two_places_without_a_country_are_not_in_the_same_country():
    assert kind("Atlantis", "Lemuria") == "known_place"
    assert kind("Mu", "Lemuria") == "made_up"


def test_right_answers_are_no_mistakes_and_the_order_stays():
    asked = [about("Rome"), about("Lyon"), about("Milan")]
    found = mistakes(asked, ["Milan", " Lyon ", "Mu"], KNOWN, COUNTRIES)
    assert found == [
        Mistake(asked[0].text, "Milan", "Rome", "right_country"),
        Mistake(asked[2].text, "Mu", "Milan", "made_up"),
    ]


def test_every_kind_is_counted_even_if_there_is_none_of_it():
    assert count_kinds([]) == dict.fromkeys(KINDS, 0)
    found = mistakes([about("Rome")] * 3, ["Milan", "Mu", "Mu"], KNOWN, COUNTRIES)
    assert count_kinds(found) == {"right_country": 1, "known_place": 0, "made_up": 2}


def test_a_question_without_an_answer_cannot_be_judged():
    with pytest.raises(ValueError, match="has no answer: nobody can say what is wrong"):
        mistakes([about(None)], ["Rome"], KNOWN, COUNTRIES)
    with pytest.raises(ValueError, match="zip"):
        mistakes([about("Rome")], [], KNOWN, COUNTRIES)
