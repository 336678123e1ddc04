"""Two runs side by side: same rows in every map, grey where masked, marks on the curve."""

from typing import Any

import numpy as np
import pytest

from core.figures import compare as figures
from core.figures.palette import KEY, MASKED
from core.figures.template import to_svg

LABELS = ["n", "n", "⁇"]
VISIBLE = np.tri(3, dtype=bool)
VALUES = np.array([[1.0, 0, 0], [0.25, 0.75, 0], [0.1, 0.2, 0.7]])


def side(**changes: Any) -> dict[str, Any]:
    options: dict[str, Any] = {"quantity": "weight", "top": 1.0, "title": "A", **changes}
    return figures.side_map(VALUES, LABELS, VISIBLE, **options).to_dict()


def change(values: np.ndarray = VALUES, reach: float = 1.0) -> dict[str, Any]:
    return figures.difference_map(
        values, LABELS, VISIBLE, quantity="weight", reach=reach, title="B less A"
    ).to_dict()


def rows_of(spec: dict[str, Any], column: str) -> list[dict[str, Any]]:
    (rows,) = [t for t in spec["datasets"].values() if t and column in t[0]]
    return rows


def encodings(spec: dict[str, Any], channel: str) -> list[dict[str, Any]]:
    return [layer["encoding"][channel] for layer in spec["layer"] if channel in layer["encoding"]]


def test_a_map_has_every_visible_cell_and_names_its_tokens():
    rows = rows_of(side(), "value")
    assert [(r["q"], r["k"], r["value"]) for r in rows] == [
        (i, j, VALUES[i, j]) for i in range(3) for j in range(i + 1)
    ]
    assert (rows[1]["query"], rows[1]["key"]) == ("n", "n")


def test_masked_cells_are_grey_and_not_zero():
    grey, _ = side()["layer"]
    assert grey["mark"]["color"] == MASKED
    cells = [t for t in side()["datasets"].values() if "value" not in t[0]]
    assert [(c["q"], c["k"]) for c in cells[0]] == [(0, 1), (0, 2), (1, 2)]


def test_all_three_maps_have_the_same_rows_columns_and_height():
    one, other = side(), change()
    assert one["height"] == other["height"]
    for channel in "xy":
        (domain,) = {str(e["scale"]["domain"]) for e in encodings(one, channel)}
        assert domain == str(encodings(other, channel)[0]["scale"]["domain"]) == "[0, 1, 2]"
    assert encodings(one, "x")[0]["title"] == "key (looked at)"
    assert encodings(one, "y")[0]["title"] == "query (looks)"
    assert encodings(one, "x")[0]["axis"]["labelExpr"] == '["n", "n", "⁇"][datum.value]'


def test_the_scale_of_a_side_starts_at_0_and_ends_where_it_is_told():
    (opacity,) = encodings(side(top=0.5), "opacity")
    assert opacity["scale"] == {"domain": [0, 0.5], "range": [0, 1], "clamp": True}


def test_the_difference_is_on_a_diverging_scale_around_0():
    (colour,) = encodings(change(reach=0.4), "color")
    assert colour["scale"]["domain"] == [-0.4, 0.4]
    assert colour["scale"]["domainMid"] == 0
    assert colour["legend"]["values"] == [-0.4, 0, 0.4]


def test_long_maps_do_not_grow_without_end():
    n = 60
    spec = figures.side_map(
        np.eye(n), ["x"] * n, np.tri(n, dtype=bool), quantity="weight", top=1.0, title=""
    ).to_dict()
    assert spec["height"] == figures.MOST
    rows = encodings(spec, "y")[0]
    assert (rows["axis"]["labelOverlap"], rows["axis"]["labelFontSize"]) == (False, 8)
    assert rows["title"] == "query (looks) · every 2nd is named"


def test_the_grid_of_all_heads_can_be_clicked_and_frames_the_chosen_one():
    apart = np.array([[0.1, 0.9], [0.2, 0.0]])
    spec = figures.distance_grid(apart, (0, 1), title="T").to_dict()
    rows = rows_of(spec, "distance")
    assert [(r["name"], r["distance"]) for r in rows] == [
        *(("L0·H0", 0.1), ("L0·H1", 0.9), ("L1·H0", 0.2), ("L1·H1", 0.0)),
    ]
    assert [r["name"] for r in rows if r["chosen"]] == ["L0·H1"]
    (parameter,) = spec["params"]
    assert parameter["name"] == figures.HEAD_SELECTION
    assert KEY in str(encodings(spec, "stroke")[0])
    nobody = figures.distance_grid(apart, None, title="T").to_dict()
    assert not any(r["chosen"] for r in rows_of(nobody, "distance"))


@pytest.mark.parametrize(("largest", "top"), [(0.07, 0.07), (0.0, 1.0)])
def test_the_head_that_differs_most_is_fully_coloured(largest: float, top: float):
    spec = figures.distance_grid(np.array([[0.0, largest]]), None, title="T").to_dict()
    assert encodings(spec, "opacity")[0]["scale"]["domain"] == [0, top]


@pytest.mark.parametrize("values", [VALUES, -VALUES, np.zeros((3, 3))])
def test_every_picture_can_be_saved(values: np.ndarray):
    chart = figures.difference_map(
        values, LABELS, VISIBLE, quantity="contribution", reach=1.0, title="T"
    )
    assert to_svg(chart).startswith(b"<svg")
