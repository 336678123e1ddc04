"""What a pupil of a class sees, answers and waits for."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.classroom import store
from core.classroom.counts import standing
from core.classroom.store import Opened, close, delete, own_answers, reveal

Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]
FORM = "lesson-said-peaked-1"


def test_a_link_to_a_class_gives_a_pupil_who_stays_the_same_after_a_reload(
    opened: Opened, open_by_link: Open, said: Said
):
    app = open_by_link("lessons", **{"class": opened.code.lower()})
    assert app.query_params["class"] == opened.code
    assert f"Class {opened.code}: answers are kept without a name until" in bare(said(app))
    pupil = app.query_params["pupil"]
    again = open_by_link("lessons", **{"class": opened.code, "pupil": pupil})
    assert again.query_params["pupil"] == pupil
    assert open_by_link("lessons", **{"class": opened.code}).query_params["pupil"] != pupil


def test_class_and_pupil_stay_in_the_address_of_the_next_page(opened: Opened, open_by_link: Open):
    app = open_by_link("lessons", **{"class": opened.code})
    pupil = app.query_params["pupil"]
    app.switch_page("pages/attention_by_hand/page.py")
    app.query_params.clear()
    app.run()
    assert (app.query_params["class"], app.query_params["pupil"]) == (opened.code, pupil)
    assert not app.warning


def test_a_class_that_is_not_there_is_told_and_the_page_is_as_usual(room: Path, open_by_link: Open):
    app = open_by_link("lessons", **{"class": "BBBBBB"})
    assert "there is no class BBBBBB here" in bare(app.warning[0].value)
    assert "pupil" not in app.query_params
    app = open_by_link("lessons", **{"class": "hello!"})
    assert "is no code of a class" in bare(app.warning[0].value)


def test_an_answer_is_kept_and_the_page_stays_covered_until_it_is_revealed(
    room: Path, opened: Opened, open_step: Open, said: Said
):
    app = open_step(**{"class": opened.code})
    assert "lesson-said-peaked-1-look" not in {button.key for button in app.button}
    give(app, "about half")
    assert "Your answer is kept" in app.info[0].value
    assert "So it is" not in said(app)
    give(app, "nearly all")  # may be changed
    found = standing(room, opened.teacher)
    assert found.counts(1).before == {"nearly all": 1}
    reveal(room, opened.teacher, 1)
    app.run()
    assert not app.info
    assert "and so it is" in said(app)
    assert "So it is" in said(app)


def test_after_a_reload_the_pupil_has_answered_already(room: Path, opened: Opened, open_step: Open):
    app = open_step(**{"class": opened.code})
    give(app, "about half")
    again = open_step(**{"class": opened.code, "pupil": app.query_params["pupil"]})
    assert "Your answer is kept" in again.info[0].value
    give(again, "nearly all")
    assert standing(room, opened.teacher).n_pupils == 1


def test_after_the_revelation_an_answer_counts_as_after(
    room: Path, opened: Opened, open_step: Open
):
    app = open_step(**{"class": opened.code})
    give(app, "about half")
    reveal(room, opened.teacher, 1)
    app.run()
    give(app, "nearly all", FORM + "-after")
    own = own_answers(room, opened.code, app.query_params["pupil"])
    assert own == {(1, "before"): "about half", (1, "after"): "nearly all"}


def test_a_refused_answer_is_told_and_not_taken_as_given(
    room: Path, opened: Opened, open_step: Open, monkeypatch: pytest.MonkeyPatch
):
    now = store.session(room, opened.code).opened
    monkeypatch.setattr(store, "_time", lambda _: now)  # the minute does not end meanwhile
    monkeypatch.setattr(store, "MOST_A_MINUTE", 2)
    app = open_step(**{"class": opened.code})
    for _ in range(2):
        give(app, "nearly all")
    give(app, "about half")
    assert "2 answers within a minute" in app.error[0].value
    assert standing(room, opened.teacher).counts(1).before == {"nearly all": 1}


def test_a_closed_class_shows_its_pages_and_a_deleted_one_is_told(
    room: Path, opened: Opened, open_step: Open, said: Said
):
    app = open_step(**{"class": opened.code})
    give(app, "about half")
    close(room, opened.teacher)
    app.run()
    assert "So it is" in said(app)
    delete(room, opened.teacher)
    app.run()
    assert "there is no class" in bare(app.warning[0].value)


def test_without_a_class_nothing_is_kept_and_nobody_waits(room: Path, open_step: Open, said: Said):
    app = open_step()
    give(app, "nearly all")
    assert "So it is" in said(app)
    assert not room.exists()


def test_a_pupil_explains_before_and_after_and_may_leave(
    room: Path, opened: Opened, open_by_link: Open
):
    app = open_by_link("lessons", **{"class": opened.code})
    app.text_area(key="class-words-before").set_value("it <b>thinks</b>")
    app.button(key="class-words-before-give").click().run()
    assert "Kept. You may change it." in "".join(c.value for c in app.caption)
    reveal(room, opened.teacher, 1)
    app.run()
    app.text_area(key="class-words-after").set_value("it counts")
    app.button(key="class-words-after-give").click().run()
    found = standing(room, opened.teacher)
    assert (found.explained_before, found.explained_after) == (
        ("it <b>thinks</b>",),
        ("it counts",),
    )
    app.button(key="class-leave").click().run()
    assert not {"class", "pupil"} & {*app.query_params}
    assert not app.text_area


def test_a_class_is_joined_by_typing_its_code(opened: Opened, open_by_link: Open):
    app = open_by_link("lessons")
    app.text_input(key="class-code").set_value(f" {opened.code.lower()} ")
    app.button(key="class-go").click().run()
    assert app.query_params["class"] == opened.code


def give(app: AppTest, choice: str, key: str = FORM) -> None:
    app.radio(key=key).set_value(choice)
    app.button(key=f"{key}-give").click().run()
    assert not app.exception, app.exception[0].value


def bare(text: str) -> str:
    return text.replace("\\", "").replace("*", "")
