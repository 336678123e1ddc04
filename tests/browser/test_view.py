"""What is seen: links, themes, the first view, typed text, and a quiet console."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.evaluation.report_card import Row, load_rows
from core.paths import CHECKPOINTS

HOSTILE = "<b>x</b> $y$ **z** a -> b :smile: :material/home: :red[r] -- <= 3 a@b.org"


def choice(page: Any, label: str) -> str:
    return page.get_by_role("combobox", name=label, exact=True).input_value()


def test_a_link_restores_the_view(open_page: Callable, asked: dict[str, str]):
    page = open_page(**asked, head="L0·H2", row="2 Marie", fold="true", view="arcs")
    assert "L0·H2" in choice(page, "Head")
    assert "2 Marie" in choice(page, "Query row")
    assert page.get_by_role("textbox", name="Question").input_value() == asked["question"]
    page.get_by_text("Row 2, key by key").wait_for()
    assert page.get_by_role("switch", name="Whole words").is_checked()
    arcs = page.locator("[data-testid=stVegaLiteChart]").nth(1)
    assert arcs.locator("g.mark-line").count() > 0


def test_the_first_visitor_of_a_fresh_server_may_follow_a_deep_link(
    window: Callable[[int, str], Any], fresh_server: tuple[str, Path]
):
    address, log = fresh_server
    page = window(1280, "light")
    page.goto(f"{address}/attention")
    page.locator("[data-testid=stVegaLiteChart] svg").nth(2).wait_for(timeout=60_000)
    assert page.get_by_role("dialog").count() == 0
    assert "ScriptRunContext" not in log.read_text()


def test_typed_markup_appears_as_typed(open_page: Callable):
    page = open_page(source="type freely", question=HOSTILE, fold="false")
    heading = page.get_by_role("heading", level=4)
    text = heading.inner_text().replace("\u2060", "")  # an invisible joiner
    assert text.startswith(f"{HOSTILE} →")
    assert heading.locator("b, .katex, a[href*=example]").count() == 0
    large_map = page.locator("[data-testid=stPlotlyChart]")
    assert large_map.locator(".ytick text").count() > 3
    assert large_map.locator("b, sub, a[href*=example]").count() == 0


@pytest.mark.parametrize("path", ["/", "/attention"])
def test_the_dark_theme_draws_the_charts_and_the_light_one_takes_its_place(
    open_page: Callable, path: str
):
    page = open_page(path, scheme="dark")
    for scheme, lightness in (("dark", range(60)), ("light", range(200, 256))):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "scheme => getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme"
            " === scheme",
            arg=scheme,
        )
        colour = page.locator("[data-testid=stApp]").evaluate(
            "e => getComputedStyle(e).backgroundColor"
        )
        red = int(colour.removeprefix("rgb(").split(",")[0])
        assert red in lightness
        for chart in page.locator("[data-testid=stVegaLiteChart]").all():
            chart.locator("path[fill='#8A5CF0'], image").nth(3).wait_for(state="attached")
    assert page.problems == []


UNCOVERED = {"mc-predict": "false"}
EXAMPLES = ["Weights", "Copy", "Average", "Take out", "Identity", "Design"]


def test_the_monte_carlo_page_draws_its_pictures_and_covers_one_until_something_is_said(
    open_page: Callable,
):
    page = open_page("/monte_carlo", **UNCOVERED)
    plane, share, _ = page.locator("[data-testid=stVegaLiteChart]").all()
    assert plane.locator("path[fill='#1FA37A']").count() > 10
    assert share.locator("path[fill='#8A5CF0']").count() == 50 + 1  # the bars, and the mean
    assert page.get_by_text("agrees").count() == 6
    assert page.problems == []
    page.get_by_text("Predict, then reveal").click()
    page.get_by_text("Covered.").wait_for()
    page.get_by_role("combobox", name="Prediction").click()
    page.get_by_role("option", name="at v_a or at v_b").click()
    page.get_by_text("As you said.").wait_for()


def test_every_example_by_hand_typesets_its_numbers(open_page: Callable):
    page = open_page("/attention_by_hand", **{"hand-example": EXAMPLES[-1]})
    for example in EXAMPLES:
        page.get_by_role("radio", name=example).click()
        page.get_by_role("radio", name=example, checked=True).wait_for()
        if example != EXAMPLES[0]:  # which needs no word in the address
            page.wait_for_url(re.compile("hand-example=" + example.replace(" ", r"(\+|%20)")))
        page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        assert page.locator(".katex-error").count() == 0
        assert page.locator("[data-testid=stMarkdown] .katex").count() > 5
        assert page.get_by_role("table").count() == 1
    assert page.problems == []


@pytest.fixture
def recorded() -> list[Row]:
    """The measured rows of the shipped report card."""
    rows = [row for row in load_rows(CHECKPOINTS) if row.measured is not None]
    if not rows:
        pytest.skip("no checkpoint of the course's task is recorded yet")
    return rows


def test_the_report_card_shows_its_best_row_in_the_first_view(
    open_page: Callable, recorded: list[Row]
):
    page = open_page("/report_card")
    chart = page.locator("[data-testid=stVegaLiteChart]").first
    box = chart.bounding_box()
    assert 0 < box["y"] < box["y"] + box["height"] < 720
    assert chart.locator("path[fill='#1FA37A']").count() >= len(recorded)
    page.get_by_text("All numbers, and what others reached").click()
    link = page.get_by_role("table").get_by_role("link").first
    link.wait_for()
    assert link.get_attribute("href") == f"attention?checkpoint={recorded[0].name}"
    assert page.problems == []


def test_the_first_view_holds_answer_grid_and_map_large_enough_for_the_back_row(
    open_page: Callable, asked: dict[str, str]
):
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
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    paragraph = page.locator("[data-testid=stMarkdown] p").filter(has_text="Probability").first
    assert paragraph.evaluate(size) >= 16
    labels = page.locator("[data-testid=stVegaLiteChart] .role-axis-label text").all()
    assert labels
    assert min(label.evaluate(size) for label in labels) >= 14
