"""Presented by a link, a picture fills the window as after the key; keys step, a click hits."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.presented import CHART, check_presented


def presented(page: Any, title: str) -> None:
    """Until the picture has a title that begins so."""
    page.locator(CHART).get_by_text(re.compile(f"^{title}")).first.wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_link_presents_the_picture_in_either_theme(open_page: Callable, scheme: str):
    page = open_page("/attention", scheme=scheme, present="true")
    check_presented(page)
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
