"""Shares by continent, pronoun, century and frequency, and whose places are answered."""

from dataclasses import replace

import pytest

from core.data.people import Person
from core.intervals import wilson_interval
from core.knowledge.breakdowns import (
    by_century,
    by_continent,
    by_frequency,
    by_pronoun,
    continents_of,
)
from core.knowledge.groups import Named
from core.knowledge.record import Outcome


@pytest.fixture(scope="module")
def four(people: list[Person]) -> list[Person]:
    """Lagos, Kyoto, Lima, Lagos; he, she, they, he."""
    years = (-551, 1499, 1500, 2001)
    return [replace(person, born=year) for person, year in zip(people, years, strict=False)]


@pytest.fixture(scope="module")
def named(four: list[Person]) -> list[Named]:
    return [Named(name=p.name, text="?", place=p.birthplace, person=p.name) for p in four]


FOUND: list[Outcome] = ["right", "made_up", "known_place", "made_up"]


def rows(found: object) -> list[tuple[str, int, int, int]]:
    assert isinstance(found, tuple)
    return [(row.name, row.n, row.right, row.made_up) for row in found]


def test_rows_are_those_that_anybody_belongs_to(four: list[Person], named: list[Named]):
    assert rows(by_continent(four, named, FOUND)) == [
        ("Africa", 2, 1, 1),
        ("Asia", 1, 0, 1),
        ("South America", 1, 0, 0),
    ]
    assert rows(by_pronoun(four, named, FOUND)) == [
        ("he", 2, 1, 1),
        ("she", 1, 0, 1),
        ("they", 1, 0, 0),
    ]
    low, high = by_continent(four, named, FOUND)[0].low, by_continent(four, named, FOUND)[0].high
    assert (low, high) == pytest.approx((0.0945, 0.9055), abs=1e-3)


def test_centuries_before_1500_are_one_row(four: list[Person], named: list[Named]):
    assert rows(by_century(four, named, FOUND)) == [
        ("before 1500", 2, 1, 1),
        ("1500–1599", 1, 0, 0),
        ("2000–2099", 1, 0, 1),
    ]


def test_a_place_is_counted_among_the_answers_of_training(named: list[Named]):
    trained = ["Lagos"] * 4 + ["Kyoto"] * 20
    assert rows(by_frequency(trained, named, FOUND)) == [
        ("0", 1, 0, 0),
        ("2–4", 2, 1, 1),
        ("20+", 1, 0, 1),
    ]


def test_people_outside_of_the_table_are_in_no_row(four: list[Person]):
    stranger = [Named(name="x", text="?")]
    assert by_continent(four, stranger, ["made_up"]) == ()
    assert by_century(four, stranger, ["made_up"]) == ()
    assert by_frequency(["Rome"], stranger, ["made_up"]) == ()


def test_places_have_the_continent_of_most_of_the_people_born_there(four: list[Person]):
    moved = [replace(p, birthplace="Lagos") for p in four]  # two of Africa, one each of others
    found = {row.name: row for row in continents_of(moved, ["Lagos", "x", "Lagos "], ["Lagos"])}
    assert (found["Africa"].n, found["Africa"].training_share) == (2, 1)
    assert found["Africa"].share == 1
    assert (found["Africa"].low, found["Africa"].high) == wilson_interval(2, 2)
    assert found["Asia"].n == 0


def test_made_up_words_lie_nowhere_and_count_for_no_continent(four: list[Person]):
    apart = [replace(p, birthplace=f"place {n}") for n, p in enumerate(four)]
    places, given = [p.birthplace for p in apart], ["place 0", "x", "place 3"]
    found = {row.name: row for row in continents_of(apart, given, [*places, "y"])}
    assert sum(row.n for row in found.values()) == 2
    assert sum(row.share for row in found.values()) == pytest.approx(1)
    assert sum(row.training_share for row in found.values()) == pytest.approx(1)
    assert continents_of(apart, ["x"], places) == ()
    assert continents_of(apart, given, ["y"]) == ()
