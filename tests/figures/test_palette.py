"""Colours can be told apart from both backgrounds and from each other."""

import tomllib
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from core.figures import palette

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
COLOURS = {name: getattr(palette, name) for name in ("QUERY", "KEY", "VALUE", "WEIGHT", "MASKED")}
SETS = {
    "RUNS": palette.RUNS,
    "FAMILIES": palette.FAMILIES,
    "TOKENS": palette.TOKENS,
    "WRONG": palette.WRONG,
    "WRITES": (palette.FADES, palette.TAKES_AWAY),
}
ALL = COLOURS | {
    f"{name}[{index}]": colour for name, set_ in SETS.items() for index, colour in enumerate(set_)
}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.1)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> dict[str, Any]:
    return tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][request.param]


@pytest.mark.parametrize("name", ALL)
def test_each_colour_stands_out_against_each_background(name: str, theme: dict[str, Any]):
    assert contrast(ALL[name], theme["backgroundColor"]) >= 3


def test_streamlits_own_charts_have_the_same_colours(theme: dict[str, Any]):
    assert set(theme["chartCategoricalColors"]) == set(COLOURS.values())


def test_the_contrast_of_black_and_white_is_21():
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21)


def test_no_two_meanings_share_a_colour():
    for one, other in combinations(ALL.values(), 2):
        assert sum(abs(int(one[i : i + 2], 16) - int(other[i : i + 2], 16)) for i in (1, 3, 5)) > 90
    assert palette.FONT_SIZE >= 14
