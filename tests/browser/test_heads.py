"""Heads switched off, compared and ranked, in a real browser."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from core.inspection.head_record import heads_file
from core.paths import CHECKPOINTS

CHARTS = "[data-testid=stVegaLiteChart]"
recorded = pytest.mark.skipif(
    not heads_file(CHECKPOINTS / "notable-pretrained", "dev").exists(),
    reason="no table of heads is recorded for notable-pretrained",
)


def probability(page: Any) -> float:
    """That of the answer that is shown, in percent."""
    line = page.locator("[data-testid=stMarkdown] p").filter(has_text="Probability of this answer")
    found = re.search(r"answer ([\d.e-]+)\s%", line.first.inner_text().replace("\u00a0", " "))
    assert found is not None
    return float(found[1])


def switch(page: Any, layer: int, head: int) -> None:
    row = page.get_by_role("toolbar", name=f"Heads of L{layer} that are off")
    row.get_by_role("button", name=f"H{head}", exact=True).click()


def test_a_head_is_switched_off_the_answers_probability_changes_and_keys_pick_what_matters(
    open_page: Callable, asked: dict[str, str]
):
    page = open_page(**asked)
    before = probability(page)
    page.get_by_role("button", name="Heads off").click()
    switch(page, 0, 4)
    line = page.get_by_text("Off: L0·H4")
    line.wait_for()
    assert probability(page) != before
    page.wait_for_url("**off-L0=H4*")
    assert f"{before:g}" in page.locator("p").filter(has_text="Off: L0·H4").inner_text()
    switch(page, 0, 4)
    line.wait_for(state="detached")
    assert probability(page) == before
    most = page.get_by_role("button", name=re.compile("that matter most"))
    most.wait_for()
    most.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Off: L").first.wait_for()
    assert page.problems == []


def test_a_change_is_covered_until_it_is_predicted(open_page: Callable, asked: dict[str, str]):
    page = open_page(**asked, predict="true", **{"off-L0": "H2"})
    page.get_by_text("Covered:").wait_for()
    page.get_by_text("it stays").click()
    page.get_by_text(re.compile("as you said")).first.wait_for()


@recorded
def test_all_heads_are_in_the_first_view_and_the_map_of_a_clicked_one_is_one_link_away(
    open_page: Callable,
):
    page = open_page("/heads", **{"heads-head": "L0·H1"})
    chart = page.locator(CHARTS).first.bounding_box()
    assert chart["y"] + chart["height"] <= 720
    agreement = page.get_by_text("Rank agreement").first.bounding_box()
    assert agreement["y"] < 720
    assert page.problems == []
    point = page.locator(CHARTS).first.locator("[aria-label*='head: L1·H3']").last
    point.click()
    page.wait_for_url("**heads-head=L1*H3*")
    page.get_by_role("link", name="The map of L1·H3").click()
    page.get_by_text(re.compile("^L1·H3 (looks|has no)")).first.wait_for()
    assert page.get_by_role("combobox", name="Head", exact=True).input_value() == "L1·H3"


def test_two_questions_are_subtracted_on_a_diverging_scale(open_page: Callable):
    page = open_page("/compare", **{"compare-head": "L1·H0"})
    page.get_by_text("B less A").first.wait_for()
    fills = (
        page.locator(CHARTS)
        .nth(2)
        .locator("path")
        .evaluate_all("paths => [...new Set(paths.map(path => path.getAttribute('fill')))]")
    )
    assert len(fills) > 3
    assert page.problems == []


def test_a_head_is_scrubbed_through_its_training(open_page: Callable):
    page = open_page("/compare", **{"compare-what": "two moments of a training"})
    page.get_by_text("step 200").first.wait_for()
    slider = page.get_by_role("slider", name=re.compile("^A: moment"))
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("step 400").first.wait_for()
    page.wait_for_url("**compare-moment=400*")
