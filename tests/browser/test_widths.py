"""Long names, and pictures that share a line, in windows of many widths."""

import re
from collections.abc import Callable

import pytest

from tests.browser.fitting import WIDTHS, check_all_widths

LONG_NAME = {
    "source": "type freely",
    "question": "Where was Wolfgang Theophilus Amadeus Gottlieb Mozart-Schwarzenegger born?",
}


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
