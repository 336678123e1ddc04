"""What is seen: links, themes, the first view, typed text, and a quiet console."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HOSTILE = "<b>x</b> $y$ **z** a -> b :smile: :material/home: :red[r] -- <= 3 a@b.org"


def choice(page: Any, label: str) -> str:
    return page.get_by_role("combobox", name=label, exact=True).input_value()


def test_a_link_restores_the_view(open_page: Callable, asked: dict[str, str]):
    page = open_page(**asked, head="L0·H2", row="2 Marie", fold="true", view="arcs")
    assert "L0·H2" in choice(page, "Head")
    assert "2 Marie" in choice(page, "Query row")
    assert page.get_by_role("textbox", name="Question").input_value() == asked["question"]
    page.get_by_text("Row 2, key by key").wait_for()
    assert page.get_by_role("switch", name="Fold to words").is_checked()
    arcs = page.locator("[data-testid=stVegaLiteChart]").nth(1)
    assert arcs.locator("g.mark-line").count() > 0


def test_the_first_visitor_of_a_fresh_server_may_follow_a_deep_link(
    browser: Any, fresh_server: tuple[str, Path]
):
    address, log = fresh_server
    page = browser.new_page()
    page.goto(f"{address}/attention")
    page.locator("[data-testid=stVegaLiteChart] svg").nth(2).wait_for(timeout=60_000)
    assert page.get_by_role("dialog").count() == 0
    page.close()
    assert "ScriptRunContext" not in log.read_text()


def test_typed_markup_appears_as_typed(open_page: Callable):
    page = open_page(source="type freely", question=HOSTILE)
    heading = page.get_by_role("heading", level=4)
    text = heading.inner_text().replace("\u2060", "")  # an invisible joiner
    assert text.startswith(f"{HOSTILE} →")
    assert heading.locator("b, .katex, a[href*=example]").count() == 0


@pytest.mark.parametrize("path", ["/", "/attention"])
@pytest.mark.parametrize(("scheme", "lightness"), [("light", range(200, 256)), ("dark", range(60))])
def test_both_themes_draw_the_charts(open_page: Callable, path: str, scheme: str, lightness: range):
    page = open_page(path, scheme=scheme)
    colour = page.locator("[data-testid=stApp]").evaluate(
        "e => getComputedStyle(e).backgroundColor"
    )
    red = int(colour.removeprefix("rgb(").split(",")[0])
    assert red in lightness
    for chart in page.locator("[data-testid=stVegaLiteChart]").all():
        assert chart.locator("path[fill='#8A5CF0'], image").count() > 3
    assert page.problems == []


def test_the_first_view_holds_answer_grid_and_map(open_page: Callable, asked: dict[str, str]):
    page = open_page(**asked)
    heading = page.get_by_role("heading", level=4).bounding_box()
    grid, picture, _ = (
        c.bounding_box() for c in page.locator("[data-testid=stVegaLiteChart]").all()
    )
    assert heading["y"] >= 0
    assert grid["y"] + grid["height"] <= 720
    assert heading["y"] + heading["height"] < grid["y"] < 420
    assert heading["y"] + heading["height"] < picture["y"] < 420
    assert grid["x"] + grid["width"] <= picture["x"]
    assert picture["x"] + picture["width"] <= 1280


def test_text_is_large_enough_for_the_back_row(open_page: Callable, asked: dict[str, str]):
    page = open_page(**asked)
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    paragraph = page.locator("[data-testid=stMarkdown] p").filter(has_text="Probability").first
    assert paragraph.evaluate(size) >= 16
    labels = page.locator("[data-testid=stVegaLiteChart] .role-axis-label text").all()
    assert labels
    assert min(label.evaluate(size) for label in labels) >= 14
