"""From what was heard to whom it asks about."""

import pytest

from core.speech.asking import asked_name, nearest, spelled

NAMES = ["Lise Meitner", "Ada Lovelace", "Élisabeth Vigée Le Brun", "Jo Ann", "Jo Anna", "Jo-Ann"]


@pytest.mark.parametrize(
    ("heard", "name"),
    [
        ("where was ada lovelace born", "ada lovelace"),
        ("where was born born", "born"),
        ("where was born", ""),
        ("where is ada lovelace born", ""),
        ("where was ada lovelace born then", ""),
        ("", ""),
    ],
)
def test_a_name_is_found_in_a_whole_question_alone(heard: str, name: str):
    assert asked_name(heard) == name


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
