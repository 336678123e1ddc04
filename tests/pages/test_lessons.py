"""Lessons: the list, a step around its page, forward and back, predictions before pages."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import content_hash
from core.lessons.reading import list_lessons
from core.paths import LESSONS
from pages.shared import in_class

QUESTION = "Where was Ada Arden born?"
LESSON = """
title = "Two <b>models"
minutes = 7
order = 1
learns = "How one model differs from another."

[[steps]]
title = "The first"
text = "It is asked about Ada Arden. L0·H1 is shown."
page = "attention"

[steps.state]
checkpoint = "one"
source = "type freely"
question = "Where was Ada Arden born?"
head = "L0·H1"

[[steps]]
title = "The second"
text = "What will L1·H0 do?"
after = "So it was."
page = "attention"
hide = ["score", "sidebar"]

[steps.state]
checkpoint = "two"
source = "type freely"
question = "Where was Ada Arden born?"
head = "L1·H0"
view = "arcs"

[steps.predict]
ask = "How much of the weight?"
choices = ["nearly all", "next to none"]
right = "nearly all"

[[steps]]
title = "By hand"
text = "The third page."
after = "It is {share}."
page = "attention_by_hand"

[steps.predict]
ask = "How much?"
low = 0
high = 100
unit = "%"
right = "share"

[[steps.claims]]
name = "share"
text = "of the questions are answered right"
stated = 95.5
tolerance = 0.1
unit = "%"
call = "right_share"
with = { checkpoint = "one" }
"""
GIVE, LOOK = "lesson-said-a-lesson-{}-give", "lesson-said-a-lesson-{}-look"


@pytest.fixture
def open_step(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    store: Callable[..., Path],
    open_by_link: Callable[..., AppTest],
) -> Callable[..., AppTest]:
    """Open a link, where there is one lesson about two checkpoints."""
    folder = tmp_path / "lessons"
    folder.mkdir()
    (folder / "a-lesson.toml").write_text(LESSON, encoding="utf-8")
    monkeypatch.setattr("pages.shared.frame.LESSONS", folder)
    monkeypatch.setattr("core.paths.LESSONS", folder)
    store("one")
    store("two", seed=5)
    return open_by_link


def press(app: AppTest, key: str) -> AppTest:
    """Press a button, on the page that the app itself went to; nothing may go wrong."""
    app._page_hash = ""
    app.button(key=key).click().run()
    assert not app.exception, app.exception[0].value
    return app


def warned(app: AppTest) -> str:
    return "\n".join(warning.value for warning in app.warning).replace("\\", "")


def head_of(app: AppTest) -> Any:
    return app.selectbox(key="head").value


def test_the_list_says_what_is_learnt_and_a_button_begins_a_lesson(
    open_step: Callable, said: Callable
):
    app = open_step("lessons")
    assert [heading.value.replace("\\", "") for heading in app.subheader] == ["Two <b>models"]
    assert "How one model differs from another." in said(app)
    assert "7 minutes · 3 steps" in [caption.value for caption in app.caption]
    press(app, "lessons-begin-a-lesson")
    assert (app.subheader[0].value, head_of(app)) == ("The first", "L0·H1")
    assert app.query_params["lesson"] == "a-lesson"
    assert app.query_params["lesson-step"] == "1"


def test_a_folder_without_lessons_says_so_and_a_broken_one_what_is_wrong(
    open_step: Callable, tmp_path: Path
):
    path = tmp_path / "lessons" / "a-lesson.toml"
    path.write_text("title = 3\n", encoding="utf-8")
    assert "a-lesson.toml" in open_step("lessons").text[0].value
    path.unlink()
    assert "no lesson" in open_step("lessons").info[0].value


def test_a_step_opens_its_page_as_the_file_has_it_wherever_its_link_leads(open_step: Callable):
    app = open_step("home", lesson="a-lesson", step="1")
    assert app.selectbox(key="checkpoint").value == "one"
    assert app.text_input(key="question").value == QUESTION
    assert head_of(app) == "L0·H1"
    assert not app.warning
    assert app.button(key="lesson-back").disabled


def test_what_a_link_to_a_step_names_wins_over_the_step(open_step: Callable):
    app = open_step("attention", lesson="a-lesson", head="L1·H1", **{"lesson-step": "1"})
    assert head_of(app) == "L1·H1"
    assert app.selectbox(key="checkpoint").value == "one"


def test_forward_and_back_the_state_is_the_steps_not_what_was_left(
    open_step: Callable, said: Callable
):
    app = open_step("attention", lesson="a-lesson", **{"lesson-step": "1"})
    app.selectbox(key="head").set_value("L1·H1").run()
    assert head_of(app) == "L1·H1"
    press(app, "lesson-next")
    assert app.subheader[0].value == "The second"
    press(app, LOOK.format(2))
    assert (app.selectbox(key="checkpoint").value, head_of(app)) == ("two", "L1·H0")
    assert app.query_params["view"] == "arcs"
    press(app, "lesson-back")
    assert (app.selectbox(key="checkpoint").value, head_of(app)) == ("one", "L0·H1")
    assert "view" not in app.query_params
    press(app, "lesson-next")
    press(app, "lesson-next")
    assert app.subheader[0].value == "By hand"
    press(app, "lesson-back")
    assert (app.selectbox(key="checkpoint").value, head_of(app)) == ("two", "L1·H0")
    assert not app.warning


def test_a_control_that_is_changed_within_a_step_keeps_its_value(open_step: Callable):
    app = open_step("attention", lesson="a-lesson", **{"lesson-step": "1"})
    app.selectbox(key="head").set_value("L1·H1").run()
    app.toggle(key="own-scale").set_value(True).run()
    assert head_of(app) == "L1·H1"


def test_a_page_is_covered_until_a_choice_was_made(
    open_step: Callable, said: Callable, monkeypatch: pytest.MonkeyPatch
):
    told: list[tuple[str, int, str]] = []
    monkeypatch.setattr(in_class, "told", lambda *answer: told.append(answer))
    app = open_step("attention", lesson="a-lesson", **{"lesson-step": "2"})
    assert not app.get("vega_lite_chart")
    assert "So it was." not in said(app)
    assert not warned(app)
    press(app, GIVE.format(2))
    assert "Choose or type something first" in warned(app)
    app.radio[0].set_value("next to none")
    press(app, GIVE.format(2))
    assert len(app.get("vega_lite_chart")) == 3
    assert "You said **next to none**. It is **nearly all**." in said(app)
    assert "So it was." in said(app)
    assert told == [("a-lesson", 2, "next to none")]


def test_what_was_predicted_right_is_said_to_be_and_nobody_has_to_predict(
    open_step: Callable, said: Callable
):
    app = open_step("attention", lesson="a-lesson", **{"lesson-step": "2"})
    app.radio[0].set_value("nearly all")
    press(app, GIVE.format(2))
    assert "You said **nearly all**, and so it is." in said(app)
    app = open_step("attention", lesson="a-lesson", **{"lesson-step": "2"})
    press(app, LOOK.format(2))
    assert "How much of the weight? **nearly all**." in said(app)


def test_a_predicted_number_stands_beside_the_checked_one(open_step: Callable, said: Callable):
    app = open_step("attention_by_hand", lesson="a-lesson", **{"lesson-step": "3"})
    assert not app.get("vega_lite_chart")
    app.number_input[0].set_value(40)
    press(app, GIVE.format(3))
    assert "You said **40 %**. It is **95.5 %**." in said(app)
    assert app.get("vega_lite_chart")


def test_the_last_step_and_leaving_lead_back_to_the_list(open_step: Callable):
    for number, key in (("3", "lesson-next"), ("1", "lesson-leave")):
        app = open_step("home", lesson="a-lesson", step=number)
        press(app, key)
        assert app.title[0].value == "Lessons"
        assert "lesson" not in app.query_params


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"lesson": "../../etc/<b>"}, "no lesson is called '../../etc/<b>'; lessons: a-lesson"),
        ({"lesson": "a-lesson", "lesson-step": "4"}, "The link names step “4” of the lesson"),
        ({"lesson": "a-lesson", "lesson-step": "²"}, "which has steps 1 to 3"),
        ({"lesson": "a-lesson", "step": "-1"}, "The link names step “-1” of the lesson"),
    ],
)
def test_a_wrong_lesson_or_step_is_told_and_the_page_opens_without_a_frame(
    open_step: Callable, query: dict[str, str], sentence: str
):
    app = open_step("attention_by_hand", **query)
    assert sentence in warned(app).replace("\u2060", "")
    assert app.get("vega_lite_chart")
    assert "lesson-next" not in [button.key for button in app.button]


def test_a_step_hides_what_it_says_and_carries_a_hash_of_its_weights(
    open_step: Callable, shelf: Path
):
    app = open_step("attention", lesson="a-lesson", **{"lesson-step": "2"})
    press(app, LOOK.format(2))
    style = "".join(html.proto.body for html in app.get("html"))
    assert ".st-key-score" in style
    assert "[data-testid=stSidebar]" in style
    assert app.query_params["weights"] == content_hash(shelf / "two")[:8]


@pytest.mark.parametrize("lesson", list_lessons(LESSONS), ids=lambda lesson: lesson.name)
def test_every_step_of_every_shipped_lesson_opens_as_it_says(
    open_by_link: Callable[..., AppTest], lesson: Any
):
    app = open_by_link("home", lesson=lesson.name, step="1")
    for number, step in enumerate(lesson.steps, 1):
        assert app.subheader[0].value.replace("\\", "") == step.title
        if step.predict is not None:
            press(app, f"lesson-said-{lesson.name}-{number}-look")
        assert not [w.value for w in app.warning if w.icon == ":material/link_off:"]
        press(app, "lesson-next")
    assert app.title[0].value == "Lessons"
