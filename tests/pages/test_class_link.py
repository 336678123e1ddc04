"""The link for the class: what it hides and carries, and when its QR code is shown."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import content_hash
from pages.shared import class_link


@pytest.fixture
def listens(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """Let the server listen on an address; it does on localhost."""
    usual = st.get_option

    def listen(address: str | None) -> None:
        changed = {"server.address": address}
        monkeypatch.setattr(st, "get_option", lambda key: changed.get(key, usual(key)))

    return listen


@pytest.fixture
def ask(open_by_link: Callable[..., AppTest]) -> Callable[..., AppTest]:
    """Open a page by a link and its dialog, with what is to be hidden already chosen."""

    def ask_(
        page: str, *, choose: tuple[str, ...] = (), embed: bool = False, **query: str
    ) -> AppTest:
        app = open_by_link(page, **query)
        if choose:
            app.session_state[f"{class_link.KEY}-hide"] = list(choose)
        app.session_state[f"{class_link.KEY}-embed"] = embed
        app.button(key=class_link.KEY).click().run()
        assert not app.exception, app.exception[0].value
        return app

    return ask_


def query_of(app: AppTest) -> dict[str, list[str]]:
    return parse_qs(urlsplit(app.code[0].value).query)


def test_the_link_hides_what_is_chosen_and_carries_the_view_and_its_weights(
    ask: Callable, store: Callable
):
    digest = content_hash(store())
    app = ask("attention", choose=("head", "sidebar"), head="L0·H1", pupil="secret")
    assert query_of(app) == {
        "head": ["L0·H1"],
        "hide": ["head", "sidebar"],
        "weights": [digest[:8]],
    }
    assert urlsplit(app.code[0].value).path == "/attention"


def test_controls_are_offered_by_their_labels_and_what_is_hidden_is_chosen(
    ask: Callable, store: Callable
):
    store()
    app = ask("attention", hide="head")
    box = app.multiselect(key=f"{class_link.KEY}-hide")
    assert {"Text: captions and explanations", "Sidebar", "Header", "Head"} <= {*box.options}
    assert box.value == query_of(app)["hide"] == ["head"]


def test_a_page_without_a_query_has_a_bare_address_and_a_frame_says_that_it_is_one(ask: Callable):
    assert ask("attention_by_hand").code[0].value.endswith("/attention_by_hand")
    assert query_of(ask("attention_by_hand", embed=True)) == {"embed": ["true"]}


def test_on_this_machine_alone_there_is_no_qr_code_and_the_dialog_says_why(ask: Callable):
    app = ask("attention_by_hand")
    assert not app.get("image")
    assert any("Only this machine reaches this server" in each.value for each in app.caption)


def test_on_a_network_the_configured_address_has_a_qr_code(
    ask: Callable, listens: Callable, monkeypatch: pytest.MonkeyPatch
):
    listens("0.0.0.0")
    monkeypatch.setenv(class_link.ADDRESS_VARIABLE, "http://192.0.2.7:8501/")
    app = ask("attention_by_hand")
    assert app.code[0].value == "http://192.0.2.7:8501/attention_by_hand"
    assert len(app.get("image")) == 1


def test_an_address_that_means_each_ones_own_machine_has_none(
    ask: Callable, listens: Callable, monkeypatch: pytest.MonkeyPatch
):
    listens(None)
    monkeypatch.setenv(class_link.ADDRESS_VARIABLE, "http://localhost:8501")
    app = ask("attention_by_hand")
    assert not app.get("image")
    assert any("set EXPLORER" in each.value for each in app.caption)
