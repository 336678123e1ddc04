"""Charts of trainings: what is drawn, and that no run hangs on its colour."""

import json
from typing import Any

import pytest

from core.figures import moments
from core.figures import training as figures
from core.figures.template import to_svg

HOSTILE = "<b>x</b> $y$ `z` \"'\\"
LOSSES = [(HOSTILE, [(0.0, 7.0), (10.0, 3.5)]), ("other", [(5.0, 6.0)])]
ANSWERS = [(HOSTILE, [(10.0, 0.25, 0.2, 0.3)]), ("other", [(5.0, 0.0, 0.0, 0.1)])]
CONSTANT = [("always London 2.3 %", 0.023)]


def rows_with(spec: dict[str, Any], *columns: str) -> list[dict[str, Any]]:
    """The rows of the one table that has exactly these columns."""
    tables = list(spec["datasets"].values())
    (found,) = [rows for rows in tables if rows and set(rows[0]) == set(columns)]
    return found


def loss(curves: list[Any] = LOSSES, **more: Any) -> dict[str, Any]:
    return figures.loss_chart(curves, axis="step", **more).to_dict()


def accuracy(curves: list[Any] = ANSWERS, **more: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"axis": "step", "lines": CONSTANT, **more}
    return figures.accuracy_chart(curves, **given).to_dict()


def encodings(spec: dict[str, Any], channel: str) -> list[dict[str, Any]]:
    return [layer["encoding"][channel] for layer in spec["layer"] if channel in layer["encoding"]]


def test_every_point_of_every_run_is_drawn():
    rows = rows_with(loss(), "name", "at", "loss")
    assert [(r["name"], r["at"], r["loss"]) for r in rows] == [
        (HOSTILE, 0.0, 7.0),
        (HOSTILE, 10.0, 3.5),
        ("other", 5.0, 6.0),
    ]
    rows = rows_with(accuracy(), "name", "at", "share", "low", "high")
    assert [tuple(row.values()) for row in rows] == [
        (HOSTILE, 10.0, 0.25, 0.2, 0.3),
        ("other", 5.0, 0.0, 0.0, 0.1),
    ]


def test_right_answers_lie_on_a_scale_from_0_to_1_with_their_interval_as_a_band():
    spec = accuracy()
    assert all(y["scale"]["domain"] == [0, 1] for y in encodings(spec, "y"))
    (band,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "area"]
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("low", "high")


def test_runs_are_told_apart_by_colour_dashes_and_shapes_in_their_order():
    names = [HOSTILE, "other"]
    for spec in (loss(), accuracy()):
        for channel in ("color", "strokeDash"):
            scale = encodings(spec, channel)[0]["scale"]
            assert scale["domain"] == names
            assert len({str(mark) for mark in scale["range"]}) == 2
        assert encodings(spec, "color")[0]["legend"]["labelFontSize"] >= 14
    (shape,) = encodings(accuracy(), "shape")
    assert shape["scale"]["range"] == ["circle", "square"]
    # The legend of lines shows dashes; that of points their shapes, which dashes would fray.
    assert encodings(loss(), "strokeDash")[0]["legend"] is not None
    assert encodings(accuracy(), "strokeDash")[0]["legend"] is None
    assert shape["legend"] is not None


def test_means_have_their_interval_as_a_band_beneath_their_line():
    curves = [("a", [(0.0, 2.0, 1.5, 2.5), (1.0, 1.0, 0.5, 1.5)]), ("b", [(0.0, 3.0, 3.0, 3.0)])]
    spec = figures.mean_loss_chart(curves, axis="step").to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["area", "line"]
    assert spec["layer"][0]["encoding"]["y"]["field"] == "low"
    assert spec["layer"][0]["encoding"]["y2"]["field"] == "high"
    rows = rows_with(spec, "name", "at", "loss", "low", "high")
    assert [tuple(row.values()) for row in rows][1] == ("a", 1.0, 1.0, 0.5, 1.5)
    assert encodings(spec, "color")[0]["scale"]["domain"] == ["a", "b"]


def test_four_runs_have_four_marks_each():
    curves = [(str(index), [(0.0, 1.0), (1.0, 0.5)]) for index in range(figures.MOST_CURVES)]
    for channel in ("color", "strokeDash"):
        scale = encodings(loss(curves), channel)[0]["scale"]
        assert len({str(mark) for mark in scale["range"]}) == figures.MOST_CURVES == 4
    assert len(set(figures.SHAPES)) == figures.MOST_CURVES


def test_one_run_needs_no_legend():
    for spec in (loss(LOSSES[:1]), accuracy(ANSWERS[:1])):
        assert {str(encoding["legend"]) for encoding in encodings(spec, "color")} == {"None"}


def test_a_constant_answer_is_a_grey_line_with_its_name():
    rows = rows_with(accuracy(), "constant", "share")
    assert rows == [{"constant": "always London 2.3 %", "share": 0.023}]
    assert "strokeDash" in accuracy()["layer"][0]["mark"]
    assert len(accuracy(lines=[])["layer"]) == 3
    for spec, table in ((accuracy(lines=[]), "shares"), (loss(), "losses")):
        assert set(spec["datasets"]) == {table}


@pytest.mark.parametrize(("most", "aligned"), [(None, "right"), (1000.0, "left")])
def test_phases_have_a_line_and_a_name_that_stays_inside(most: float | None, aligned: str):
    spec = loss(phases=[(0, "pretrain"), (8, "fine-tune")], most=most)
    rows = rows_with(spec, "at", "phase", "late")
    assert [(row["at"], row["phase"]) for row in rows] == [(0, "pretrain"), (8, "fine-tune")]
    texts = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    sides = {text["transform"][0]["filter"]: text["mark"]["align"] for text in texts}
    assert sides == {"!datum.late": "left", "datum.late": "right"}
    assert [sides["datum.late" if row["late"] else "!datum.late"] for row in rows] == [
        "left",
        aligned,
    ]
    (rule,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "rule"]
    assert rule["data"] == texts[0]["data"] == texts[1]["data"]


@pytest.mark.parametrize("draw", [loss, accuracy])
def test_the_axis_reaches_to_the_last_step_that_is_wanted(draw: Any):
    scales = [x["scale"] for x in encodings(draw(most=1600), "x") if "scale" in x]
    assert {tuple(scale["domain"]) for scale in scales} == {(0, 1600)}
    assert "domain" not in encodings(draw(), "x")[-1].get("scale", {})


@pytest.mark.parametrize(
    "chart",
    [
        figures.loss_chart(LOSSES, axis="step", phases=[(0, "pretrain")]),
        figures.accuracy_chart(ANSWERS, CONSTANT, axis="step"),
        figures.loss_chart([("nothing yet", [])], axis="step"),
        figures.mean_loss_chart([("a", [(0, 2, 1, 3), (1, 1, 0, 2)]), ("b", [])], axis="step"),
    ],
)
def test_a_picture_can_be_drawn_as_a_file(chart: Any):
    drawn = to_svg(chart.titled("Lima <b>"))
    assert drawn.startswith(b"<svg")
    assert b"Lima &lt;b&gt;" in drawn


def without_tables(spec: dict[str, Any]) -> str:
    """What is left of a chart without its data."""
    return json.dumps({key: value for key, value in spec.items() if key != "datasets"})


def test_more_data_changes_a_chart_in_its_tables_alone():
    """A browser then moves the marks, and draws nothing anew."""
    begun = loss(LOSSES[:1], most=100.0, phases=[(0, "a")])
    phases = [(0, "a"), (20, "b")]  # the second has just begun
    further = loss([(HOSTILE, [*LOSSES[0][1], (20.0, 1.0)])], most=100.0, phases=phases)
    assert begun["datasets"] != further["datasets"]
    assert without_tables(begun) == without_tables(further)
    begun = accuracy(ANSWERS[:1], most=100.0)
    further = accuracy([(HOSTILE, [*ANSWERS[0][1], (20.0, 0.5, 0.4, 0.6)])], most=100.0)
    assert without_tables(begun) == without_tables(further)


POINTS = [("25", 0.0), ("50", 0.4), ("finished", 0.7)]


def test_the_curve_has_its_points_in_order_and_a_named_line_at_each_mark():
    marks = [("A", "50"), ("B", "finished")]
    spec = moments.accuracy_at_moments(POINTS, marks, title="T").to_dict()
    assert [(r["moment"], r["accuracy"]) for r in rows_with(spec, "moment", "accuracy")] == POINTS
    assert encodings(spec, "x")[0]["scale"]["domain"] == ["25", "50", "finished"]
    assert [(r["what"], r["moment"]) for r in rows_with(spec, "moment", "what")] == marks
    assert encodings(spec, "y")[0]["scale"]["domain"] == [0, 1]
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rule", "line", "point", "text"]


def test_two_marks_at_one_moment_share_their_line_and_text():
    spec = moments.accuracy_at_moments(POINTS, [("A", "50"), ("B", "50")], title="T").to_dict()
    assert [(r["what"], r["moment"]) for r in rows_with(spec, "moment", "what")] == [("A, B", "50")]


def test_a_mark_without_a_point_still_has_its_place():
    spec = moments.accuracy_at_moments(POINTS, [("A", "75")], title="T").to_dict()
    assert encodings(spec, "x")[0]["scale"]["domain"] == ["25", "50", "finished", "75"]
