"""What a presented page must be: one picture that fills the window, and no small letter."""

from contextlib import suppress
from typing import Any

CHART = ".st-key-main-picture :is([data-testid=stVegaLiteChart], [data-testid=stPlotlyChart])"
RESTS = "[data-testid=stApp][data-test-script-state=notRunning]"
# What share of a window of 1280x720 the picture takes, and how far anything can be scrolled.
TAKEN = """() => {
  const drawn = document.querySelector(".st-key-main-picture svg.marks");
  const box = drawn.getBoundingClientRect(), main = document.querySelector("[data-testid=stMain]");
  const inside = box.left >= 0 && box.top >= 0 && box.right <= 1280 && box.bottom <= 720;
  const over = Math.max(main.scrollHeight - main.clientHeight, document.body.scrollHeight - 720);
  return [inside ? box.width * box.height / (1280 * 720) : 0, over];
}"""
# Letters below 20 pixels on the screen, of all that is seen.
SMALL = """() => [...document.querySelectorAll("[data-testid=stApp] *")].filter(e => {
  const box = e.getBoundingClientRect();
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  const inside = box.width && box.bottom > 0 && box.top < innerHeight;
  const seen = own && inside && e.checkVisibility({visibilityProperty: true});
  return seen && !["STYLE", "SCRIPT"].includes(e.tagName)
    && parseFloat(getComputedStyle(e).fontSize) * e.currentCSSZoom < 20;
}).map(e => `${e.tagName} ${e.textContent.slice(0, 30)}`)"""


def check_presented(page: Any) -> None:
    from playwright.sync_api import TimeoutError as TookTooLong

    page.wait_for_url("**present=true*")
    page.locator(f"{CHART} svg.marks").wait_for()
    page.locator(RESTS).wait_for()
    # Drawn for its new place; what is not yet may stick out or be small.
    with suppress(TookTooLong):
        page.wait_for_function(f"() => ({TAKEN})()[0] >= 0.55 && ({TAKEN})()[1] <= 0")
        page.wait_for_function(f"() => !({SMALL})().length")
    share, over = page.evaluate(TAKEN)
    assert share >= 0.55
    assert over <= 0
    assert page.evaluate(SMALL) == []
    assert not page.locator("[data-testid=stSidebar], [data-testid=stHeader]").first.is_visible()
