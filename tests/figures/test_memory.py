"""Pictures of memories: bands, dashes, names that do not overlap; states on one scale around 0."""

import json
from typing import Any

import numpy as np
import pytest

from core.figures.memory import LINE, THEORY, Line, Point, bytes_chart, recall_chart
from core.figures.palette import FONT_SIZE
from core.figures.state_maps import FIRST, NOW, SECOND, Read, read_bars, state_map
from core.figures.template import Figure, to_svg

PAIRS = (8, 64, 512)


def line(name: str, shares: tuple[float, ...], theory: bool = False) -> Line:
    points = [
        Point(n, y, y - 0.02, y + 0.02, f"{y:.0%}") for n, y in zip(PAIRS, shares, strict=True)
    ]
    return Line(
        name, "#123456", "square", points, list(zip(PAIRS, shares, strict=True)) if theory else ()
    )


def drawn(figure: Figure) -> dict[str, Any]:
    return json.loads(json.dumps(figure.to_dict(), allow_nan=False))


def layers(chart: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in chart["layer"] if layer["mark"]["type"] == kind]


def rows(chart: dict[str, Any], layer: dict[str, Any]) -> list[dict[str, Any]]:
    return chart["datasets"][layer["data"]["name"]]


def test_shares_have_bands_and_their_theory_is_dashed():
    chart = drawn(
        recall_chart(
            [line("sum", (1, 0.9, 0.3), theory=True), line("window", (1, 0.5, 0.1))],
            title="Recalled",
        )
    )
    (band,) = layers(chart, "area")
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("low", "high")
    full, dashed = layers(chart, "line")
    assert dashed["mark"]["strokeDash"] == THEORY
    assert {row["name"] for row in rows(chart, dashed)} == {"sum"}
    x, y = full["encoding"]["x"], full["encoding"]["y"]
    assert (x["scale"]["type"], x["axis"]["values"]) == ("log", list(PAIRS))
    assert (x["title"], y["title"], y["scale"]["domain"]) == ("pairs stored", "recalled", [0, 1])
    assert x["axis"]["labelFontSize"] >= FONT_SIZE


def test_names_at_the_ends_keep_their_distance():
    height = 340
    chart = drawn(
        recall_chart([line(name, (1, 1, 0.999)) for name in "abc"], title="", height=height)
    )
    (text,) = layers(chart, "text")
    places = sorted(row["beside"] for row in rows(chart, text))
    assert min(np.diff(places)) == pytest.approx(LINE / height)
    assert max(places) <= 1


def test_bytes_have_two_logarithmic_axes_and_a_rule_where_they_are_read():
    chart = bytes_chart([line("cache", (1e3, 1e5, 1e9))], at=64, title="Bytes")
    spec = drawn(chart)
    (curve,) = [one for one in layers(spec, "line") if one["data"]["name"] == "points"]
    assert curve["encoding"]["y"]["scale"]["type"] == "log"
    rule = next(one for one in layers(spec, "rule") if one["data"]["name"] == "here")
    assert rows(spec, rule) == [{"at": 64}]
    svg = to_svg(chart).decode()
    assert "1MB" in svg
    assert "cache" in svg
    without = drawn(bytes_chart([line("cache", (1e3, 1e5, 1e9))], title="Bytes"))
    assert "here" not in without["datasets"]


def test_of_many_lengths_every_third_is_named():
    points = [Point(2**n, 2.0**n, 2.0**n, 2.0**n, "") for n in range(7, 21)]
    spec = drawn(bytes_chart([Line("cache", "#123456", "square", points)], title=""))
    (curve,) = [one for one in layers(spec, "line") if one["data"]["name"] == "points"]
    assert curve["encoding"]["x"]["axis"]["values"] == [2**n for n in (7, 10, 13, 16, 19)]
    assert len(rows(spec, curve)) == 14


def test_nothing_to_draw_is_drawn_all_the_same():
    assert drawn(bytes_chart([], title=""))["datasets"]["points"] == []


def test_a_state_is_on_a_scale_that_has_zero_in_its_middle():
    values = np.arange(16, dtype=np.float32).reshape(4, 4) - 8
    chart = drawn(state_map(values, 8.0, title="after"))
    assert chart["encoding"]["color"]["scale"]["domain"] == [-8, 8]
    assert chart["encoding"]["color"]["scale"]["domainMid"] == 0
    (cells,) = chart["datasets"].values()
    assert len(cells) == 16
    assert next(c["value"] for c in cells if (c["row"], c["column"]) == (1, 2)) == -2


def test_keys_are_told_apart_by_what_they_were_given():
    reads = [Read("1", 1.0, NOW), Read("2", 0.7, SECOND), Read("10", -0.1, FIRST)]
    chart = drawn(read_bars(reads, title=""))
    assert chart["encoding"]["x"]["sort"] == ["1", "2", "10"]
    assert [row["kind"] for row in chart["datasets"]["reads"]] == [NOW, SECOND, FIRST]
    assert len(set(chart["encoding"]["color"]["scale"]["range"])) == 3
