"""A chart as an SVG file, with the tokens in it as text."""

import xml.etree.ElementTree as ET
from collections.abc import Callable

import altair as alt
import numpy as np
import pandas as pd
import pytest

from core.figures import attention as figures
from core.figures import attention_row as row_figures
from core.figures.attention import Matrix
from core.figures.score_parts import score_parts
from core.figures.template import Figure, to_svg

Causal = Callable[[int], Matrix]


def texts(svg: bytes) -> list[str]:
    """What stands in the text elements; SVG that is not well-formed XML fails here."""
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [
        "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
    ]


def test_a_saved_map_holds_every_token_and_escapes_html(causal: Causal, labels: list[str]):
    weights = causal(len(labels))
    svg = to_svg(figures.attention_map(weights, weights, labels, 3, title="<i>L0·H0</i>"))
    assert b"<b>" not in svg
    assert b"&lt;b&gt;&amp;$x$&lt;/b&gt;" in svg
    drawn = texts(svg)
    for label in labels:
        assert drawn.count(label) >= 2 * labels.count(label)  # once on each axis
    assert {"key (looked at)", "query (looks)", "<i>L0·H0</i>"} <= set(drawn)
    assert b'fill="white"' in svg


@pytest.mark.parametrize("kind", ["bars", "parts", "arcs"])
def test_every_other_picture_can_be_saved_too(causal: Causal, labels: list[str], kind: str):
    weights = causal(len(labels))
    chart: Figure = {
        "bars": lambda: row_figures.row_bars(weights[4], weights[4], labels, 4),
        "parts": lambda: score_parts(weights[4, :3], weights[:, :3], labels, 4),
        "arcs": lambda: row_figures.arcs(weights, labels, 4),
    }[kind]()
    assert {"A", "n", "a"} <= set(texts(to_svg(chart)))


def test_a_map_of_more_than_five_thousand_cells_can_be_saved():
    weights = np.eye(100, dtype=np.float32)  # 5,050 cells; Altair's own limit is 5,000
    chart = figures.attention_map(weights, weights, [f"t{i}" for i in range(100)], 0)
    assert "t0" in texts(to_svg(chart))


def test_saving_leaves_the_chart_and_altairs_settings_alone(causal: Causal, labels: list[str]):
    weights = causal(len(labels))
    chart = figures.attention_map(weights, weights, labels, 3)
    before, transformer = chart.to_dict(), alt.data_transformers.active
    to_svg(chart)
    assert chart.to_dict() == before
    assert alt.data_transformers.active == transformer
    assert all(isinstance(table, pd.DataFrame) for table in chart.tables.values())


def test_a_transformer_that_another_thread_put_in_place_is_not_used(
    causal: Causal, labels: list[str]
):
    weights = causal(len(labels))
    chart = figures.attention_map(weights, weights, labels, 3)
    alt.data_transformers.register("elsewhere", lambda data: {"name": "elsewhere"})
    with alt.data_transformers.enable("elsewhere"):
        svg = to_svg(chart)
    assert svg == to_svg(chart)
