"""A digit is drawn with the pointer, and every network says what it is; what is drawn stays."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.paths import PICTURE_NETWORKS
from core.pictures.networks import NETWORKS

pytestmark = pytest.mark.skipif(
    not all((PICTURE_NETWORKS / f"{name}.safetensors").is_file() for name in NETWORKS),
    reason="no networks of pictures are shipped",
)
AS_SEEN = "The drawing, as the networks get it"


def to_draw(page: Any) -> Any:
    """Choose to draw, and wait for what is drawn on."""
    page.get_by_test_id("stButtonGroup").get_by_text("draw", exact=True).click()
    page.locator("canvas[aria-label]").wait_for()
    return page


def draw(page: Any, *places: tuple[float, float]) -> None:
    """A stroke through places that are shares of the canvas."""
    box = page.locator("canvas[aria-label]").bounding_box()
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in places]
    page.mouse.move(*at[0])
    page.mouse.down()
    for place in at[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()


def lit(page: Any) -> int:
    """How many points of the canvas are white."""
    return page.locator("canvas[aria-label]").evaluate(
        """canvas => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
          .filter((value, i) => i % 4 === 0 && value > 200).length"""
    )


def test_a_drawn_seven_is_read_and_strokes_are_taken_back(open_page: Callable[..., Any]):
    page = to_draw(open_page("/look"))
    canvas = page.locator("canvas[aria-label]")
    page.get_by_text("Draw a digit: each network").wait_for()
    before = canvas.bounding_box()
    undo, clear = (page.get_by_role("button", name=name) for name in ("Undo", "Clear"))
    assert undo.is_disabled()
    draw(page, (0.25, 0.2), (0.75, 0.2), (0.4, 0.85))
    page.get_by_text(AS_SEEN).first.wait_for()
    page.get_by_role("heading", name=re.compile("says? 7$")).first.wait_for()
    assert canvas.bounding_box() == before  # or a second stroke would go astray
    one = lit(page)
    draw(page, (0.3, 0.5), (0.75, 0.5))
    assert lit(page) > one
    undo.click()
    assert lit(page) == one
    clear.click()
    page.get_by_text("Draw a digit: each network").wait_for()
    assert lit(page) == 0
    assert page.problems == []


def test_what_is_drawn_stays_while_another_page_is_looked_at_and_is_kept(
    open_page: Callable[..., Any], open_file: Callable[[Path], Any], tmp_path: Path
):
    page = to_draw(open_page("/look"))
    draw(page, (0.5, 0.1), (0.5, 0.9))
    page.get_by_text(AS_SEEN).first.wait_for()
    drawn = lit(page)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=re.compile("By hand$")).click()
    page.locator("canvas[aria-label]").wait_for(state="detached")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=re.compile("Look$")).click()
    to_draw(page)
    page.get_by_text(AS_SEEN).first.wait_for()
    assert lit(page) == drawn
    page.get_by_role("button", name="Keep this page").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Take the file").click()
    path = tmp_path / "kept.html"
    download.value.save_as(path)
    kept = open_file(path)
    assert kept.get_by_role("img", name=AS_SEEN).count() == 1
    assert kept.problems == []
