"""Lessons from files: what is read, and what is refused with file, step and reason."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.lessons.lesson import number_text, right_answer, said
from core.lessons.reading import find_lesson, list_lessons, read_lesson

Write = Callable[..., Path]
NUMBER = 'low = 0\nhigh = 100\nunit = "%"\nright = "share"'
CHOICES = 'choices = ["nearly all", "none"]\nright = "nearly all"'


def test_a_lesson_is_read_whole(write: Write):
    lesson = read_lesson(write())
    (step,) = lesson.steps
    assert (lesson.name, lesson.title, lesson.minutes, lesson.order) == (
        "a-lesson",
        "A lesson",
        10,
        1,
    )
    assert step.state == {"checkpoint": "notable-pretrained", "hand-beta": "8"}
    assert step.predict is not None
    assert right_answer(step, step.predict) == "nearly all"
    assert said(step, step.text) == "L1·H0 puts 95.5 % on the name; β is 8."
    assert [claim.name for claim in lesson.claims] == ["share"]


def test_a_number_is_predicted_by_the_name_of_its_claim(write: Write):
    (step,) = read_lesson(write(CHOICES, NUMBER)).steps
    assert step.predict is not None
    assert step.predict.of_number
    assert right_answer(step, step.predict) == "95.5 %"


def test_a_value_of_an_address_may_be_several(write: Write):
    (step,) = read_lesson(write('hand-beta = "8"', 'off-L0 = ["H1", "H8"]')).steps
    assert step.state["off-L0"] == ("H1", "H8")


def test_names_of_heads_and_mechanisms_may_have_figures(write: Write):
    (step,) = read_lesson(write("β is 8.", "L1·H7 of L1, or H3, and elu+1: β = 8.")).steps
    assert "elu+1" in step.text


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (92.1, "%", "92.1 %"),
        (100_000, "", "100,000"),
        (3, "", "3"),
        (1234.5, "ms", "1,234.5 ms"),
        (-0.25, "", "−0.25"),
        (0.00001, "", "0.00001"),
    ],
)
def test_a_number_is_written_as_it_is_stated(number: float, unit: str, text: str):
    assert number_text(number, unit) == text


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("minutes = 10", 'minutes = "10"', "a-lesson.toml: Expected `int`"),
        ("minutes = 10", "minutes = 0", "minutes is 0"),
        ("order = 1", "order = 1\ncolour = 1", "a-lesson.toml: unknown keys: colour"),
        ('learns = "How it is told."', "", "missing required field `learns`"),
        ("A lesson", "A lesson in 7 steps", "the figure 7 is neither"),
        ('title = "One question"', "", "step 1: .*missing required field `title`"),
        ('"One question"', '" "', "step 1: title is empty"),
        ('page = "attention"', 'page = "nowhere"', "step 1: page is 'nowhere'; pages: attention"),
        ('hand-beta = "8"', "hand-beta = 8", "step 1: state is .*texts"),
        ("β is 8.", "β is 9.", r"step 1: the figure 9 is neither .*\(8\)"),
        ("β is 8.", "β is 8.5.", "the figure 8.5 is neither"),
        ("β is 8.", "L1·H7 and layer 1", "the figure 1 is neither"),
        ("{share}", "{shape}", "step 1: no claim is called 'shape'; claims of this step: share"),
        ("{share}", "{share", "a brace without its other half"),
        ("{share}", "95.5 %", "the figure 95.5 is neither"),
        ('"none"]', '"none of 2"]', "the figure 2 is neither"),
        ("How much?", "How many of 601?", "the figure 601 is neither"),
        ("of the questions", "of {share} questions", "stands behind its own number"),
        ("of the questions", "of 601 questions", "the figure 601 is neither"),
        ('right = "nearly all"', 'right = "half"', "which is none of the choices"),
        ('"none"]', '"nearly all"]', "each once"),
        ('right = "nearly all"', 'right = "nearly all"\nlow = 0', "has no low, high and unit"),
        (CHOICES, 'right = "share"', "needs choices, or low and high"),
        (CHOICES, NUMBER.replace("100", "50"), "share is 95.5, not from 0 to 50"),
        (CHOICES, NUMBER.replace("100", "inf"), "asks for '%'"),
        (CHOICES, NUMBER.replace('"%"', '"s"'), "predict asks for 's'; share is in '%'"),
        ('name = "share"', 'name = "The share"', "a claim is called like name_share"),
        ('unit = "%"', 'unit = "miles"', "unit is 'miles'; units: %"),
        ("stated = 95.5", 'stated = "95.5"', "step 1: Expected `int | float`"),
        ("stated = 95.5", "stated = nan", "nan within 0.1 can be held to nothing"),
        ("tolerance = 0.1", "tolerance = inf", "can be held to nothing"),
        ("tolerance = 0.1", "tolerance = -0.1", "can be held to nothing"),
        ('call = "right_share"', 'call = "wrong"', "unknown call 'wrong'; calls: weight_on_name"),
        ('with = { checkpoint = "notable-pretrained" }', "", "not told checkpoint"),
        ("with = {", "with_ = {", "unknown keys: with_"),
        ("with = {", "with = { seed = 1, ", "right_share is told seed; it takes checkpoint"),
        ("with = {", "with = { split = 3, ", r"right_share: split is 3 \(Expected `str`"),
        ("[steps.predict]", "[[steps.predict]]", "predict holds .*where a table is needed"),
        ("[[steps]]", "[steps]", "TOML|steps is"),
        ("title", "title title", "a-lesson.toml: "),
    ],
)
def test_what_is_wrong_is_refused_with_its_place_and_reason(
    write: Write, old: str, new: str, why: str
):
    with pytest.raises(ValueError, match=why):
        read_lesson(write(old, new))


def test_two_claims_of_a_step_have_two_names(write: Write):
    text = write().read_text(encoding="utf-8")
    claim = text[text.index("[[steps.claims]]") :]
    with pytest.raises(ValueError, match="two claims are called share"):
        read_lesson(write(more=claim))


def test_a_lesson_is_named_in_small_letters(write: Write):
    with pytest.raises(ValueError, match="called like copying-and-averaging, not 'A Lesson'"):
        read_lesson(write(name="A Lesson"))


def test_a_lesson_without_steps_and_one_that_is_no_text_are_refused(tmp_path: Path, write: Write):
    path = write()
    path.write_text(path.read_text(encoding="utf-8").split("[[steps]]")[0], encoding="utf-8")
    with pytest.raises(ValueError, match="0 steps; 1 to 50 are allowed"):
        read_lesson(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="a-lesson.toml: .*utf-8"):
        read_lesson(path)


def test_lessons_are_listed_in_their_order_and_found_by_name(tmp_path: Path, write: Write):
    write(name="b-first")
    write("order = 1", "order = 2", name="a-second")
    assert [lesson.name for lesson in list_lessons(tmp_path)] == ["b-first", "a-second"]
    assert find_lesson("a-second", tmp_path).order == 2
    assert list_lessons(tmp_path / "nowhere") == []


@pytest.mark.parametrize("name", ["c-third", "../a-second", ""])
def test_a_lesson_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, write: Write, name: str
):
    write(name="b-first")
    with pytest.raises(ValueError, match=f"no lesson is called '{name}'; lessons: b-first"):
        find_lesson(name, tmp_path)
