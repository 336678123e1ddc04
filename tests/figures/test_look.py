"""Charts of networks that look at pictures: every number is drawn, nothing hangs on a colour."""

from typing import Any

import pytest

from core.figures.look import HALF, Answer, Curve, Picture, answer_bars, curves
from core.figures.named_rows import BOTTOM, TOP, Named
from core.figures.palette import VALUE
from core.figures.template import to_svg

HOSTILE = "<b>x</b> $y$ `z` \"'\\"
CLASSES = ["0", "1", HOSTILE]
ANSWERS = [
    Answer(Named("max-pooling", "says 1: 70 %", "1"), (0.1, 0.7, 0.2)),
    Answer(Named(HOSTILE, "says 0: 100 %", "0"), (1.0, 0.0, 0.0)),
]
LINES = [
    Curve(HOSTILE, [(0, 0.98, 0.97, 0.99), (1, 0.9, 0.8, 1.0)]),
    Curve("strides", [(0, 0.5, 0.4, 0.6)]),
]


def bars(right: int | None = None) -> dict[str, Any]:
    return answer_bars(CLASSES, ANSWERS, right).to_dict()


def lines(**more: Any) -> dict[str, Any]:
    return curves(LINES, axis="shift", upwards="right answers", **more).to_dict()


def test_a_bar_of_a_row_is_as_high_as_its_class_is_likely():
    rows = bars()["datasets"]["bars"]
    assert len(rows) == 6
    for row, (index, at) in zip(rows, [(i, c) for i in range(2) for c in range(3)], strict=True):
        assert (row["low"], row["high"]) == (at - HALF, at + HALF)
        assert row["class"] == CLASSES[at]
        height = (row["y"] - row["top"]) / (BOTTOM - TOP)
        assert height == pytest.approx(ANSWERS[index].probabilities[at])
        assert row["y"] == index + BOTTOM


def test_the_right_class_alone_is_green_and_none_where_it_is_not_known():
    assert [row["class"] for row in bars(1)["datasets"]["bars"] if row["right"]] == ["1", "1"]
    assert not any(row["right"] for row in bars()["datasets"]["bars"])
    (colour,) = [
        layer["encoding"]["color"] for layer in bars()["layer"] if "color" in layer["encoding"]
    ]
    assert colour["condition"] == {"test": "datum.right", "value": VALUE}


def test_a_picture_stands_in_a_row_above_the_others():
    picture = Picture("No. 7", "data:image/png;base64,AA==")
    spec = answer_bars(CLASSES, ANSWERS, None, picture).to_dict()
    (row,) = spec["datasets"]["pictures"]
    assert (row["x"], row["y"], row["image"]) == (1.0, 0.5, picture.image)
    assert [bar["y"] for bar in spec["datasets"]["bars"]] == [1 + BOTTOM] * 3 + [2 + BOTTOM] * 3
    assert "pictures" not in bars()["datasets"]
    assert to_svg(answer_bars(CLASSES, ANSWERS, None, picture)).count(b"<image") == 1


def test_every_class_has_its_name_and_every_network_its_row():
    spec = bars()
    axis = spec["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == [0, 1, 2]
    assert axis["tickCount"] >= 3  # else Vega names every second
    named = [layer["encoding"]["y"]["axis"] for layer in spec["layer"]]
    said = " ".join(axis["labelExpr"] for axis in named if axis)
    assert "max-pooling" in said
    assert "says 1: 70 %" in said


def test_every_point_of_a_curve_has_its_interval_as_a_band():
    spec = lines(ends=(0, 1))
    assert [tuple(row.values()) for row in spec["datasets"]["points"]] == [
        (HOSTILE, 0, 0.98, 0.97, 0.99),
        (HOSTILE, 1, 0.9, 0.8, 1.0),
        ("strides", 0, 0.5, 0.4, 0.6),
    ]
    (band,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "area"]
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("low", "high")
    assert all(layer["encoding"]["y"]["scale"]["domain"] == [0, 1] for layer in spec["layer"])


def test_networks_are_told_apart_by_colour_dashes_and_shapes():
    spec = lines()
    for channel in ("color", "strokeDash", "shape"):
        ranges = [
            layer["encoding"][channel]["scale"]["range"]
            for layer in spec["layer"]
            if channel in layer["encoding"]
        ]
        assert ranges
        for found in ranges:
            assert len(found) == 2
            assert found[0] != found[1]


def test_losses_are_no_shares_and_ticks_stand_where_they_are_told():
    spec = lines(in_percent=False, places=(0, 1))
    encoding = spec["layer"][1]["encoding"]
    assert "%" not in encoding["y"]["axis"]["format"]
    assert encoding["x"]["axis"]["values"] == [0, 1]
    assert "%" in lines()["layer"][1]["encoding"]["y"]["axis"]["format"]


def test_both_are_drawn_without_a_browser():
    for figure in (answer_bars(CLASSES, ANSWERS, 1), curves(LINES, axis="shift", upwards="right")):
        assert to_svg(figure).startswith(b"<svg")
