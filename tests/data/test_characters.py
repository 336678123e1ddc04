"""Composed letters, and nothing in a text that cannot be seen."""

import unicodedata
from pathlib import Path

import pytest

from core.checkpoints.shelf import list_checkpoints
from core.checkpoints.store import load_checkpoint
from core.data.characters import (
    character_ids,
    compose,
    describe_character,
    exact_lines,
    legible,
    read_lines,
    visible,
)
from core.data.own_vocabulary import CharVocabulary
from core.data.people import Person
from core.paths import CHECKPOINTS

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
UNSEEN = BIDI + "\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0f\ufe00\u034f\u3164\u2800\U000e0041\x1b"


@pytest.mark.parametrize("text", ["Gu\u0308l", "G\u00fcl"])
def test_a_letter_and_its_accent_become_one(text: str) -> None:
    assert compose(text) == "G\u00fcl"


def test_composed_text_stays_and_what_has_no_composed_letter_keeps_its_accent() -> None:
    assert compose("Ngũgĩ wa Thiong’o, 李白, x\u0304") == "Ngũgĩ wa Thiong’o, 李白, x\u0304"


def test_a_letter_has_the_ids_of_its_parts_where_it_has_none_of_its_own() -> None:
    ids = {"u": 5, "\u0308": 7, "ä": 9}
    assert character_ids("\u00fcäu", ids) == [5, 7, 9, 5]
    with pytest.raises(ValueError, match=r"position 1: 'ö' \(U\+00F6, .* not among the 3"):
        character_ids("uö", ids)


@pytest.mark.parametrize("character", UNSEEN)
def test_what_cannot_be_seen_stands_as_its_code_point(character: str) -> None:
    shown = f"a‹U+{ord(character):04X}›b"
    assert legible(f"a{character}b") == visible(f"a{character}b") == shown
    assert legible(shown) == shown


def test_every_control_of_direction_and_format_character_is_shown() -> None:
    hidden = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
    assert len(hidden) > 150
    assert [c for c in hidden if c in legible(f"a{c}b")] == []


@pytest.mark.parametrize(
    "text",
    [
        "Where was Ágnes Keleti born?",
        "李白 ليلى नरेन्द्र",
        "two\u00a0 spaces\n\tand lines",
        "\u2764\ufe0f \U0001f44d\U0001f3fd",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f469\U0001f3fd\u200d\u2695\ufe0f",
    ],
)
def test_what_can_be_read_stays_as_it_is(text: str) -> None:
    assert legible(text) == text


def test_a_joiner_between_letters_is_no_emoji() -> None:
    assert legible("a\u200db") == "a‹U+200D›b"
    assert legible("\U0001f468\u200d") == "\U0001f468‹U+200D›"
    assert legible("\u2764\ufe0f\ufe0f") == "\u2764\ufe0f‹U+FE0F›"


def test_a_label_shows_white_space_and_code_points() -> None:
    assert visible("a \n\t\u00a0\u2003\x07\ue000b") == "a·⏎⇥⍽‹U+2003›‹U+0007›‹U+E000›b"
    assert visible("\u2764\ufe0f") == "\u2764‹U+FE0F›"


def test_a_character_is_described_so_that_it_can_be_looked_up() -> None:
    assert describe_character("é") == "'é' (U+00E9, LATIN SMALL LETTER E WITH ACUTE)"
    assert describe_character("\x07") == "'‹U+0007›' (U+0007, no name)"


def test_lines_are_read_in_composed_letters_or_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "lines.tsv"
    path.write_text("Gu\u0308l\ta\u0301\nO\u0308zil\n", encoding="utf-8")
    assert read_lines(path) == ["G\u00fcl\t\u00e1", "\u00d6zil"]
    assert exact_lines(path) == ["Gu\u0308l\ta\u0301", "O\u0308zil"]


def test_all_that_is_trained_on_is_composed_already(table: list[Person]) -> None:
    cells = [text for p in table for text in (p.name, p.birthplace, p.country, p.known_for)]
    assert [text for text in cells if compose(text) != text] == []


@pytest.mark.parametrize("file", ["wiki.txt", "birth_places_train.tsv", "birth_dev.tsv"])
def test_the_files_of_the_course_are_composed_already(real_course: Path, file: str) -> None:
    assert read_lines(real_course / file) == exact_lines(real_course / file)


@pytest.mark.parametrize("name", list_checkpoints(CHECKPOINTS))
def test_no_shipped_vocabulary_knows_a_letter_that_is_not_composed(name: str) -> None:
    vocabulary = load_checkpoint(CHECKPOINTS / name).vocabulary
    if isinstance(vocabulary, CharVocabulary):
        assert [c for c in vocabulary.characters if compose(c) != c] == []
    else:
        text = "".join(vocabulary.decode([token]) for token in range(vocabulary.size))
        assert "\u0308" not in text
