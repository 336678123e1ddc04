"""Presented, a page's main picture fills the window, every letter can be read, and keys step."""

import re
from collections.abc import Callable
from typing import Any

import pytest

CHART = ".st-key-main-picture :is([data-testid=stVegaLiteChart], [data-testid=stPlotlyChart])"
# What share of a window of 1280x720 the picture takes, and how far anything can be scrolled.
TAKEN = """() => {
  const drawn = document.querySelector(".st-key-main-picture svg.marks");
  const box = drawn.getBoundingClientRect(), main = document.querySelector("[data-testid=stMain]");
  const inside = box.left >= 0 && box.top >= 0 && box.right <= 1280 && box.bottom <= 720;
  const over = Math.max(main.scrollHeight - main.clientHeight, document.body.scrollHeight - 720);
  return [inside ? box.width * box.height / (1280 * 720) : 0, over];
}"""
# Letters below 20 pixels on the screen, of all that is seen.
SMALL = """() => [...document.querySelectorAll("[data-testid=stApp] *")].filter(e => {
  const box = e.getBoundingClientRect();
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  const inside = box.width && box.bottom > 0 && box.top < innerHeight;
  const seen = own && inside && e.checkVisibility({visibilityProperty: true});
  return seen && !["STYLE", "SCRIPT"].includes(e.tagName)
    && parseFloat(getComputedStyle(e).fontSize) * e.currentCSSZoom < 20;
}).map(e => `${e.tagName} ${e.textContent.slice(0, 30)}`)"""
PAGES = {
    "/": "light",
    "/attention": "light",
    "/heads": "dark",
    "/knowledge": "light",
    "/listen": "light",
    "/compare": "light",
    "/look": "dark",
    "/monte_carlo": "dark",
    "/attention_by_hand": "light",
    "/memory": "light",
    "/runtime": "light",
    "/report_card": "dark",
}


def presented(page: Any, title: str) -> None:
    """Until the picture has a title that begins so."""
    page.locator(CHART).get_by_text(re.compile(f"^{title}")).first.wait_for()


@pytest.mark.parametrize(("path", "scheme"), [*PAGES.items(), ("/attention", "dark")])
def test_the_main_picture_fills_the_window_without_scrolling_and_no_letter_is_small(
    open_page: Callable, path: str, scheme: str
):
    page = open_page(path, scheme=scheme, present="true")
    page.locator(f"{CHART} svg.marks").wait_for()
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    share, over = page.evaluate(TAKEN)
    assert share >= 0.55
    assert over <= 0
    assert page.evaluate(SMALL) == []
    assert not page.locator("[data-testid=stSidebar], [data-testid=stHeader]").first.is_visible()
    assert page.problems == []


def test_arrow_keys_step_through_heads_layers_and_written_words_and_escape_leaves(
    open_page: Callable,
):
    page = open_page(head="L1·H0")
    page.keyboard.press("p")
    page.wait_for_url("**present=true*")
    presented(page, "L1·H0 .* “London”")
    page.keyboard.press("ArrowRight")
    presented(page, "L1·H1 ")
    page.keyboard.press("ArrowUp")
    presented(page, "L0·H1 ")
    page.keyboard.press("ArrowLeft")
    presented(page, "L0·H0 ")
    page.keyboard.press("n")
    presented(page, "L0·H0 .* “⁇”")
    page.keyboard.press("Escape")
    page.locator("[data-testid=stSidebar]").wait_for()
    assert "present" not in page.url


def test_a_click_on_an_enlarged_map_hits_its_cell(open_page: Callable):
    page = open_page(present="true", head="L1·H0")
    presented(page, "L1·H0 ")
    cells = page.locator(f"{CHART} path[fill='#8A5CF0']")
    cells.nth(3 * 4 // 2 + 1).hover()
    page.locator("#vg-tooltip-element", has_text="3 Lovelace").wait_for()
    cells.nth(3 * 4 // 2 + 1).click()
    presented(page, "L1·H0 .* at “Lovelace”")
