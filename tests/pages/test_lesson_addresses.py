"""Every address of the shipped lessons leads to its page, in the state that the step names."""

from pathlib import Path
from typing import Any

import pytest

from core.lessons.lesson import PAGES
from core.lessons.reading import list_lessons
from pages.shared.link import STATE

STEPS = {
    f"{lesson.name}, step {number}": step
    for lesson in list_lessons()
    for number, step in enumerate(lesson.steps, 1)
}
# Steps that look at the same picture open it once.
ADDRESSES = {(step.page, str(step.state)): name for name, step in reversed(STEPS.items())}


@pytest.fixture(autouse=True)
def no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No training or measurement of this machine is looked at in the place of what is shipped."""
    monkeypatch.setattr("core.paths.RUNS", tmp_path / "runs")


@pytest.mark.parametrize("name", sorted(ADDRESSES.values()))
def test_a_step_opens_its_page_in_its_state(name: str, open_by_link: Any):
    """What of an address cannot be had is a warning on top of the page."""
    step = STEPS[name]
    app = open_by_link(step.page or "home", **step.state)
    assert [warning.value for warning in app.warning] == []
    assert [error.value for error in app.error] == []
    link = app.session_state[STATE]
    assert {*step.state} <= link.met | link.quiet
    assert {*step.hide} <= {"text", "sidebar", "header"} | link.met


def test_a_lesson_may_name_the_pages_of_the_app(open_by_link: Any):
    app = open_by_link("home")
    known = {Path(page["script_path"]).parent.name for page in app._registered_pages.values()}
    assert {page or "home" for page in PAGES} <= known


def test_lessons_are_listed_without_torch(alone: Any):
    script = (
        "import sys; from core.lessons.reading import list_lessons; "
        "print(len(list_lessons()), 'torch' in sys.modules, 'streamlit' in sys.modules)"
    )
    assert alone(script) == [str(len(list_lessons())), "False", "False"]
