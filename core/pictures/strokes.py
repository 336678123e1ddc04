"""A digit that somebody draws with a pointer: strokes of points, made the picture that it shows."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from core.pictures.fitting import fitted

CANVAS = 280  # points a side of what is drawn on
PEN = 22  # of them: how thick a stroke is
MOST_STROKES, MOST_POINTS = 60, 4_000
Stroke = tuple[tuple[float, float], ...]
Strokes = tuple[Stroke, ...]


def parse_strokes(said: object) -> Strokes:
    """Strokes of [x, y, x, y, …], from a browser that may say anything.

    Raises ValueError in one sentence for what is no drawing on the canvas.
    """
    rows = cast(list[object], said) if isinstance(said, list) else None
    if rows is None or not all(isinstance(row, list) for row in rows):
        raise ValueError("the drawing is no list of strokes")
    strokes = cast(list[list[Any]], rows)
    n_points = sum(len(row) for row in strokes) // 2
    if len(strokes) > MOST_STROKES or n_points > MOST_POINTS:
        raise ValueError(
            f"the drawing has {len(strokes):,} strokes of {n_points:,} points; at most "
            f"{MOST_STROKES} of {MOST_POINTS:,} are read"
        )
    if not all(row and len(row) % 2 == 0 and all(map(_is_place, row)) for row in strokes):
        raise ValueError(f"a stroke is no row of places from 0 to {CANVAS}")
    return tuple(tuple(zip(row[::2], row[1::2], strict=True)) for row in strokes)


def drawn_picture(strokes: Strokes) -> NDArray[np.uint8]:
    """(SIDE, SIDE), white on black, laid out as MNIST's digits are.

    Raises ValueError where nothing is drawn.
    """
    if not strokes:
        raise ValueError("nothing is drawn yet")
    image = Image.new("L", (CANVAS, CANVAS))
    pen = ImageDraw.Draw(image)
    for stroke in strokes:
        pen.line(list(stroke), fill=255, width=PEN)
        for x, y in stroke:  # round where it begins, bends and ends
            pen.circle((x, y), PEN / 2, fill=255)
    # A margin, so that a stroke along the edge is not taken for the ground.
    return fitted(np.pad(np.asarray(image), PEN))


def _is_place(value: object) -> bool:
    """A number on the canvas; True and False are none, and NaN lies nowhere."""
    return type(value) in {int, float} and 0 <= cast(float, value) <= CANVAS
