"""A class in Chromium: a teacher opens it, two pupils answer on phones, the counts move by
themselves, the teacher reveals, the pages appear, and a reload changes nothing. In the end the
lesson is kept and opened from disk.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.lessons.lesson import Lesson, said
from core.lessons.reading import list_lessons
from tests.browser.conftest import WAIT_MS

RESTS = "[data-testid=stApp][data-test-script-state=notRunning]"


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A server of its own, whose classes lie in a folder of the test."""
    monkeypatch.setenv("EXPLORER_CLASSROOM", str(tmp_path / "room"))
    address, _ = request.getfixturevalue("fresh_server")
    return address


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    """The first that begins with a choice to be predicted."""
    for found in list_lessons():
        predict = found.steps[0].predict
        if predict is not None and predict.choices:
            return found
    return pytest.skip("no shipped lesson begins with a choice")


def test_a_class_from_opening_to_the_table_of_its_answers(
    school: str,
    visit: Callable[..., Any],
    open_file: Callable[[Path], Any],
    lesson: Lesson,
    tmp_path: Path,
):
    step = lesson.steps[0]
    assert step.predict is not None
    choices = [said(step, choice) for choice in step.predict.choices]
    teacher = visit(school, "/lessons")
    teacher.get_by_text("Open a class").click()
    if len(list_lessons()) > 1:
        teacher.get_by_role("combobox", name="Lesson").click()
        teacher.get_by_role("option", name=lesson.title).click()
    teacher.locator(".st-key-class-start button").click()
    link = teacher.get_by_text("/lessons?class=")
    code = re.search("class=([A-Z]{6})", link.inner_text())
    assert code is not None
    pupils = [visit(school, "/lessons", width=390, **{"class": code[1]}) for _ in range(2)]
    for pupil, choice in zip(pupils, choices, strict=False):
        pupil.get_by_role("button", name="Begin:").click()
        pupil.get_by_text(choice, exact=True).click()
        pupil.get_by_role("button", name="That is what I expect").click()
        pupil.get_by_text("Your answer is kept").wait_for()
    teacher.get_by_text("2 pupils").wait_for()  # nobody has touched the page
    teacher.locator(".st-key-class-reveal-1 button").click()
    for pupil in pupils:
        pupil.get_by_text("And what would you say now?").wait_for()
    pupils[0].locator(RESTS).wait_for()
    address = pupils[0].url
    pupils[0].reload()
    pupils[0].get_by_text("And what would you say now?").wait_for()
    assert pupils[0].url == address
    with teacher.expect_download() as saved:
        teacher.get_by_role("button", name="Answers (CSV)").click()
    saved.value.save_as(tmp_path / "answers.csv")
    lines = (tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[3:6] for line in lines[1:]] == [
        ["before", str(number), choice] for number, choice in enumerate(choices[:2], 1)
    ]
    teacher.get_by_role("button", name="Delete").click()
    teacher.get_by_role("button", name="Yes, delete it").click()
    teacher.get_by_text("Open a class").wait_for()
    assert "class" not in teacher.url
    teacher.locator(f".st-key-keep-page-{lesson.name} button").first.click()
    take = teacher.get_by_role("button", name="Take the file")
    take.wait_for(timeout=10 * WAIT_MS)  # every step is drawn
    with teacher.expect_download() as saved:
        take.click()
    saved.value.save_as(tmp_path / "lesson.html")
    kept = open_file(tmp_path / "lesson.html")
    assert kept.get_by_role("heading", name=step.title).count() == 1
    assert kept.problems == []
