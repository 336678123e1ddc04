"""Charts of the report card: what is drawn, and that nothing hangs on a colour."""

import io
import json
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core.figures import report as figures
from core.figures.thumbnails import bar_picture, spaced_bar_picture

BARS = [("pieces 82 %", 0.82, (0.78, 0.85)), ("no pretraining 1 %", 0.01, (0.0, 0.02))]
LINES = [("always London 5 %", 0.05), ("lookup 85.6 %", 0.856)]
POINTS = [
    ("pieces 82 %", "public", 0.404, "on a T4 GPU"),
    ("no pretraining 1 %", "reports", 0.012, "report 2"),
]
KINDS = [("pieces", [("right country", 3), ("made up", 1)]), ("perfect", [("made up", 0)])]


def rows_with(spec: dict[str, Any], *columns: str) -> list[dict[str, Any]]:
    """The rows of the one table that has exactly these columns."""
    tables = list(spec["datasets"].values())
    (found,) = [rows for rows in tables if rows and set(rows[0]) == set(columns)]
    return found


def accuracy(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"bars": BARS, "lines": LINES, "points": POINTS, **changes}
    return figures.accuracy_bars(**given, axis="right").to_dict()


def names_beside(spec: dict[str, Any]) -> list[str]:
    """What is written beside each row of `kind_bars`, from above."""
    y = encodings(spec, "y")[0]
    names = json.loads(y["axis"]["labelExpr"].removesuffix("[datum.value]"))
    return [names[number] for number in y["scale"]["domain"]]


def encodings(spec: dict[str, Any], channel: str) -> list[dict[str, Any]]:
    return [layer["encoding"][channel] for layer in spec["layer"] if channel in layer["encoding"]]


def test_every_bar_has_its_share_and_its_interval():
    rows = rows_with(accuracy(), "label", "share", "low", "high")
    assert [(r["label"], r["share"], (r["low"], r["high"])) for r in rows] == BARS


def test_bars_stand_in_the_given_order_on_a_scale_from_0_to_1():
    spec = accuracy()
    assert encodings(spec, "y")[0]["scale"]["domain"] == [label for label, *_ in BARS]
    assert encodings(spec, "x")[0]["scale"]["domain"] == [0, 1]


def test_lines_are_told_apart_by_dashes_and_points_by_shape():
    spec = accuracy()
    (dash,) = encodings(spec, "strokeDash")
    assert dash["scale"]["domain"] == [name for name, _ in LINES]
    assert len({tuple(pattern) for pattern in dash["scale"]["range"]}) == len(LINES)
    (shape,) = encodings(spec, "shape")
    assert shape["scale"] == {"domain": ["public", "reports"], "range": ["diamond", "cross"]}
    assert dash["legend"]["labelFontSize"] >= 14
    # Two legends of one field would be drawn as one, with rings in place of the lines.
    assert dash["field"] != shape["field"]


def test_as_many_lines_as_the_report_card_has_are_told_apart():
    names = ("always London", "nearest name", "lookup", "reader", "ceiling")
    (dash,) = encodings(accuracy(lines=[(name, 0.5) for name in names]), "strokeDash")
    assert dash["scale"]["domain"] == [*names]
    assert len({tuple(pattern) for pattern in dash["scale"]["range"]}) == len(names)


def test_points_lie_on_the_row_of_their_bar():
    rows = rows_with(accuracy(), "label", "source", "share", "note")
    assert [(r["label"], r["source"], r["share"], r["note"]) for r in rows] == POINTS


def test_a_point_under_the_mouse_says_its_note():
    layers = accuracy()["layer"]
    hovers = [[part["field"] for part in layer["encoding"]["tooltip"]] for layer in layers]
    assert ["source", "share", "note"] in hovers


def test_without_lines_and_points_there_are_only_bars():
    spec = accuracy(lines=[], points=[])
    assert not encodings(spec, "strokeDash")
    assert not encodings(spec, "shape")
    assert len(spec["layer"]) == 4
    assert set(spec["datasets"]) == {"bars"}


def test_names_begin_behind_lines_near_zero():
    def padding(lines: list[tuple[str, float]]) -> int:
        return encodings(accuracy(lines=lines), "y")[0]["axis"]["labelPadding"]

    assert padding(LINES) < padding(LINES[1:]) < 0


def test_the_height_grows_with_the_rows():
    assert accuracy(bars=[*BARS, ("more", 0.5, (0.4, 0.6))])["height"] > accuracy()["height"] > 0


def test_kinds_are_shares_of_the_wrong_answers_of_their_variant():
    spec = figures.kind_bars(KINDS, title="Kinds").to_dict()
    rows = rows_with(spec, "at", "kind", "count", "share")
    assert [(r["kind"], r["count"], r["share"]) for r in rows] == [
        ("right country", 3, 0.75),
        ("made up", 1, 0.25),
        ("made up", 0, 0.0),
    ]


def test_every_variant_has_a_heading_with_its_wrong_answers():
    spec = figures.kind_bars(KINDS, title="Kinds").to_dict()
    assert names_beside(spec) == [
        *("pieces: 4 wrong", "right country", "made up"),
        *("perfect: 0 wrong", "made up"),
    ]
    weight = encodings(spec, "y")[0]["axis"]["labelFontWeight"]
    assert weight == {
        "condition": {"test": "indexof([0, 3], datum.value) >= 0", "value": "bold"},
        "value": 400,
    }
    rows = rows_with(spec, "at", "kind", "count", "share")
    assert [names_beside(spec)[row["at"]] for row in rows] == [row["kind"] for row in rows]
    texts = encodings(spec, "text")
    assert [text["field"] for text in texts] == ["count"]


@pytest.mark.parametrize("name", ["a|b", "all|c", 'it\'s \\ "x"', "a\u001fb\nc"])
def test_any_character_may_be_in_the_name_of_a_variant(name: str):
    spec = figures.kind_bars([(name, [("made up", 1)]), *KINDS], title="Kinds").to_dict()
    assert names_beside(spec)[:2] == [f"{name}: 1 wrong", "made up"]


def test_no_variant_makes_an_empty_chart():
    spec = figures.kind_bars([], title="Kinds").to_dict()
    assert encodings(spec, "y")[0]["scale"]["domain"] == []


@pytest.mark.parametrize("parts", [[0.9, 0.5, 0.1], [0.3]])
def test_spaced_bars_have_gaps_and_keep_their_heights(parts: list[float]):
    def columns(picture: bytes) -> np.ndarray:
        alpha = np.asarray(Image.open(io.BytesIO(picture)).convert("RGBA"))[..., 3]
        return (alpha > 0).sum(axis=0)

    spaced = columns(spaced_bar_picture(np.array(parts)))
    plain = columns(bar_picture(np.array(parts)))
    assert len(set(spaced[spaced > 10])) == len(set(plain[plain > 10])) == len(parts)
    assert spaced.min() < plain.min()
