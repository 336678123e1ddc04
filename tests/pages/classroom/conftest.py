"""A lesson of two questions on a page without a model, and a class for it in its own folder."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.classroom.store import Opened, open_session

Open = Callable[..., AppTest]
LESSON = """
title = "From diffuse to peaked"
minutes = 10
order = 1
learns = "What makes attention look at one place."

[[steps]]
title = "Where to look"
text = "Keys and a query."
after = "So it is."
page = "attention_by_hand"

[steps.predict]
ask = "How much lies on the key?"
choices = ["nearly all", "about half"]
right = "nearly all"

[[steps]]
title = "And then"
text = "More keys."
page = "attention_by_hand"

[steps.predict]
ask = "How many?"
choices = ["few", "many"]
right = "few"
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the classes' answers; the one lesson is `peaked`."""
    lessons = tmp_path / "lessons"
    lessons.mkdir()
    (lessons / "peaked.toml").write_text(LESSON, encoding="utf-8")
    for module in ("core.paths", "pages.shared.frame"):  # the page itself is run, not imported
        monkeypatch.setattr(f"{module}.LESSONS", lessons)
    monkeypatch.setenv("EXPLORER_CLASSROOM", str(tmp_path / "room"))
    for variable in ("EXPLORER_MODE", "EXPLORER_SERVER"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path / "room"


@pytest.fixture
def opened(room: Path) -> Opened:
    return open_session(room, "peaked")


@pytest.fixture
def open_step(open_by_link: Open) -> Open:
    """The first step of the lesson, as a pupil's link opens it."""
    query = {"lesson": "peaked", "lesson-step": "1"}
    return partial(open_by_link, "attention_by_hand", **query)
