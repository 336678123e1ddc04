"""Pictures of growth and of errors: what is drawn, hollow, dashed, and readable from afar."""

import json
import math
from typing import Any

import numpy as np
import pytest

from core.figures.approximation import error_chart, spectrum_chart
from core.figures.growth_tables import LINE, Crossing, Line
from core.figures.palette import FAMILIES, FONT_SIZE, MASKED
from core.figures.runtime import SHAPES, STANDS_OUT, growth_chart
from core.figures.template import to_svg

LENGTHS = (128, 256, 512)


def line(name: str = "SDPA", flags: str = "", **more: Any) -> Line:
    points = [(n, 1e-3 * n, 0.9e-3 * n, 1.2e-3 * n, flags) for n in LENGTHS]
    base: dict[str, Any] = {"method": name, "grows": "as L^2.00", "family": 0, "shape": 1}
    base["points"] = points
    return Line(**{**base, **more})


def drawn(*lines: Line, **options: Any) -> dict[str, Any]:
    chart = growth_chart(lines, title="Time", what="time", unit=("ms", 1e3), **options)
    return json.loads(json.dumps(chart.to_dict()))


def marks(chart: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in chart["layer"] if layer["mark"]["type"] == kind]


def rows(chart: dict[str, Any], layer: dict[str, Any]) -> list[dict[str, Any]]:
    name = layer["data"]["name"] if "data" in layer else chart["data"]["name"]
    return chart["datasets"][name]


def test_both_axes_are_logarithmic_with_a_tick_at_each_length():
    chart = drawn(line())
    curve, _ = marks(chart, "line")
    x, y = curve["encoding"]["x"], curve["encoding"]["y"]
    assert (x["scale"]["type"], y["scale"]["type"]) == ("log", "log")
    assert x["axis"]["values"] == list(LENGTHS)
    assert (x["title"], y["title"]) == ("tokens L", "time (ms)")
    assert x["axis"]["labelFontSize"] == FONT_SIZE


def test_values_are_in_the_unit_with_their_quartiles_as_a_band():
    chart = drawn(line())
    (band,) = marks(chart, "area")
    first = rows(chart, band)[0]
    assert (first["length"], first["value"]) == (128, pytest.approx(128))
    assert (first["low"], first["high"]) == pytest.approx((0.9 * 128, 1.2 * 128))
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("low", "high")


def test_a_flagged_point_is_hollow_and_says_why():
    chart = drawn(line(flags="wide: half"), line("elu+1", family=1, shape=2))
    (points,) = marks(chart, "point")  # an empty group of marks would have no name
    drawn_as = points["encoding"]
    assert points["mark"]["filled"]
    assert drawn_as["fillOpacity"]["condition"] == {"test": "datum.flagged", "value": 0}
    assert (drawn_as["fillOpacity"]["value"], drawn_as["strokeWidth"]["value"]) == (1, 0)
    assert drawn_as["strokeWidth"]["condition"] == {"test": "datum.flagged", "value": 2}
    assert drawn_as["stroke"] == drawn_as["color"]
    flagged = [row for row in rows(chart, points) if row["flagged"]]
    assert {row["flags"] for row in flagged} == {"wide: half"}
    titles = [entry.get("title") for entry in drawn_as["tooltip"]]
    assert "with care" in titles


def test_identity_is_never_by_colour_alone():
    chart = drawn(line(), line("elu+1", family=1, shape=2))
    (full,) = marks(chart, "point")
    assert full["encoding"]["shape"]["scale"]["range"] == [SHAPES[1], SHAPES[2]]
    colour = full["encoding"]["color"]["condition"]
    assert colour["scale"]["range"] == [FAMILIES[0], FAMILIES[1]]
    assert len(set(SHAPES)) == 10


def test_formulas_another_machine_and_floors_have_dashes_of_their_own():
    pairs = [(n, 1.0) for n in LENGTHS]
    plain = drawn(line())
    chart = drawn(line(predicted=pairs, other=pairs), floors={"moving": pairs})
    dashes = {tuple(layer["mark"].get("strokeDash", ())) for layer in marks(chart, "line")}
    assert dashes == {(), (7, 4), (1, 4), (2, 3)}
    assert len(marks(plain, "line")) == 2  # what is drawn, and the broad one for the pointer
    assert set(plain["datasets"]) == {
        "measured",
        "ends",
    }  # a table that no layer names does not travel
    floor = next(layer for layer in marks(chart, "line") if layer["mark"].get("color") == MASKED)
    assert rows(chart, floor)[0] == {"length": 128, "value": 1000.0, "name": "moving"}


def test_each_name_stands_at_the_end_of_its_line_and_none_on_another():
    lines = [
        line(f"m{i}", points=[(128, 1.0, 1.0, 1.0, ""), (256, 2.0 + i / 100, 2, 2, "")])
        for i in range(5)
    ]
    chart = drawn(*lines, line("far", points=[(128, 1e4, 1e4, 1e4, "")]), height=300)
    lead, name = marks(chart, "rule")[0], marks(chart, "text")[0]
    assert (name["encoding"]["text"]["field"], name["encoding"]["y"]["field"]) == ("method", "at")
    assert (lead["encoding"]["y"]["field"], lead["encoding"]["y2"]["field"]) == ("value", "at")
    ends = {row["method"]: row for row in rows(chart, name)}
    low, high = marks(chart, "line")[0]["encoding"]["y"]["scale"]["domain"]
    per_pixel = math.log(high / low) / 300
    places = [math.log(ends[f"m{i}"]["at"]) / per_pixel for i in range(5)]
    assert np.diff(places) == pytest.approx([LINE] * 4)
    assert low <= min(row["at"] for row in ends.values()) + 1e-6
    assert ends["far"]["at"] == pytest.approx(1e7)
    assert '"legend": {' not in json.dumps(chart)


def test_the_method_under_the_pointer_stands_out_or_else_those_that_were_chosen():
    chart = drawn(line(), line("elu+1", family=1, shape=2), chosen=["elu+1"])
    assert {"name": "chosen", "value": ["elu+1"]} in chart["params"]
    (pointed,) = [param for param in chart["params"] if param["name"] == "pointed"]
    assert (pointed["select"]["on"], pointed["select"]["fields"]) == ("pointerover", ["method"])
    for kind in ("line", "point", "text", "area"):
        colour = marks(chart, kind)[0]["encoding"]["color"]
        assert (colour["condition"]["test"], colour["value"]) == (STANDS_OUT, MASKED)


def test_a_crossing_is_a_line_in_a_stripe_as_wide_as_its_interval():
    found = Crossing(text="elu+1 from 200", family=1, at=200.0, low=180.0, high=230.0)
    chart = drawn(line(), crossings=[found])
    (stripe,), (rule, _) = marks(chart, "rect"), marks(chart, "rule")
    assert rows(chart, stripe)[0] == {
        "length": 200.0,
        "low": 180.0,
        "high": 230.0,
        "text": "elu+1 from 200",
        "colour": FAMILIES[1],
    }
    assert (stripe["encoding"]["x"]["field"], stripe["encoding"]["x2"]["field"]) == ("low", "high")
    assert stripe["mark"]["color"] == rule["mark"]["color"] == {"expr": "datum.colour"}
    assert FAMILIES[1].encode() in to_svg(
        growth_chart([line()], title="", what="time", unit=("ms", 1e3), crossings=[found])
    )


def test_without_any_point_there_is_an_empty_picture():
    assert drawn(line(points=[]))["layer"]
    assert drawn()["layer"]


def test_pictures_become_files():
    chart = growth_chart([line()], title="Time", what="time", unit=("ms", 1e3))
    assert b"SDPA" in to_svg(chart)


def test_errors_are_hollow_where_something_is_below_zero():
    points = [("a", 1, 0.1, 0.05, 0.2, 0.0), ("a", 2, 0.2, 0.1, 0.3, 0.4)]
    points += [("uniform", 1, 1.0, 1.0, 1.0, 0.0), ("b", 1, 0.3, 0.2, 0.4, 0.0)]
    chart = error_chart(
        points,
        {"a": "map", "b": "map", "exact": "exact", "uniform": "reference"},
        x_title="features",
        y_title="error",
        below="negative",
    ).to_dict()
    colours = chart["layer"][0]["encoding"]["color"]["scale"]["range"]
    assert colours == [FAMILIES[1], FAMILIES[1], FAMILIES[0], MASKED]
    line_, hollow, full = chart["layer"][1:]
    dashes = line_["encoding"]["strokeDash"]["scale"]["range"]
    assert dashes[0] != dashes[1]
    assert (hollow["mark"]["filled"], full["mark"]["filled"]) == (False, True)
    assert hollow["transform"] == [{"filter": "datum.below > 0"}]
    assert line_["encoding"]["x"]["axis"]["values"] == [1, 2]
    y = line_["encoding"]["y"]
    assert (y["scale"]["domain"], y["axis"]["values"]) == ([0.1, 1.0], [0.1, 1.0])


def test_a_spectrum_has_a_line_a_head_and_a_rule_at_each_number_of_rows():
    cumulative = np.array([[[0.5, 1.0], [0.9, 1.0]]])
    chart = spectrum_chart(cumulative, [1, 2], title="Spectrum").to_dict()
    lines, rules, texts = chart["layer"]
    shares = rows(chart, lines)
    assert {row["head"] for row in shares} == {"L0·H0", "L0·H1"}
    assert [row["share"] for row in shares if row["head"] == "L0·H1"] == [0, 0.9, 1]
    assert [row["name"] for row in rows(chart, rules)] == ["k = 1", "k = 2"]
    assert texts["mark"]["fontSize"] == FONT_SIZE
