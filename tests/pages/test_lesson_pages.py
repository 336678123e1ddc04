"""The pages that a lesson may name, and the lessons listed without torch."""

from pathlib import Path
from typing import Any

from core.lessons.lesson import PAGES
from core.lessons.reading import list_lessons


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
