"""What a teacher sees: opening a class, counts, revealing, closing, deleting, coming back."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.classroom.codes import new_pupil
from core.classroom.store import Opened, answer, explain, session
from pages.lessons.teacher import Held

Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]


@pytest.fixture
def teacher(room: Path, open_by_link: Open) -> AppTest:
    """Who has opened a class just now."""
    app = open_by_link("lessons")
    app.number_input(key="class-days").set_value(3)
    app.button(key="class-start").click().run()
    assert not app.exception, app.exception[0].value
    return app


def test_opening_shows_code_link_and_once_the_teachers_code(teacher: AppTest, room: Path):
    code, teacher_code = code_of(teacher), teacher_code_of(teacher)
    assert session(room, code).lesson == "peaked"
    assert any(f"lessons?class={code}" in block.value for block in teacher.code)
    assert "shown this once" in teacher.warning[0].value
    assert not {*teacher.query_params}  # nothing of a class is in the teacher's address
    teacher.button(key="class-noted").click().run()
    assert not any(teacher_code in block.value for block in teacher.code)
    assert teacher_code not in remembered(teacher)


def test_counts_stand_beside_their_question_before_and_after(
    teacher: AppTest, room: Path, said: Said
):
    code, pupils = code_of(teacher), [new_pupil() for _ in range(3)]
    for who, text in zip(pupils, ("nearly all", "about half", "nearly all"), strict=True):
        answer(room, code, who, 1, text)
    explain(room, code, pupils[0], "before", "it *thinks*")
    teacher.run()
    assert "3 pupils answered" in said(teacher).replace("*", "")
    assert "| nearly all | █████████████ 2 | 0 |" in said(teacher)
    assert "**nearly all** :material/check:" not in said(teacher)
    assert "it *thinks*" in said(teacher)
    teacher.button(key="class-reveal-1").click().run()
    answer(room, code, pupils[1], 1, "nearly all")
    teacher.run()
    assert "| **nearly all** :material/check: | █████████████ 2 |" in said(teacher)
    assert "after (1)" in said(teacher)
    assert session(room, code).revealed == {1}


def test_a_closed_class_takes_no_more_and_a_deleted_one_is_gone(teacher: AppTest, room: Path):
    code = code_of(teacher)
    teacher.button(key="class-close").click().run()
    assert session(room, code).is_closed
    assert teacher.button(key="class-reveal-1").disabled
    teacher.button(key="class-delete").click().run()
    with pytest.raises(ValueError, match="there is no class"):
        session(room, code)
    assert any(button.key == "class-start" for button in teacher.button)


def test_a_teacher_comes_back_with_both_codes_and_nobody_else(
    room: Path, opened: Opened, open_by_link: Open, said: Said
):
    app = open_by_link("lessons")
    come_back(app, opened.code, "BCDF-GHJK-MNPR")
    assert "this is not the teacher" in app.error[0].value
    come_back(app, opened.code, opened.teacher_code)
    assert "0 pupils" in said(app)
    assert not app.warning  # its code is not shown again
    assert opened.teacher_code not in remembered(app)


def test_wrong_codes_are_counted_over_all_sessions(room: Path, opened: Opened, open_by_link: Open):
    apps = [open_by_link("lessons") for _ in range(2)]
    for turn in range(5):
        come_back(apps[turn % 2], opened.code, "wrong")
    come_back(apps[1], opened.code, opened.teacher_code)
    assert "5 wrong codes within a minute" in apps[1].error[0].value


def test_when_another_window_deletes_the_class_the_board_says_so(
    teacher: AppTest, room: Path, open_by_link: Open
):
    other = open_by_link("lessons")
    come_back(other, code_of(teacher), teacher_code_of(teacher))
    other.button(key="class-delete").click().run()
    teacher.run()
    assert "there is no class" in teacher.error[0].value
    teacher.button(key="class-drop").click().run()
    assert any(button.key == "class-start" for button in teacher.button)


def remembered(app: AppTest) -> str:
    """All that the session holds, dataclasses with what their repr leaves out."""
    values = app.session_state._state.filtered_state.values()
    return str([asdict(value) if isinstance(value, Held) else value for value in values])


def come_back(app: AppTest, code: str, teacher_code: str) -> None:
    app.text_input(key="class-back-code").set_value(code)
    app.text_input(key="class-back-teacher").set_value(teacher_code)
    app.button(key="class-back-go").click().run()
    assert not app.exception, app.exception[0].value


def code_of(app: AppTest) -> str:
    (address,) = [b.value for b in app.code if "class=" in b.value]
    return address.rpartition("=")[2]


def teacher_code_of(app: AppTest) -> str:
    (code,) = [b.value for b in app.code if b.value.count("-") == 2 and "class=" not in b.value]
    return code
