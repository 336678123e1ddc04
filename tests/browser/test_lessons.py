"""A lesson in Chromium: by the arrow keys to its end and back; what a link hides is gone; a frame
in another page.
"""

from collections.abc import Callable
from typing import Any

import pytest

from core.lessons.reading import list_lessons

WAIT_MS = 60_000
TEXT = ".st-key-lesson-text"
RESTS = "[data-testid=stApp][data-test-script-state=notRunning]"
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def lesson() -> Any:
    """The first of those that have a way forward."""
    found = next((lesson for lesson in list_lessons() if len(lesson.steps) > 1), None)
    return found or pytest.skip("no lesson of several steps is shipped")


def wait_for_step(page: Any, title: str) -> None:
    page.locator(TEXT).get_by_role("heading", name=title, exact=True).wait_for(timeout=WAIT_MS)
    page.locator(".st-key-lesson-leave button").wait_for(timeout=WAIT_MS)  # drawn last
    page.locator(RESTS).wait_for(timeout=WAIT_MS)


def uncover(page: Any, step: Any) -> None:
    """Look without an answer where one is asked for."""
    if step.predict is not None:
        page.get_by_role("button", name="Look without an answer").click()
        page.get_by_role("button", name="Look without an answer").wait_for(state="detached")
        page.locator(RESTS).wait_for(timeout=WAIT_MS)


def open_first(open_page: Open, lesson: Any, **how: Any) -> Any:
    page = open_page("/lessons", lesson=lesson.name, step="1", **how)
    wait_for_step(page, lesson.steps[0].title)
    return page


def test_the_arrow_keys_lead_to_the_end_of_a_lesson_and_back(open_page: Open, lesson: Any):
    page = open_page("/lessons")
    page.locator(f".st-key-lessons-begin-{lesson.name} button").click()
    for number, step in enumerate(lesson.steps, 1):
        wait_for_step(page, step.title)
        assert f"lesson-step={number}" in page.url
        page.locator(TEXT).get_by_text(f"{number} of {len(lesson.steps)}").wait_for()
        uncover(page, step)
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Begin").first.wait_for(timeout=WAIT_MS)
    page = open_page("/lessons", lesson=lesson.name, step=str(len(lesson.steps)))
    for step in reversed(lesson.steps):
        wait_for_step(page, step.title)
        page.keyboard.press("ArrowLeft")
    assert page.get_by_role("button", name="Back").is_disabled()
    assert page.problems == []


def test_the_way_back_in_the_browser_leads_through_the_steps(open_page: Open, lesson: Any):
    page = open_first(open_page, lesson)
    page.keyboard.press("ArrowRight")
    wait_for_step(page, lesson.steps[1].title)
    for _ in range(4):  # Streamlit writes up to three entries a step
        page.go_back()
        page.locator(RESTS).wait_for(timeout=WAIT_MS)
        if "lesson-step=1" in page.url:
            break
    wait_for_step(page, lesson.steps[0].title)


def test_the_text_stands_beside_the_page_and_above_it_where_it_is_narrow(
    open_page: Open, lesson: Any
):
    page = open_first(open_page, lesson)
    text, column = page.locator(TEXT), page.locator(f"[data-testid=stColumn]:has({TEXT})")
    assert 0.15 * 1280 <= column.bounding_box()["width"] <= 0.35 * 1280
    size = text.locator("p").last.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    assert size >= 18
    for width in (800, 390):
        page.set_viewport_size({"width": width, "height": 720})
        page.wait_for_function(
            f"() => document.querySelector('{TEXT}').getBoundingClientRect().width > {width / 2}"
        )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_text_stays_in_sight_while_a_long_page_is_scrolled(open_page: Open):
    name, number, step = next(
        (lesson.name, number, step)
        for lesson in list_lessons()
        for number, step in enumerate(lesson.steps, 1)
        if step.page == "knowledge"
    )
    page = open_page("/lessons", lesson=name, step=str(number))
    wait_for_step(page, step.title)
    uncover(page, step)
    page.get_by_role("heading", name="Whose places?").wait_for()
    main, text = page.locator("[data-testid=stMain]"), page.locator(TEXT)
    before = text.bounding_box()["y"]
    assert main.evaluate("e => { e.scrollTop = 1000; return e.scrollTop }") == 1000
    assert 0 < text.bounding_box()["y"] <= before
    forward = page.get_by_role("button", name="Next").bounding_box()
    assert forward["y"] + forward["height"] <= 720


def test_what_a_link_hides_is_gone_and_the_rest_is_there(server: str, visit: Open):
    page = visit(server, "/attention_by_hand", hide=["hand-example", "sidebar", "header", "text"])
    page.locator("[data-testid=stVegaLiteChart] svg").first.wait_for()
    page.locator(RESTS).wait_for()
    for gone in (
        ".st-key-hand-example",
        "[data-testid=stSidebar]",
        "[data-testid=stHeader]",
        "[data-testid=stMain] [data-testid=stCaptionContainer]",
    ):
        assert not [each for each in page.locator(gone).all() if each.is_visible()], gone
    assert page.locator("[data-testid=stVegaLiteChart]").first.is_visible()


def test_a_frame_in_another_page_shows_the_page_without_menu_and_header(
    server: str, window: Callable[[int, str], Any]
):
    page = window(1280, "light")
    page.set_default_timeout(WAIT_MS)
    page.goto(f"{server}/_stcore/health")  # a page that is not the app, under the same address
    address = f"{server}/attention_by_hand?embed=true"
    page.set_content(f"<h1>A course</h1><iframe src='{address}' width=900 height=560></iframe>")
    inside = page.frame_locator("iframe")
    inside.locator("[data-testid=stVegaLiteChart] svg").first.wait_for()
    inside.locator(RESTS).wait_for()
    assert inside.get_by_role("link", name="Runtime").count() == 0
    assert inside.get_by_text("Link for the class").count() == 0
    assert not inside.locator("[data-testid=stToolbar]").is_visible()
    assert page.frames[1].evaluate("document.documentElement.scrollWidth <= innerWidth")
