"""What was said and what was heard, letter under letter."""

import random

import pytest

from core.speech.distances import levenshtein
from core.speech.marks import NOTHING, marked


def test_every_edit_stands_under_its_letter():
    found = marked("alfred hitchcock", "alfredo hichkk")
    assert found.said == "alfred· hitchcock"
    assert found.heard == "alfredo hi·ch··kk"
    assert found.marks == "      +   -  --x "
    assert found.edits == 5
    assert found.error == pytest.approx(5 / 16)


def test_the_same_text_has_no_mark():
    found = marked("ada", "ada")
    assert (found.said, found.heard, found.marks, found.error) == ("ada", "ada", "   ", 0)


def test_where_nothing_was_said_there_is_no_error_in_per_cent():
    found = marked("", "was")
    assert (found.said, found.marks, found.edits, found.error) == (NOTHING * 3, "+++", 3, None)
    assert marked("", "").edits == 0


def test_marks_are_as_few_as_the_edits_of_the_measure():
    generator = random.Random(4)
    texts = ["".join(generator.choices("ab c", k=generator.randrange(9))) for _ in range(60)]
    pairs = list(zip(texts[::2], texts[1::2], strict=True))
    assert [marked(*pair).edits for pair in pairs] == levenshtein(pairs).tolist()
    for said, heard in pairs:
        found = marked(said, heard)
        assert found.said.replace(NOTHING, "") == said
        assert found.heard.replace(NOTHING, "") == heard
        assert len(found.said) == len(found.heard) == len(found.marks)
