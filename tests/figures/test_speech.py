"""Measures of recognisers: each series has its shape and its line; none hangs on a colour."""

import re

import pytest

from core.figures.palette import MASKED, VALUE
from core.figures.speech import measure_dots

SERIES = [
    ("speech-attention", True, [0.98, 0.95]),
    ("speech-lstm", True, [0.9, 0.7]),
    ("letters in random order", False, [1.0, -0.13]),
]


@pytest.fixture
def spec():
    return measure_dots(["Jaccard", "1 − error"], SERIES, axis="mean similarity").to_dict()


def test_every_series_has_a_mark_in_every_row(spec):
    dots = spec["datasets"]["dots"]
    assert [(row["name"], row["row"], row["value"]) for row in dots] == [
        (name, measure, value)
        for name, _, values in SERIES
        for measure, value in zip(("Jaccard", "1 − error"), values, strict=True)
    ]
    assert len({row["y"] for row in dots}) == len(dots)
    for row in dots:
        assert int(row["y"]) == ("Jaccard", "1 − error").index(row["row"])


def test_series_are_told_apart_by_shape_and_recognisers_are_green(spec):
    (shape,) = [
        layer["encoding"]["shape"] for layer in spec["layer"] if "shape" in layer["encoding"]
    ]
    assert shape["scale"]["domain"] == [name for name, *_ in SERIES]
    assert len({*shape["scale"]["range"]}) == len(SERIES)
    (stroke,) = [
        layer["encoding"]["stroke"] for layer in spec["layer"] if "stroke" in layer["encoding"]
    ]
    assert stroke["scale"]["range"] == [VALUE, VALUE, MASKED]


def test_the_scale_reaches_below_zero_only_where_a_value_does(spec):
    (ends,) = {
        tuple(layer["encoding"]["x"]["scale"]["domain"])
        for layer in spec["layer"]
        if "scale" in layer["encoding"].get("x", {})
    }
    assert ends == (-0.2, 1.0)
    plain = measure_dots(["Jaccard"], [("a", True, [0.5])], axis="x").to_dict()
    assert plain["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.0, 1.0]


def test_rows_carry_their_names(spec):
    axis = next(
        layer["encoding"]["y"]["axis"]
        for layer in spec["layer"]
        if (layer["encoding"]["y"].get("axis") or {}).get("orient") == "left"
    )
    assert re.match(r'\["Jaccard", "1 − error"\]', axis["labelExpr"])
