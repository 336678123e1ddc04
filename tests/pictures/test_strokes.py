"""Drawings: what a browser may say of one, and the picture that it makes."""

from typing import Any

import numpy as np
import pytest

from core.pictures.strokes import CANVAS, MOST_POINTS, MOST_STROKES, drawn_picture, parse_strokes

ONE = [[140, 40, 140.5, 240]]


def test_strokes_are_places_in_their_order():
    assert parse_strokes([[0, 1, 2.5, 3], [280, 0]]) == (((0, 1), (2.5, 3)), ((280, 0),))
    assert parse_strokes([]) == ()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (None, "no list of strokes"),
        ({}, "no list of strokes"),
        ("[[1, 2]]", "no list of strokes"),
        ([1, 2], "no list of strokes"),
        ([[1, 2], None], "no list of strokes"),
        ([[]], "no row of places from 0 to 280"),
        ([[1]], "no row of places"),
        ([[1, 2, 3]], "no row of places"),
        ([[1, "2"]], "no row of places"),
        ([[True, 2]], "no row of places"),
        ([[1, None]], "no row of places"),
        ([[1, [2]]], "no row of places"),
        ([[-1, 2]], "no row of places"),
        ([[1, 280.5]], "no row of places"),
        ([[float("nan"), 2]], "no row of places"),
        ([[float("inf"), 2]], "no row of places"),
        ([[10**400, 2]], "no row of places"),
        ([[1, 2]] * (MOST_STROKES + 1), "61 strokes of 61 points; at most 60 of 4,000"),
        ([[1, 2] * (MOST_POINTS + 1)], "1 strokes of 4,001 points"),
    ],
)
def test_what_is_no_drawing_is_refused(said: Any, words: str):
    with pytest.raises(ValueError, match=words) as caught:
        parse_strokes(said)
    assert "\n" not in str(caught.value)


def test_a_bar_fills_the_box_in_the_middle_wherever_it_was_drawn():
    picture = drawn_picture(parse_strokes(ONE))
    rows, columns = np.nonzero(picture > 127)
    assert (rows.min(), rows.max()) == (4, 23)
    assert 1 <= np.ptp(columns) + 1 <= 3
    aside = drawn_picture(parse_strokes([[20, 40, 20, 240]]))
    assert np.abs(aside.astype(int) - picture).mean() < 3


def test_a_stroke_along_the_edge_and_a_single_point_are_seen():
    for strokes in ([[0, 0, CANVAS, 0, CANVAS, CANVAS, 0, CANVAS, 0, 0]], [[5, 5]]):
        assert drawn_picture(parse_strokes(strokes)).max() > 200


def test_nothing_drawn_is_no_picture():
    with pytest.raises(ValueError, match="nothing is drawn yet"):
        drawn_picture(())
