"""A kept page opened from disk: it answers to the pointer, asks for nothing, fits on paper."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.figures.cloud import Cloud, cloud
from core.figures.large_map import large_map
from core.offline.fitting import file_of
from core.offline.parts import Document, Group, Picture, Text
from core.offline.plotted import plotly_picture

PAPER = 688  # pixels: A4 within its margins


def widths(page: Any) -> list[float]:
    """How wide every picture is drawn."""
    return page.eval_on_selector_all(
        "figure svg, figure img", "found => found.map(one => one.getBoundingClientRect().width)"
    )


def test_a_page_is_kept_and_opened_from_disk(
    open_page: Callable[..., Any], open_file: Callable[[Path], Any], tmp_path: Path
):
    app = open_page("/attention")
    app.get_by_role("button", name="Keep this page").click()
    with app.expect_download() as download:
        app.get_by_role("button", name="Take the file").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert app.problems == []

    page = open_file(path)
    said = page.locator("#tip")
    assert not said.is_visible()
    cell = page.locator("[data-t*='weight: 0.']").nth(5)
    cell.hover()
    assert re.search(r"query: .*\nkey: .*\n(.*\n)*weight: 0\.\d+", said.inner_text())
    page.mouse.move(1, 1)
    said.wait_for(state="hidden")

    page.locator("svg[tabindex]").nth(1).focus()
    page.keyboard.press("ArrowRight")
    first = said.inner_text()
    page.keyboard.press("ArrowRight")
    assert said.inner_text() != first
    page.keyboard.press("Escape")
    said.wait_for(state="hidden")
    assert page.problems == []


def test_large_maps_and_clouds_answer_and_print_whole(
    open_file: Callable[[Path], Any], tmp_path: Path
):
    n = 100
    weights = np.tril(np.full((n, n), 0.125, dtype=np.float32))
    names = [f"<{i}>" for i in range(n)]
    seen = np.tril(np.ones((n, n), dtype=bool))
    points = [Cloud("keys", np.eye(3), range(3), ["a", "b", "c"], ["first"] * 3)]
    figures = {
        "map": large_map(weights, names, 3, visible=seen, top=0.5),
        "points": cloud(points, [0.5, 0.3, 0.2], ["first"]),
    }
    pictures = tuple(
        Picture(svg=plotly_picture(plot.to_dict(), alt=name, width=920), alt=name)
        for name, plot in figures.items()
    )
    folded = Group(title="Answer", parts=(Text(markdown="folded"), *pictures), kind="folded")
    path = tmp_path / "figures.html"
    path.write_bytes(file_of(Document(title="Figures", origin=(), parts=(folded,))))

    page = open_file(path)
    page.get_by_text("Answer").click()
    box = page.locator(".cells").bounding_box()
    expectations = (
        (0.155, 0.905, "90 <90> → 15 <15>\nweight 0.1250"),
        (0.905, 0.155, "15 <15> → 90 <90>\nmasked"),
    )
    for across, down, expected in expectations:
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
        assert page.locator("#tip").inner_text() == expected
    page.get_by_role("img", name="points").locator("[data-t]").first.hover()
    assert page.locator("#tip").inner_text().endswith("\nfirst")

    page.get_by_text("Answer").click()
    assert not page.locator("details").evaluate("folded => folded.open")
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    assert page.locator("details").evaluate("folded => folded.open")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    assert all(0 < width <= PAPER for width in widths(page))
    assert page.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_scrolls_in_pictures_and_not_as_a_whole(
    open_file: Callable[[Path], Any], tmp_path: Path, scheme: str
):
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="90" role="img"></svg>'
    parts = (Picture(svg=svg, alt="wide"), Text(markdown="word" * 200))
    path = tmp_path / "narrow.html"
    path.write_bytes(file_of(Document(title="Narrow", origin=(), parts=parts)))

    page = open_file(path)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 320, "height": 700})

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert widths(page) == [900]
    assert page.problems == []
