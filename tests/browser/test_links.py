"""Addresses in Chromium: the way back keeps the view, a link restores it, nothing lies deeper."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

WAIT_MS = 60_000
AT = "address => location.pathname + location.search === address"
ONE_OF = "addresses => addresses.includes(location.pathname + location.search)"
NOTICE = "[data-testid=stAlert]"
Open = Callable[..., Any]


def box(page: Any, label: str) -> Any:
    """The input of a select box."""
    return page.get_by_role("combobox", name=label, exact=True)


def wait_for_address(page: Any, path: str, **query: str) -> None:
    address = path + (f"?{urlencode(query)}" if query else "")
    page.wait_for_function(AT, arg=address, timeout=WAIT_MS)


def wait_for_value(page: Any, label: str, value: str) -> None:
    from playwright.sync_api import expect

    expect(box(page, label)).to_have_value(value, timeout=WAIT_MS)


def wait_for_rest(page: Any) -> None:
    """Until the server has nothing more to draw: a list opened before it would be redrawn."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def pick(page: Any, label: str, option: str) -> None:
    wait_for_rest(page)
    box(page, label).click()
    page.get_by_role("option", name=option, exact=True).click()
    wait_for_value(page, label, option)


@pytest.mark.parametrize(
    ("path", "query", "label", "value"),
    [
        ("/attention", {"checkpoint": "notable-small", "head": "L0·H3"}, "Head", "L0·H3"),
        ("/heads", {"heads-checkpoint": "notable-char", "heads-head": "L0·H3"}, "Head", "L0·H3"),
        ("/knowledge", {"knows-by": "pronoun"}, "By", "pronoun"),
        (
            "/compare",
            {"compare-checkpoint": "notable-small", "compare-head": "L0·H3"},
            "Checkpoint",
            "notable-small",
        ),
        ("/monte_carlo", {"mc-heads": "two", "mc-predict": "false"}, "Heads", "two"),
    ],
)
def test_the_way_back_from_another_page_keeps_view_and_address(
    open_page: Open, path: str, query: dict[str, str], label: str, value: str
):
    page = open_page(path, **query)
    wait_for_address(page, path, **query)
    page.get_by_role("link", name="By hand").click()
    page.get_by_text("α is a categorical distribution").first.wait_for()
    wait_for_address(page, "/attention_by_hand")
    page.go_back()
    wait_for_address(page, path, **query)
    wait_for_value(page, label, value)
    page.go_forward()
    page.get_by_text("α is a categorical distribution").first.wait_for()
    wait_for_address(page, "/attention_by_hand")


def test_no_entry_that_a_menu_leaves_resets_the_page(open_page: Open):
    query = {"checkpoint": "notable-small", "head": "L0·H3"}
    page = open_page("/attention", **query)
    page.get_by_role("link", name="By hand").click()
    page.get_by_text("α is a categorical distribution").first.wait_for()
    page.get_by_role("link", name=re.compile("Attention$")).click()
    wait_for_address(page, "/attention", **query)
    wait_for_value(page, "Head", "L0·H3")
    there, before = f"/attention?{urlencode(query)}", "/attention_by_hand"
    for _ in range(4):  # Streamlit writes one to four entries, by the order in which they arrive
        wait_for_rest(page)
        page.go_back()
        page.wait_for_function(ONE_OF, arg=[there, before], timeout=WAIT_MS)
        if page.evaluate("location.pathname") == before:
            break
        wait_for_value(page, "Checkpoint", "notable-small")
        wait_for_value(page, "Head", "L0·H3")
    page.get_by_text("α is a categorical distribution").first.wait_for()
    wait_for_address(page, before)
    assert page.locator(NOTICE).count() == 0


def test_back_within_a_page_takes_back_the_last_click(open_page: Open):
    page = open_page("/attention")
    first = box(page, "Head").input_value()
    cell = "[aria-label^='layer: 0; head: 3;']"
    page.locator("[data-testid=stVegaLiteChart]").nth(0).locator(cell).last.click()
    wait_for_value(page, "Head", "L0·H3")
    wait_for_address(page, "/attention", head="L0·H3")
    wait_for_rest(page)
    page.go_back()
    wait_for_address(page, "/attention")
    wait_for_value(page, "Head", first)


def test_what_nobody_chose_follows_and_what_was_chosen_is_in_the_address(open_page: Open):
    followed = box(open_page("/attention", checkpoint="notable-char"), "Head").input_value()
    page = open_page("/attention")
    first = box(page, "Head").input_value()
    assert followed != first
    pick(page, "Checkpoint", "notable-char")
    wait_for_value(page, "Head", followed)
    wait_for_address(page, "/attention", checkpoint="notable-char")
    pick(page, "Head", first)
    wait_for_address(page, "/attention", checkpoint="notable-char", head=first)
    pick(page, "Head", followed)
    wait_for_address(page, "/attention", checkpoint="notable-char", head=followed)


def test_a_head_as_the_command_line_has_it_is_shown_and_the_way_back_is_open(open_page: Open):
    page = open_page("/attention", head="L0H3")
    wait_for_address(page, "/attention", head="L0·H3")
    wait_for_value(page, "Head", "L0·H3")
    wait_for_rest(page)
    page.go_back()
    wait_for_address(page, "/attention", head="L0·H3")
    wait_for_value(page, "Head", "L0·H3")
    wait_for_rest(page)
    page.go_back()
    page.wait_for_url("about:blank")


def test_what_is_missing_is_said_in_the_first_view(open_page: Open):
    page = open_page("/attention", checkpoint="my-own-model", head="L9H99")
    notice = page.locator(NOTICE)
    notice.wait_for()
    named = re.findall("“([^”]*)”", notice.inner_text())
    assert named[:3] == ["my-own-model", "notable-pretrained", "L9H99"]
    assert notice.bounding_box()["y"] < 200


def test_an_address_below_a_page_says_that_there_is_no_page(
    server: str, window: Callable[[int, str], Any]
):
    page = window(1280, "light")
    for path in ("/attention/x", "/attention/x/y?z=1", "/no/<b>page"):
        reply = page.goto(server + path)
        assert reply.status == 404
        assert page.get_by_role("heading").inner_text() == "No such page"
        assert f"There is no page {path.partition('?')[0]}." in page.inner_text("body")
    page.get_by_role("link").click()
    page.locator("[data-testid=stVegaLiteChart] svg").first.wait_for(timeout=WAIT_MS)
