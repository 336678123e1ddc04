"""The lessons that are shipped: every claim holds, and what all of them have in common."""

import re

import pytest

from core.lessons.check import check
from core.lessons.lesson import Lesson
from core.lessons.reading import list_lessons

LESSONS = list_lessons()
A_MINUTE = 130  # words, read slowly, with a picture to look at
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def texts(lesson: Lesson) -> list[str]:
    found: list[str] = []
    for step in lesson.steps:
        found += [step.title, step.text, step.after]
        if step.predict is not None:
            found += [step.predict.ask, *step.predict.choices]
    return found


@every_lesson
def test_every_claim_holds(lesson: Lesson):
    found = check(lesson)
    assert len(found) == len(lesson.claims)
    assert [claim for claim in found if not claim.holds] == []


def test_there_are_eleven_each_in_its_place():
    assert [lesson.order for lesson in LESSONS] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]


@every_lesson
def test_a_lesson_is_short_and_asks_first(lesson: Lesson):
    assert 5 <= len(lesson.steps) <= 8
    assert sum(step.predict is not None for step in lesson.steps) > len(lesson.steps) / 2
    assert len(" ".join(texts(lesson)).split()) <= A_MINUTE * lesson.minutes


@every_lesson
def test_what_is_right_is_not_always_named_first(lesson: Lesson):
    places = [
        step.predict.choices.index(step.predict.right)
        for step in lesson.steps
        if step.predict is not None and step.predict.choices
    ]
    assert len(set(places)) > 1


@every_lesson
def test_only_our_own_checkpoints_are_used(lesson: Lesson):
    values = [str(step.state) for step in lesson.steps]
    values += [str(claim.with_) for claim in lesson.claims]
    assert re.findall(r"course-\w+", " ".join(values)) == []


@every_lesson
def test_every_claim_is_said_or_backs_what_is_said_in_words(lesson: Lesson):
    for step in lesson.steps:
        said = " ".join([step.text, step.after])
        unsaid = [claim for claim in step.claims if f"{{{claim.name}}}" not in said]
        assert [claim.name for claim in unsaid] in ([], ["same"])


@every_lesson
def test_a_tolerance_is_small_beside_its_number(lesson: Lesson):
    for claim in lesson.claims:
        assert claim.tolerance <= max(0.12 * abs(claim.stated), 0.2), claim.name
