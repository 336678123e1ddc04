"""Plotly's maps and clouds as SVG."""

import base64
import io
import json
import re
import xml.etree.ElementTree as ET
from html import unescape
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core.figures.cloud import Cloud, cloud
from core.figures.large_map import large_map, large_side
from core.offline.cubes import projected
from core.offline.plotted import plotly_picture

N = 70
KINDS = ["special", "first", "digit"]


def causal(n: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = np.tril(np.random.default_rng(0).random((n, n))).astype(np.float32)
    return drawn / drawn.sum(-1, keepdims=True), np.tril(np.ones((n, n), dtype=bool))


def cells(svg: str) -> dict[str, str]:
    """The attributes of a map's picture."""
    found = next(e for e in ET.fromstring(svg).iter() if e.attrib.get("class") == "cells")
    return dict(found.attrib)


def dots(found: dict[str, str]) -> np.ndarray:
    data = found["href"].removeprefix("data:image/png;base64,")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


@pytest.fixture
def map_svg() -> str:
    weights, seen = causal(N)
    names = [f"<{i}>" for i in range(N)]
    plot = large_map(weights, names, 3, visible=seen, top=0.5)
    return plotly_picture(plot.to_dict(), alt="A map", width=700)


def test_a_map_carries_every_number_and_name_for_the_pointer(map_svg: str):
    found = cells(map_svg)

    numbers = np.frombuffer(base64.b64decode(found["data-z"]), np.float32).reshape(N, N)
    weights, seen = causal(N)
    np.testing.assert_array_equal(numbers[seen], weights[seen])
    assert np.isnan(numbers[~seen]).all()
    assert json.loads(found["data-rows"])[3] == "3 <3>"
    assert json.loads(found["data-said"]) == ["weight ", "4", ""]


def test_a_map_is_a_dot_a_cell_that_is_the_darker_the_larger_its_weight(map_svg: str):
    drawn = dots(cells(map_svg))

    weights, seen = causal(N)
    assert drawn.shape == (N, N, 4)
    assert not drawn[..., 3][~seen].any()
    order = np.argsort(weights[seen])
    assert (np.diff(drawn[..., 3][seen][order].astype(int)) >= 0).all()


def test_masked_cells_and_the_chosen_row_are_drawn_where_they_are(map_svg: str):
    root = ET.fromstring(map_svg)

    frame = next(e for e in root.iter() if e.tag.endswith("rect"))
    assert [float(frame.attrib[name]) for name in ("x", "y", "width", "height")] == [
        -0.5,
        2.5,
        4,
        1,
    ]
    assert any(e.attrib.get("d", "").startswith("M0.5,-0.5") for e in root.iter())


def test_not_more_names_than_have_room(map_svg: str):
    texts = [e.text or "" for e in ET.fromstring(map_svg).iter() if e.tag.endswith("text")]

    assert "0 <0>" in texts
    assert "1 <1>" not in texts
    assert {"query (looks)", "key (looked at)"} <= set(texts)


def test_a_difference_is_blue_below_and_orange_above_nothing():
    values = np.array([[0.2, 0], [-0.2, 0]], dtype=np.float32)
    plot = large_side(
        values, ["a", "b"], np.ones((2, 2), bool), quantity="difference", top=0.2, signed=True
    )

    drawn = dots(cells(plotly_picture(plot.to_dict(), alt="a", width=400))).astype(int)

    assert drawn[0, 0, 0] > drawn[0, 0, 2]
    assert drawn[1, 0, 0] < drawn[1, 0, 2]


def test_many_cells_travel_as_bytes_and_say_what_they_are_of():
    weights, seen = causal(300)
    plot = large_map(weights, [str(i) for i in range(300)], 3, visible=seen, top=0.5)

    found = cells(plotly_picture(plot.to_dict(), alt="a", width=700))

    assert found["data-kind"] == "u1"
    assert json.loads(found["data-said"])[2].startswith(" % of 0.5")


def cloud_svg() -> str:
    points = np.array([[0, 0, 0], [1, 1, 1], [2, 0, 1.0]])
    sets = [Cloud(name, points, range(3), ["a", "<b>", "c"], KINDS) for name in ("queries", "keys")]
    plot = cloud(sets, [0.5, 0.25, 0.125], KINDS, chosen=1)
    return plotly_picture(plot.to_dict(), alt="Points", width=900)


def test_every_point_of_a_cloud_says_its_token_and_kind():
    svg = cloud_svg()

    said = [unescape(text) for text in re.findall(r'data-t="([^"]*)"', svg)]
    assert sorted(said) == sorted(2 * ["0 a\u2063special", "1 <b>\u2063first", "2 c\u2063digit"])
    texts = [e.text for e in ET.fromstring(svg).iter() if e.tag.endswith("text")]
    assert {"queries", "keys", "1: 50%", *KINDS} <= set(texts)


def test_what_is_nearer_is_larger_and_up_is_up():
    eye = np.array([2.0, 0.0, 0.0])

    near, far, high = projected(np.array([[0.5, 0.5, 0], [-0.5, 0.5, 0], [0, 0, 0.5]]), eye)

    assert abs(near[0]) > abs(far[0])
    assert near[2] < far[2]
    assert high[1] < 0
    assert high[0] == pytest.approx(0)


def test_a_figure_of_another_kind_is_refused():
    figure: dict[str, Any] = {"data": [{"type": "pie"}], "layout": {}}
    with pytest.raises(ValueError, match="no picture is made of pie: heatmap or scatter3d"):
        plotly_picture(figure, alt="a", width=300)
