"""Places and their countries: GeoNames by name, and the table of people."""

from dataclasses import replace

import pytest

from core.data.people import Person
from core.evaluation.countries import countries_in, countries_of

KNOWN = {
    "Leeds": "GB",
    "Brooklyn": "US",  # a part of a city
    "Germany": "DE",
    "California": "US",
    "Boston": "US",  # the one in Lincolnshire has fewer people
    "Georgia": "US",  # of country and state, the one with more people
    "Kiev": "UA",  # an older name
    "Frankfurt": "DE",  # a short name
    "Washington": "US",
}


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return countries_of([*KNOWN, "England", "Nowhereville", "leeds", ""])


def test_cities_countries_and_states_have_their_country(found: dict[str, str]):
    assert found == KNOWN


def test_nothing_asked_is_nothing_found():
    assert countries_of([]) == {}


def test_a_birthplace_of_the_table_has_the_country_of_most_of_its_people(people: list[Person]):
    assert countries_in(people) == {"Lagos": "Nigeria", "Kyoto": "Japan", "Lima": "Peru"}
    lima = [person for person in people if person.birthplace == "Lima"]
    elsewhere = [replace(person, country="Ohio") for person in lima[:2]]
    assert countries_in([*elsewhere, *lima])["Lima"] == "Peru"
    assert countries_in([*elsewhere, *lima[:1]])["Lima"] == "Ohio"
    assert countries_in([]) == {}
