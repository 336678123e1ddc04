"""A link hides controls, text, sidebar and header; what it cannot hide it tells."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest


def styles(app: AppTest) -> str:
    """All style sheets that hide something."""
    bodies = [element.proto.body for element in app.get("html")]
    return "\n".join(body for body in bodies if "display: none" in body)


def warned(app: AppTest) -> str:
    return "\n".join(warning.value for warning in app.warning).replace("\\", "")


def test_controls_and_parts_of_the_page_are_hidden_from_the_second_run_on_at_once(
    open_by_link: Callable,
):
    app = open_by_link("attention_by_hand", hide=["hand-example", "text", "sidebar", "header"])
    assert styles(app).count("<style>") == 2
    style = styles(app.run())
    assert style.count("<style>") == 1
    for selector in (".st-key-hand-example", "stSidebar", "stHeader", "stCaptionContainer"):
        assert selector in style
    assert not app.warning
    assert app.query_params["hide"] == ["hand-example", "text", "sidebar", "header"]


def test_what_is_hidden_keeps_the_value_that_the_link_names(open_by_link: Callable):
    query = {"hand-example": "Average", "hide": "hand-example"}
    app = open_by_link("attention_by_hand", **query)
    assert app.query_params["hand-example"] == "Average"
    assert ".st-key-hand-example" in styles(app)


def test_nothing_is_hidden_without_being_asked_for(open_by_link: Callable):
    assert styles(open_by_link("attention_by_hand")) == ""


@pytest.mark.parametrize("name", ["head", "", "a} body {color: red", "</style><b>", "mc-heads"])
def test_names_that_the_page_does_not_have_are_told_and_never_reach_the_style_sheet(
    open_by_link: Callable, name: str
):
    app = open_by_link("attention_by_hand", hide=[name, "header"])
    assert "which this page does not have" in warned(app)
    assert "It can hide text, sidebar, header, hand-" in warned(app)
    style = styles(app)
    assert "stHeader" in style
    assert "st-key" not in style
    assert not name or name not in style
