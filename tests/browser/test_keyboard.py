"""Attention, a lesson and every clicked chart's choice, by the keyboard alone."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from core.lessons.reading import list_lessons

MOST = 200  # more than any page has places for the tabulator
RESTS = "[data-testid=stApp][data-test-script-state=notRunning]"
HAS_FOCUS = "element => element === document.activeElement"


def tab_to(page: Any, place: Any) -> None:
    """Press Tab until the place has the focus."""
    page.locator(RESTS).wait_for()
    for _ in range(MOST):
        page.keyboard.press("Tab")
        if place.evaluate(HAS_FOCUS):
            return
    pytest.fail(f"Tab does not reach {place}")


def box(page: Any, label: str) -> Any:
    return page.get_by_role("combobox", name=label, exact=True)


def choose(page: Any, label: str, text: str) -> None:
    """Find an option of a select box by what it is called."""
    tab_to(page, box(page, label))
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.get_by_role("option", name=text).first.wait_for()
    page.keyboard.press("Enter")


def test_head_layer_row_and_heads_off_are_chosen_on_attention(
    open_page: Callable, asked: dict[str, str]
):
    page = open_page(**asked, head="L1·H0")
    choose(page, "Head", "L1·H1")
    page.wait_for_url("**head=L1*H1*")
    choose(page, "Head", "L0·H2")
    page.wait_for_url("**head=L0*H2*")
    choose(page, "Query row", "3 ")
    page.get_by_text("Row 3, key by key").wait_for()
    tab_to(page, page.get_by_role("button", name="Heads off"))
    page.keyboard.press("Enter")
    row = page.get_by_role("toolbar", name="Heads of L0 that are off").get_by_role("button")
    row.first.wait_for()
    tab_to(page, row.first)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.get_by_text("Off: L0·H1").wait_for()
    page.keyboard.press("Escape")
    row.first.wait_for(state="detached")
    assert page.problems == []


def test_a_lesson_is_begun_answered_and_followed(open_page: Callable):
    lesson = next((each for each in list_lessons() if each.steps[0].predict), None)
    if lesson is None:
        pytest.skip("no lesson begins with a prediction")
    page = open_page("/lessons")
    tab_to(page, page.locator(f".st-key-lessons-begin-{lesson.name} button"))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=lesson.steps[0].title, exact=True).wait_for()
    tab_to(page, page.get_by_role("radio").first)
    page.keyboard.press("ArrowDown")
    tab_to(page, page.get_by_role("button", name="That is what I expect"))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="That is what I expect").wait_for(state="detached")
    page.locator("[data-testid=stVegaLiteChart] svg").first.wait_for()
    tab_to(page, page.get_by_role("button", name="Next"))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=lesson.steps[1].title, exact=True).wait_for()


def test_an_arrow_key_on_a_control_of_a_lesson_does_not_turn_the_step(open_page: Callable):
    page = open_page("/lessons", lesson="diffuse-to-peaked", step="2")
    page.get_by_role("button", name="Look without an answer").click()
    page.get_by_role("radio", name="Weights").wait_for()
    tab_to(page, page.get_by_role("radio", name="Weights"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.get_by_role("radio", name="Copy", checked=True).wait_for()
    page.locator(RESTS).wait_for()
    assert "lesson-step=2" in page.url


@pytest.mark.parametrize("path", ["/heads", "/compare"])
def test_what_a_click_on_a_chart_chooses_a_box_chooses_too(open_page: Callable, path: str):
    page = open_page(path)
    choose(page, "Head", "L1·H3")
    page.wait_for_url(re.compile("head=L1.*H3"))


def test_the_side_bar_is_opened_where_it_is_folded_away_and_its_controls_are_reached(
    open_page: Callable,
):
    page = open_page(width=640)
    page.set_viewport_size({"width": 640, "height": 360})  # 1280x720 at a zoom of 200 %
    tab_to(page, page.get_by_test_id("stExpandSidebarButton"))
    page.keyboard.press("Enter")
    tab_to(page, box(page, "Checkpoint"))
    page.wait_for_function("() => document.activeElement.getBoundingClientRect().left >= 0")
    place = box(page, "Checkpoint").bounding_box()
    assert 0 <= place["y"] <= 360 - place["height"]
