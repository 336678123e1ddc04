"""Pictures of knowledge: every row is named in words, and nothing hangs on a colour."""

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from core.figures import knowledge as figures
from core.figures import knowledge_measures as measures
from core.figures.knowledge import LETTERS, Outcomes, Sureness
from core.figures.knowledge_measures import MADE_UP, RIGHT, SHAPES, Calibrated, Dot
from core.figures.named_rows import BOTTOM, TOP, Named

FEW = Named('read, "never" asked', "90 % right · n 300", "n 300")
MANY = Named("invented", "n 200", "n 200")
WORDS = ["right", "nearest", "most frequent", "known", "made up"]


def rows_of(spec: dict[str, Any], table: str) -> list[dict[str, Any]]:
    return spec["datasets"][table]


def axes(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The axes of rows by their side."""
    found = [layer["encoding"]["y"].get("axis") for layer in spec["layer"]]
    return {axis["orient"]: axis for axis in found if axis}


def texts(expression: str) -> list[list[str]]:
    """The lists of texts in an expression of Vega."""
    return [json.loads(found) for found in re.findall(r'\[".*?\](?=\[floor)', expression)]


@pytest.fixture
def sureness() -> dict[str, Any]:
    rows = [
        Sureness(FEW, [0.0] * 9 + [1.0], 0.97),
        Sureness(MANY, [0.25, 0.25, 0.5] + [0.0] * 7, 0.2, beside=True),
    ]
    return figures.sureness_rows(rows).to_dict()


def test_every_row_has_its_name_at_the_left_and_its_numbers_at_the_right(sureness: dict[str, Any]):
    both = axes(sureness)
    assert texts(both["left"]["labelExpr"]) == [[FEW.name, MANY.name]]
    assert texts(both["right"]["labelExpr"]) == [[FEW.short, MANY.short], [FEW.note, MANY.note]]
    assert both["left"]["labelFontSize"] >= 14


def test_bars_stand_in_their_row_and_a_group_that_is_sure_has_them_at_the_right(
    sureness: dict[str, Any],
):
    bars = rows_of(sureness, "bars")
    assert [(bar["low"], bar["share"]) for bar in bars if bar["group"] == FEW.name] == [(0.9, 1.0)]
    for bar in bars:
        row = [FEW.name, MANY.name].index(bar["group"])
        assert row + TOP - 1e-9 <= bar["top"] < bar["y"] == row + BOTTOM
    # A quarter of the answers is half as high as all of them.
    whole, quarter = (bar["y"] - bar["top"] for bar in bars[:2])
    assert quarter == pytest.approx(whole / 2)


def test_a_second_models_bars_are_hollow_and_those_over_90_percent_stand_out(
    sureness: dict[str, Any],
):
    filled = {bar["group"]: bar["filled"] for bar in rows_of(sureness, "bars")}
    assert filled == {FEW.name: 0.9, MANY.name: 0.0}
    assert [m["median"] for m in rows_of(sureness, "medians")] == [0.97, 0.2]


def test_no_answer_makes_no_bar():
    spec = figures.sureness_rows([Sureness(FEW, [0.0] * 10, 0.0)]).to_dict()
    assert rows_of(spec, "bars") == []


def test_parts_of_a_bar_touch_and_come_to_1_and_each_has_its_letter():
    shares = [0.5, 0.25, 0.125, 0.0, 0.125]
    spec = figures.outcome_rows([Outcomes(FEW, shares, WORDS)]).to_dict()
    parts = rows_of(spec, "parts")
    assert [part["share"] for part in parts] == [share for share in shares if share]
    assert all(one["high"] == other["low"] for one, other in pairwise(parts))
    assert (parts[0]["low"], parts[-1]["high"]) == (0, 1)
    assert [part["text"] for part in parts] == ["R 50", "N 25", "F 12", "M 12"]
    assert len(set(LETTERS.values())) == len(WORDS)
    assert [part["kind"] for part in parts] == [*WORDS[:3], WORDS[4]]


def test_a_bar_without_all_kinds_is_refused():
    with pytest.raises(ValueError, match="shorter than"):
        figures.outcome_rows([Outcomes(FEW, [0.5, 0.5], WORDS)])


@pytest.mark.parametrize("line", [0.5, None])
def test_two_measures_of_a_row_lie_apart_each_with_its_shape(line: float | None):
    dots = [Dot(0, RIGHT, 0.9, 0.8, 0.95), Dot(0, MADE_UP, 0.1, 0.05, 0.2)]
    figure = measures.interval_rows([FEW], dots, axis="share", line=line)
    spec = figure.to_dict()
    one, other = rows_of(spec, "dots")
    assert TOP < one["y"] < other["y"] < BOTTOM
    shape = spec["layer"][-1]["encoding"]["shape"]
    assert shape["scale"]["domain"] == [RIGHT, MADE_UP]
    assert len(set(shape["scale"]["range"])) == 2
    assert shape["legend"]["labelFontSize"] >= 14
    assert ("lines" in spec["datasets"]) is (line is not None)


def test_one_measure_needs_no_legend():
    spec = measures.interval_rows([FEW], [Dot(0, RIGHT, 0.5, 0.4, 0.6)], axis="share").to_dict()
    assert spec["layer"][-1]["encoding"]["shape"]["legend"] is None


def test_every_group_of_the_calibration_has_a_shape_of_its_own():
    bins = [Calibrated("90 to 100 % likely", 0.95, 0.9, 0.8, 0.95, 30)]
    groups = [Calibrated(f"group {n}", 0.5, 0.5, 0.4, 0.6, 300) for n in range(5)]
    spec = measures.calibration(bins, groups).to_dict()
    (shape,) = [
        layer["encoding"].get("shape") for layer in spec["layer"] if "shape" in layer["encoding"]
    ]
    assert shape["scale"]["domain"] == [group.name for group in groups]
    assert shape["scale"]["range"] == list(SHAPES[:5])
    assert len(set(SHAPES)) == len(SHAPES)
    assert rows_of(spec, "same") == [{"confidence": c, "right": c} for c in (0.0, 1.0)]
