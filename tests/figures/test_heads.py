"""Charts of all heads: what is drawn, that it can be clicked, and nothing hangs on a colour."""

import json
from typing import Any

import pytest

from core.figures import heads as figures
from core.figures.heads import Beside, Point
from core.figures.palette import KEY
from core.figures.template import to_svg

POINTS = [
    Point(0, 0, "L0·H0", 0.1, 5.0, "name", "L0·H0"),
    Point(0, 1, "L0·H1", 0.9, 0.1, "no clear pattern"),
    Point(1, 0, "L1·H0", 0.5, 2.0, "surname", "L1·H0"),
]
ROWS = [Beside("L0·H0", 0.5, 0.25), Beside("L0·H1", None, 0.1), Beside("L1·H0", 0.3, None)]


def scatter(points: list[Point] = POINTS, chosen: str = "L1·H0") -> dict[str, Any]:
    return figures.head_scatter(points, x="across", y="up", chosen=chosen, title="T").to_dict()


def encodings(spec: dict[str, Any], channel: str) -> list[dict[str, Any]]:
    return [layer["encoding"][channel] for layer in spec["layer"] if channel in layer["encoding"]]


def rows_of(spec: dict[str, Any], column: str) -> list[dict[str, Any]]:
    """The rows of the table that has this column."""
    (rows,) = [t for t in spec["datasets"].values() if t and column in t[0]]
    return rows


def test_every_head_is_a_point_with_its_measures():
    rows = rows_of(scatter(), "caption")
    assert [(r["name"], r["x"], r["y"]) for r in rows] == [(p.name, p.x, p.y) for p in POINTS]
    assert [r["caption"] for r in rows] == ["name", "no clear pattern", "surname"]


def test_a_point_can_be_clicked_and_returns_layer_and_head():
    (parameter,) = scatter()["params"]
    assert parameter["name"] == figures.HEAD_SELECTION
    assert parameter["select"]["fields"] == ["layer", "head"]


def test_layers_are_told_apart_by_shape_with_a_legend():
    (shape,) = encodings(scatter(), "shape")
    assert shape["scale"] == {"domain": ["L0", "L1"], "range": ["circle", "square"]}
    assert shape["legend"]["labelFontSize"] >= 14


def test_the_chosen_head_has_a_ring_and_only_it():
    rings = [layer for layer in scatter()["layer"] if layer["mark"].get("stroke") == KEY]
    (ring,) = rings
    assert '(datum.name === "L1·H0")' in str(ring["transform"]).replace("'", '"')


def test_axes_are_named():
    spec = scatter()
    assert encodings(spec, "x")[0]["title"] == "across"
    assert encodings(spec, "y")[0]["title"] == "up"


def test_names_that_would_lie_on_one_another_stand_together():
    near = POINTS[0]._replace(head=2, name="L0·H2", label="L0·H2", x=0.12)
    far = POINTS[0]._replace(head=3, name="L0·H3", label="L0·H3", y=3.5)
    rows = rows_of(scatter([*POINTS, near, far]), "caption")
    labels = {row["name"]: row["label"] for row in rows}
    assert labels["L0·H0"] == "L0·H0, L0·H2"
    assert (labels["L0·H2"], labels["L0·H3"], labels["L0·H1"]) == ("", "L0·H3", "")


@pytest.mark.parametrize("points", [[], POINTS[:1]])
def test_few_heads_make_a_chart_too(points: list[Point]):
    assert to_svg(figures.head_scatter(points, x="a", y="b", chosen="", title="")).startswith(
        b"<svg"
    )


def test_the_question_stands_beside_the_average_in_the_order_of_the_heads():
    spec = figures.beside_average(ROWS, axis="weight", average="dev average", title="T").to_dict()
    rows = rows_of(spec, "value")
    assert [(r["head"], r["name"], r["value"]) for r in rows] == [
        ("L0·H0", "this question", 0.5),
        ("L1·H0", "this question", 0.3),
        ("L0·H0", "dev average", 0.25),
        ("L0·H1", "dev average", 0.1),
    ]
    assert encodings(spec, "y")[0]["scale"]["domain"] == ["L0·H0", "L0·H1", "L1·H0"]
    (shape,) = encodings(spec, "shape")
    assert shape["scale"]["range"] == ["circle", "cross"]
    (line,) = rows_of(spec, "example")
    assert (line["head"], line["example"], line["average"]) == ("L0·H0", 0.5, 0.25)


def test_without_an_average_there_are_only_the_questions_points():
    alone = [Beside("L0·H0", 0.5, None)]
    chart = figures.beside_average(alone, axis="weight", average="average", title="")
    assert [row["name"] for row in rows_of(chart.to_dict(), "value")] == ["this question"]
    assert to_svg(chart).startswith(b"<svg")


def test_the_lens_has_a_bar_and_a_note_a_layer():
    names, notes = ["embedding", "after L0"], ["rank 7", "90 %"]
    spec = figures.lens_bars(names, [0.01, 0.9], notes, title="T").to_dict()
    rows = rows_of(spec, "note")
    assert [(r["after"], r["probability"], r["note"]) for r in rows] == [
        ("embedding", 0.01, "rank 7"),
        ("after L0", 0.9, "90 %"),
    ]
    x = encodings(spec, "x")[0]
    assert x["scale"]["domain"][0] == 0
    assert x["axis"]["values"] == [0, 0.5, 1]
    assert encodings(spec, "y")[0]["scale"]["domain"] == names


def test_without_an_average_the_legend_names_the_example_alone():
    rows = [Beside("L0·H0", 0.5, None), Beside("L0·H1", 0.25, None)]
    chart = figures.beside_average(rows, axis="weight", average="", title="")
    assert '"domain": ["this question"]' in json.dumps(chart.to_dict())


@pytest.mark.parametrize(
    ("n_layers", "levels"),
    [
        (3, ["L0", "L1", "L2"]),
        (30, ["L0 to L4", "L5 to L9", "L10 to L14", "L15 to L19", "L20 to L24", "L25 to L29"]),
        (7, ["L0 to L1", "L2 to L3", "L4 to L5", "L6"]),
    ],
)
def test_no_two_kinds_of_mark_look_the_same_however_many_layers(n_layers: int, levels: list[str]):
    points = [figures.Point(i, 0, f"L{i}·H0", i, i, "") for i in range(n_layers)]
    spec = figures.head_scatter(points, x="x", y="y", chosen="L0·H0", title="").to_dict()
    shape = spec["layer"][2]["encoding"]["shape"]["scale"]
    assert shape["domain"] == levels
    assert len(set(shape["range"])) == len(levels)
