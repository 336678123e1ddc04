"""Who a visitor is: the teacher's code, Streamlit's own login, and what is wrong with the file."""

from collections.abc import Callable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.server import Server
from pages.shared.who import WrongCodes

Open = Callable[..., AppTest]
CLASS = Server(mode="class", teacher_code="open sesame")


def test_five_wrong_codes_a_minute_are_enough_and_then_the_right_one_is_refused_too():
    now = [0.0]
    codes = WrongCodes(lambda: now[0])
    for _ in range(5):
        assert codes.tried(CLASS, "wrong") == "this is not the teacher's code"
    assert "5 wrong codes within a minute" in codes.tried(CLASS, "open sesame")
    now[0] = 59.0
    assert "wait a minute" in codes.tried(CLASS, "open sesame")
    now[0] = 60.0
    assert codes.tried(CLASS, "open sesame") == ""


def test_on_ones_own_machine_nobody_is_asked_for_a_code(open_by_link: Open):
    app = open_by_link("attention_by_hand")
    assert "who-code" not in {field.key for field in app.text_input}


def test_a_server_that_a_network_reaches_is_in_class_unless_it_is_told(
    open_by_link: Open, monkeypatch: pytest.MonkeyPatch
):
    usual = st.get_option
    monkeypatch.setattr(
        st, "get_option", lambda key: "0.0.0.0" if key == "server.address" else usual(key)
    )
    app = open_by_link("lessons")
    assert app.button(key="class-start").disabled
    assert any("this server has none" in caption.value for caption in app.caption)
    monkeypatch.setenv("EXPLORER_MODE", "open")
    assert not app.run().button(key="class-start").disabled


def test_the_teachers_code_is_typed_and_stays_nowhere(
    open_by_link: Open, serve_as: Callable, as_teacher: Callable
):
    serve_as("class")
    app = as_teacher(open_by_link("attention_by_hand"))
    assert any("you are a teacher" in caption.value for caption in app.sidebar.caption)
    assert "open sesame" not in str(app.session_state._state.filtered_state)
    assert "open sesame" not in str({**app.query_params})
    app.button(key="who-leave").click().run()
    assert app.text_input(key="who-code").value == ""


def test_a_wrong_code_is_told_and_counted_over_all_sessions(
    open_by_link: Open, serve_as: Callable, as_teacher: Callable
):
    serve_as("class")
    apps = [open_by_link("attention_by_hand") for _ in range(2)]
    for turn in range(5):
        app = as_teacher(apps[turn % 2], f"wrong {turn}")
        assert "this is not the teacher" in app.error[0].value
    assert "5 wrong codes" in as_teacher(apps[1]).error[0].value


def test_a_server_in_class_without_a_code_has_no_field(open_by_link: Open, serve_as: Callable):
    serve_as("class", "minutes = 5")
    app = open_by_link("attention_by_hand")
    assert "who-code" not in {field.key for field in app.text_input}


@pytest.mark.parametrize(
    ("changes", "is_teacher"),
    [
        ({}, True),
        ({"email_verified": False}, False),
        ({"email": "eve@example.org"}, False),
        ({"is_logged_in": False}, False),
    ],
)
def test_who_is_logged_in_under_a_listed_address_is_a_teacher(
    open_by_link: Open, serve_as: Callable, changes: dict, is_teacher: bool
):
    serve_as("class", 'teachers = ["ada@example.org"]')
    app = open_by_link("attention_by_hand")
    app.user = {"is_logged_in": True, "email": "Ada@example.org", **changes}
    app.run()
    assert not app.exception
    told = [caption.value for caption in app.sidebar.caption]
    assert any("you are a teacher" in text for text in told) == is_teacher
    offered = "who-login" in {button.key for button in app.button}
    assert offered == (changes == {"is_logged_in": False})


def test_a_file_that_cannot_be_read_is_told_on_every_page_and_nothing_may_be_done(
    open_by_link: Open, serve_as: Callable
):
    serve_as("class", "colour = 1")
    app = open_by_link("lessons")
    assert "unknown keys: colour" in app.error[0].value.replace("\\", "")
    assert app.button(key="class-start").disabled
