"""Every page in one visit. It fits its window from a small phone to the largest screen, and asks
its server alone. For those who do not see it as drawn, who enlarge it, and who have no mouse:
axe-core finds nothing serious in either theme, no word is lost, and the tabulator reaches whatever
a mouse reaches. Presented, its main picture fills the window and every letter can be read.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from core.lessons.reading import list_lessons
from tests.browser.fitting import WIDTHS, check_all_widths, check_width
from tests.browser.presented import check_presented

RESTS = "[data-testid=stApp][data-test-script-state=notRunning]"
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
# Nothing moves any more, and the theme is the asked one.
STILL = """scheme => {
  const endless = a => a.effect.getComputedTiming().iterations === Infinity;
  const app = document.querySelector("[data-testid=stApp]");
  return getComputedStyle(app).colorScheme === scheme
    && document.getAnimations().every(a => a.playState !== "running" || endless(a));
}"""
# Contrast is measured of what lies in the window alone.
HEIGHT = "() => document.querySelector('[data-testid=stMain]').scrollHeight"
NOT_PRESENTED = ("/lessons", "/training")  # pages without a main picture
OPEN_ALL = """() => document.querySelectorAll("details:not([open]) > summary")
  .forEach(summary => summary.click())"""
# What a mouse reaches, each by one name. Arrow keys lead through a group of which the tabulator
# reaches one; the arrow of a select box is a second way to the list that the key Down opens.
WANTED = """() => {
  const kinds = "a[href], button, input, select, textarea, summary, [role=button], [role=slider]";
  const usable = e => {
    const box = e.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && !e.disabled && !e.closest("[aria-disabled=true]")
      && e.checkVisibility({visibilityProperty: true, opacityProperty: true});
  };
  const arrow = e => e.tabIndex < 0 && e.parentElement.querySelector("input[role=combobox]");
  const place = e => e.closest("[role=radiogroup], [role=toolbar]") || e;
  const all = [...document.querySelectorAll(kinds)].filter(e => usable(e) && !arrow(e));
  window.reached = new Set();
  window.wanted = new Map(all.map(e => [place(e), e.ariaLabel || e.textContent || e.type]));
  document.addEventListener("focusin", event => window.reached.add(place(event.target)));
  return window.wanted.size;
}"""
# What was drawn anew meanwhile is not there to be reached.
MISSED = """() => [...window.wanted].filter(([e]) => e.isConnected && !window.reached.has(e))
  .map(([, name]) => name)"""

# A window of 1280x720 at a zoom of 200 %, and the narrowest.
ENLARGED = ({"width": 640, "height": 360}, {"width": 320, "height": 640})
# Words that a box cuts off, and the page itself if it is wider than the window. What is for screen
# readers alone stands in a box of one pixel, and formulas are written a second time for them.
LOST = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const cuts = (box, text) => {
    const style = getComputedStyle(box), around = box.getBoundingClientRect();
    const clips = how => how === "hidden" || how === "clip";
    return clips(style.overflowX) && (text.right > around.right + 2 || text.left < around.left - 2)
      || clips(style.overflowY) && style.overflowX !== "auto" && text.bottom > around.bottom + 3;
  };
  const lost = [...main.querySelectorAll("*:not(svg *, .katex *)")].filter(e => {
    const own = [...e.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own || !e.checkVisibility({visibilityProperty: true, opacityProperty: true})) return false;
    const range = document.createRange();
    range.selectNodeContents(e);
    const text = range.getBoundingClientRect();
    let box = e;
    while (box !== main && !cuts(box, text)) box = box.parentElement;
    return box !== main && box.clientWidth > 1;
  });
  const wide = main.scrollWidth > main.clientWidth ? ["the page"] : [];
  return [...wide, ...lost.map(e => e.textContent.trim())];
}"""


def still(page: Any, scheme: str) -> None:
    page.locator(RESTS).wait_for()
    page.wait_for_function(STILL, arg=scheme)


def serious(page: Any) -> list[str]:
    """What axe-core finds, a line each: what is wrong, with whom, and how."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]} {node['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def missed_by_tab(page: Any) -> list[str]:
    """What a mouse reaches and a whole round of the tabulator does not."""
    n_wanted = page.evaluate(WANTED)
    for n_before in range(3 * n_wanted):  # what is seen only while it has the focus counts, too
        page.keyboard.press("Tab")
        if n_before and page.evaluate("document.activeElement === document.body"):
            break
    return page.evaluate(MISSED)


def lost(page: Any) -> list[str]:
    """What is cut off for good: charts follow a window that has changed a moment after all else."""
    from playwright.sync_api import TimeoutError as NeverFits

    with suppress(NeverFits):
        page.wait_for_function(f"() => ({LOST})().length === 0")
    return page.evaluate(LOST)


def check(page: Any) -> None:
    page.mouse.move(0, 0)
    page.locator(RESTS).wait_for()
    assert missed_by_tab(page) == []
    page.evaluate(OPEN_ALL)
    page.locator(RESTS).wait_for()
    page.set_viewport_size({"width": 1280, "height": max(720, page.evaluate(HEIGHT))})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        still(page, scheme)
        assert serious(page) == [], scheme
    for size in ENLARGED:
        page.set_viewport_size(size)
        still(page, "dark")
        assert lost(page) == [], size


@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_every_width_stays_at_home_is_reached_by_tab_read_and_presented(
    open_page: Callable, server: str, path: str
):
    asked: list[str] = []
    page = open_page(path, width=WIDTHS[0], asked=asked)
    page.locator(RESTS).wait_for()
    check_all_widths(page)
    check_width(page, 1280)  # charts are drawn for it before anything is counted
    check(page)
    check_width(page, WIDTHS[0])  # whatever can be opened is open
    if path not in NOT_PRESENTED:
        check_width(page, 1280)
        page.keyboard.press("p")
        check_presented(page)
    hosts = {urlsplit(address).netloc for address in asked if not address.startswith("data:")}
    assert hosts - {""} == {urlsplit(server).netloc}
    assert page.problems == []


def test_the_same_holds_for_a_step_of_a_lesson(open_page: Callable):
    lessons = list_lessons()
    if not lessons:
        pytest.skip("no lesson is shipped")
    page = open_page("/lessons", lesson=lessons[0].name, step="1")
    page.locator(".st-key-lesson-leave button").wait_for()  # drawn last
    check(page)


def test_a_nameless_picture_pale_and_cut_words_and_what_no_key_reaches_are_found(window: Callable):
    page = window(1280, "light")
    page.set_content(
        "<!doctype html><html lang=en><title>A page</title><main data-testid=stMain><h1>A page</h1>"
        "<img src='data:,'><p style='color:#bbb'>Pale</p>"
        "<p style='width:3em;overflow:hidden;white-space:nowrap'>Too long for its box</p>"
        "<button tabindex=-1>For the mouse alone</button><button>For all</button></main></html>"
    )
    found = serious(page)
    assert [line.partition(":")[0] for line in found] == ["color-contrast", "image-alt"]
    assert missed_by_tab(page) == ["For the mouse alone"]
    assert page.evaluate(LOST) == ["Too long for its box"]
