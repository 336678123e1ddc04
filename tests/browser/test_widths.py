"""Every page fits its window, from a small phone to the largest screen, and stays at home."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

# The first is that of the window; 640 is one of 1280 at a zoom of 200 %.
WIDTHS = (320, 390, 640, 700, 768, 820, 900, 1024, 1100, 1280, 1920, 2560)
PAGES = (
    "/",
    "/lessons",
    "/attention",
    "/heads",
    "/knowledge",
    "/listen",
    "/compare",
    "/look",
    "/monte_carlo?mc-predict=false",
    "/attention_by_hand",
    "/memory?memory-predict=false",
    "/memory?memory-predict=false&memory-view=Overwriting",
    "/runtime",
    "/runtime?rt-view=Generation",
    "/training",
    "/report_card",
)
LONG_NAME = {
    "source": "type freely",
    "question": "Where was Wolfgang Theophilus Amadeus Gottlieb Mozart-Schwarzenegger born?",
}
LONGEST_MS = 90_000  # a chart on a busy machine; a page that is too wide stays so
# What sticks out of the window, unless it stands in a box that scrolls or clips and itself fits.
STICKS_OUT = """() => {
  const wide = innerWidth, main = document.querySelector("[data-testid=stMain]");
  const boxed = element => {
    for (let e = element.parentElement; e && e !== main; e = e.parentElement)
      if (getComputedStyle(e).overflowX !== "visible"
          && e.getBoundingClientRect().right <= wide + 1) return true;
    return false;
  };
  const out = [...main.querySelectorAll("*")].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && (box.right > wide + 1 || box.left < -1) && !boxed(e);
  });
  return out.map(e => `${e.tagName} ${e.dataset.testid || ""} ${e.getBoundingClientRect().right}`);
}"""
FOLDED = "[data-testid=stExpander] details:not([open]) > summary"
UNFOLD = f"() => document.querySelectorAll('{FOLDED}').forEach(summary => summary.click())"
# Charts are drawn for their place once they know its width; until then one is as wide as before.
FITS = """() => [...document.querySelectorAll("[data-testid=stVegaLiteChart]")].every(place => {
  const box = place.querySelector("svg, canvas")?.getBoundingClientRect();
  return box && box.left >= 0 && box.right <= innerWidth;
})"""


def check_all_widths(page: Any) -> None:
    for width in WIDTHS:
        check_width(page, width)


def check_width(page: Any, width: int) -> None:
    from playwright.sync_api import TimeoutError as TookTooLong

    page.set_viewport_size({"width": width, "height": 720})
    page.wait_for_function(f"() => innerWidth === {width}")
    try:
        page.wait_for_function(f"() => !({STICKS_OUT})().length && ({FITS})()", timeout=LONGEST_MS)
    except TookTooLong:
        pytest.fail(f"at {width} px: {page.evaluate(STICKS_OUT)[:5] or 'a chart is cut'}")


@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_wider_than_its_window_and_no_request_leaves_the_server(
    open_page: Callable, server: str, path: str
):
    asked: list[str] = []
    page = open_page(path, width=WIDTHS[0], asked=asked)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    check_all_widths(page)
    page.evaluate(UNFOLD)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    check_width(page, WIDTHS[0])
    page.wait_for_load_state("networkidle")
    hosts = {urlsplit(address).netloc for address in asked if not address.startswith("data:")}
    assert hosts - {""} == {urlsplit(server).netloc}
    assert page.problems == []


def test_maps_of_two_runs_wrap_where_their_names_would_overlap(open_page: Callable):
    page = open_page("/compare", width=1024)
    page.get_by_text("B less A", exact=True).wait_for()
    tops = "names => names.map(name => name.getBoundingClientRect().top)"
    maps = page.locator("p").filter(has_text=re.compile(r"^(A: L\d+·H\d+|B: L\d+·H\d+|B less A)$"))
    narrow = maps.evaluate_all(tops)
    assert len(narrow) == 3
    assert narrow[0] < narrow[2]


@pytest.mark.parametrize(
    ("checkpoint", "view"),  # the name has too many characters for arcs
    [("notable-pretrained", "map"), ("notable-pretrained", "arcs"), ("notable-char", "map")],
)
def test_a_long_name_widens_nothing(open_page: Callable, checkpoint: str, view: str):
    page = open_page(**LONG_NAME, width=WIDTHS[0], checkpoint=checkpoint, view=view)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    check_all_widths(page)
