"""What a mouse does to the charts, in a real browser."""

import re
from collections.abc import Callable
from typing import Any

import pytest

# Where on the screen the middle of an outline's upper edge lies, without the width of its stroke.
MIDDLE_OF_TOP = """e => {
  const box = e.getBBox();
  const at = new DOMPoint(box.x + box.width / 2, box.y).matrixTransform(e.getScreenCTM());
  return {x: at.x, y: at.y};
}"""


def box(page: Any, label: str) -> Any:
    """The input of a select box."""
    return page.get_by_role("combobox", name=label, exact=True)


def wait_for_choice(page: Any, label: str, text: str) -> None:
    from playwright.sync_api import expect

    expect(box(page, label)).to_have_value(re.compile(f"^{text}"), timeout=15_000)


def wait_for_sentence(page: Any, head: str) -> None:
    """Until the server has drawn the head; the select box alone changes before that."""
    page.get_by_text(f"{head} looks at").or_(page.get_by_text(f"{head} has no")).first.wait_for()


def head_cell(page: Any, layer: int, head: int) -> Any:
    """The topmost mark of a head in the grid, which takes the click."""
    name = f"[aria-label^='layer: {layer}; head: {head};']"
    return page.locator("[data-testid=stVegaLiteChart]").nth(0).locator(name).last


def frame(page: Any) -> Any:
    """The bounding box of the blue frame in the map."""
    svg = page.locator("[data-testid=stVegaLiteChart]").nth(1)
    return svg.locator("path[stroke='#3B8FD9']").first.bounding_box()


def map_cell(page: Any, row: int, column: int) -> Any:
    cells = page.locator("[data-testid=stVegaLiteChart]").nth(1).locator("path[fill='#8A5CF0']")
    return cells.nth(row * (row + 1) // 2 + column)


def click_the_frame(page: Any) -> None:
    """It picks the row that it is drawn around."""
    wait_for_choice(page, "Query row", "of the written word")
    outline = page.locator("[data-testid=stVegaLiteChart]").nth(1).locator("path[stroke='#3B8FD9']")
    at = outline.first.evaluate(MIDDLE_OF_TOP)
    page.mouse.click(at["x"], at["y"])
    page.get_by_text(re.compile("Row [0-9]+, key by key")).wait_for()
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    wait_for_choice(page, "Query row", "[0-9]+ ⁇")
    assert page.locator("[data-testid=stException]").count() == 0
    assert page.get_by_role("heading", name="Where was Marie Curie born?").is_visible()


def test_a_click_picks_a_head_and_again_after_another_way_of_choosing(
    open_page: Callable, asked: dict[str, str]
):
    page = open_page(**asked, head="L0·H1")
    head_cell(page, 1, 2).click()
    wait_for_choice(page, "Head", "L1·H2")
    wait_for_sentence(page, "L1·H2")  # a list opened before it would be redrawn
    page.wait_for_url("**head=L1*H2*")
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    box(page, "Head").click()
    page.get_by_role("option", name="L0·H0").click()
    wait_for_sentence(page, "L0·H0")
    head_cell(page, 1, 2).click()
    wait_for_choice(page, "Head", "L1·H2")


def test_a_click_on_a_rows_frame_and_on_the_map_picks_a_row_and_again_after_another_way(
    open_page: Callable, asked: dict[str, str]
):
    page = open_page(**asked)
    click_the_frame(page)
    before = frame(page)
    map_cell(page, 3, 1).click()
    wait_for_choice(page, "Query row", "3 ")
    page.get_by_text("Row 3, key by key").wait_for()  # a list opened before it would be redrawn
    after = frame(page)
    cell = map_cell(page, 3, 1).bounding_box()
    assert after["y"] < before["y"]
    assert after["y"] + after["height"] / 2 == pytest.approx(cell["y"] + cell["height"] / 2, abs=4)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    box(page, "Query row").click()
    page.get_by_role("option", name=re.compile("^1 ")).click()
    page.get_by_text("Row 1, key by key").wait_for()
    map_cell(page, 3, 1).click()
    wait_for_choice(page, "Query row", "3 ")


def test_a_shared_address_restores_the_view(open_page: Callable, asked: dict[str, str]):
    page = open_page(**asked)
    head_cell(page, 0, 2).click()
    wait_for_choice(page, "Head", "L0·H2")
    map_cell(page, 3, 1).click()
    page.get_by_text("Row 3, key by key").wait_for()
    page.wait_for_url("**row=3*")
    _, query = page.url.split("?", 1)
    again = open_page(f"/attention?{query}")
    wait_for_choice(again, "Head", "L0·H2")
    wait_for_choice(again, "Query row", "3 ")
    again.get_by_text("Row 3, key by key").wait_for()
    again.get_by_role("heading", name="Where was Marie Curie born?").wait_for()
