"""From what was heard to whom it asks about."""

import pytest

from core.speech.asking import asked_span, nearest, spelled

NAMES = ["Lise Meitner", "Ada Lovelace", "Élisabeth Vigée Le Brun", "Jo Ann", "Jo Anna", "Jo-Ann"]


@pytest.mark.parametrize(
    ("heard", "name"),
    [
        ("where was ada lovelace born", "ada lovelace"),
        ("where was w born", "w"),
        ("where was born born", "born"),
    ],
)
def test_a_name_is_found_where_it_stands_in_a_question(heard: str, name: str):
    span = asked_span(heard)
    assert span is not None
    assert span[0] == len("where was ")
    assert heard[slice(*span)] == name


@pytest.mark.parametrize(
    "heard",
    ["where was born", "where is ada born", "where was ada born then", "Where was a born", ""],
)
def test_in_no_other_text_is_there_a_name(heard: str):
    assert asked_span(heard) is None


def test_a_heard_name_is_spelled_as_a_name():
    assert spelled("sandra day o'connor") == "Sandra Day O'connor"


def test_marks_and_capitals_are_no_edits():
    found = nearest("elisabeth vigee le brun", NAMES)
    assert (found.names, found.edits) == (("Élisabeth Vigée Le Brun",), 0)


def test_the_nearest_name_is_so_many_edits_away():
    found = nearest("aida lovelase", NAMES)
    assert (found.names, found.edits) == (("Ada Lovelace",), 2)


def test_all_that_are_as_near_are_told_in_the_order_of_the_table():
    found = nearest("jo annx", NAMES)
    assert (found.names, found.edits) == (("Jo Ann", "Jo Anna", "Jo-Ann"), 1)


def test_without_names_there_is_no_nearest():
    with pytest.raises(ValueError, match="at least one is needed"):
        nearest("ada", [])
