"""What fits its window: nothing sticks out, and no chart is cut."""

from typing import Any

import pytest

# Between two of these no rule changes, and what fits the narrower fits the wider. Up to 640 pixels,
# a window of 1280 at a zoom of 200 %, what shares a line elsewhere stands below one another; up to
# 768 the side bar lies over the page. Pictures that wrap by their own width do so near 1024.
WIDTHS = (320, 640, 641, 768, 769, 1024, 1280, 2560)
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
    const past = box.width && (box.right > wide + 1 || box.left < -1) && e.checkVisibility();
    return past && !boxed(e);  // what is folded away keeps the width that it had when it was seen
  });
  return out.map(e => `${e.tagName} ${e.dataset.testid || ""} ${e.getBoundingClientRect().right}`);
}"""
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
