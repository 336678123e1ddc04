"""Small pictures of heads, histograms and curves: one hue by opacity, for both themes."""

import base64
import io
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.figures.palette import MASKED, WEIGHT

N_LEVELS = 32
MASKED_LEVEL, EMPTY_LEVEL = N_LEVELS, N_LEVELS + 1
MASKED_ALPHA = 60
MOST_PIXELS = 48
GAP = 10
SMALL_WIDTH, SMALL_HEIGHT, LINE_WIDTH = 500, 130, 2
BAR_LEVEL = N_LEVELS * 2 // 3


def thumbnail(
    weights: NDArray[np.floating],
    visible: NDArray[np.bool_] | None = None,
    most: int = MOST_PIXELS,
) -> str:
    """PNG data URI of weights (rows, columns); masked cells are grey, not empty.

    `visible` says which cells are not masked: all of the past unless told, for which rows and
    columns must be the same. Longer patterns shrink to at most `most` cells a side; a cell then
    shows its largest weight.
    """
    return thumbnails([weights], visible, most)[0]


def thumbnails(
    heads: Iterable[NDArray[np.floating]],
    visible: NDArray[np.bool_] | None = None,
    most: int = MOST_PIXELS,
) -> list[str]:
    """The same of all heads of a layer, which see the same. Cost: 0.5 ms a head of 512 tokens."""
    mask = None if visible is None else ~shrink(visible, most)
    return [_uri(_png(_levels(head, mask, most))) for head in heads]


def contact_sheet(weights: NDArray[np.floating]) -> bytes:
    """PNG of all heads (layers, heads, L, L): a row a layer, a column a head."""
    rows = [np.hstack([_framed(_levels(head)) for head in layer]) for layer in weights]
    return _png(np.vstack(rows))


def bar_picture(parts: NDArray[np.number]) -> bytes:
    """PNG of bars (n,), not negative; the tallest fills the height."""
    top = max(float(parts.max()), np.finfo(float).tiny)
    heights = np.repeat(parts / top, SMALL_WIDTH // len(parts))
    return _png(np.where(_heights() <= heights, BAR_LEVEL, EMPTY_LEVEL).astype(np.uint8))


def spaced_bar_picture(parts: NDArray[np.number]) -> bytes:
    """The same with a gap behind each bar, a third as wide."""
    return bar_picture(np.pad(parts[:, None].repeat(3, axis=1), ((0, 0), (0, 1))).ravel())


def curve_picture(curves: NDArray[np.float64]) -> bytes:
    """PNG of curves (n, m) with values in [0, 1], left to right over the whole width."""
    n_curves, n_points = curves.shape
    at = np.arange(SMALL_WIDTH) * ((n_points - 1) / (SMALL_WIDTH - 1))
    known = np.arange(float(n_points))
    levels = np.full((SMALL_HEIGHT, SMALL_WIDTH), EMPTY_LEVEL, dtype=np.uint8)
    for row in range(n_curves):
        height = np.asarray(np.interp(at, known, curves[row]), dtype=np.float64)
        # A steep curve needs a taller brush to look as thick as a flat one.
        brush = LINE_WIDTH / SMALL_HEIGHT + np.abs(np.diff(height, append=height[-1]))
        levels[np.abs(_heights() - height) <= brush] = N_LEVELS - 1
    return _png(levels)


def shrink(weights: NDArray[np.generic], most: int = MOST_PIXELS) -> NDArray[Any]:
    """(rows, columns) to at most `most` of each by the maximum of square blocks."""
    rows, columns = len(weights), len(weights[0])
    block = -(-max(rows, columns) // most)
    if block == 1:
        return weights
    # Block by block: `reduceat` over the first axis takes three times as long.
    lower = np.stack([weights[row : row + block].max(0) for row in range(0, rows, block)])
    return np.maximum.reduceat(lower, np.arange(0, columns, block), axis=1)


def _heights() -> NDArray[np.float64]:
    """(height, 1): what each row of pixels stands for, with room for a line at 0 and at 1."""
    return np.linspace(1.05, -0.05, SMALL_HEIGHT)[:, None]


def _levels(
    weights: NDArray[np.floating],
    masked: NDArray[np.bool_] | None = None,
    most: int = MOST_PIXELS,
) -> NDArray[np.uint8]:
    """Palette indices, whole pixels a cell, so that the browser has nothing to blur.

    `masked` is of the cells that are drawn: all of the future unless told.
    """
    small = shrink(weights, most)
    levels = np.round(np.clip(small, 0, 1) * (N_LEVELS - 1)).astype(np.uint8)
    if masked is None:
        masked = ~shrink(np.tri(len(weights), dtype=np.bool_), most)
    levels[masked] = MASKED_LEVEL
    factor = max(1, 2 * most // max(small.shape))
    return levels.repeat(factor, axis=0).repeat(factor, axis=1)


def _uri(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _framed(levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.pad(levels, GAP // 2, constant_values=EMPTY_LEVEL)


def _png(levels: NDArray[np.uint8]) -> bytes:
    image = Image.fromarray(levels)
    image.putpalette(bytes([*_rgb(WEIGHT) * N_LEVELS, *_rgb(MASKED) * 2]))
    alphas = [round(255 * level / (N_LEVELS - 1)) for level in range(N_LEVELS)]
    file = io.BytesIO()
    image.save(file, format="PNG", transparency=bytes([*alphas, MASKED_ALPHA, 0]))
    return file.getvalue()


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
