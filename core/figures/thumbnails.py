"""A head as a small picture: weight as opacity, so that one image serves both themes."""

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.figures.palette import MASKED, WEIGHT

N_LEVELS = 32
MASKED_LEVEL, EMPTY_LEVEL = N_LEVELS, N_LEVELS + 1
MASKED_ALPHA = 60
MOST_PIXELS = 48
GAP = 10


def thumbnail(weights: NDArray[np.floating]) -> str:
    """PNG data URI of causal weights (L, L); masked cells are grey, not empty.

    Longer patterns shrink to at most 48 cells a side; a cell then shows its largest weight.
    """
    return "data:image/png;base64," + base64.b64encode(_png(_levels(weights))).decode()


def contact_sheet(weights: NDArray[np.floating]) -> bytes:
    """PNG of all heads (layers, heads, L, L): a row a layer, a column a head."""
    rows = [np.hstack([_framed(_levels(head)) for head in layer]) for layer in weights]
    return _png(np.vstack(rows))


def shrink(weights: NDArray[np.floating]) -> NDArray[np.floating]:
    """(L, L) to at most (48, 48) by the maximum of square blocks."""
    block = -(-len(weights) // MOST_PIXELS)
    edges = np.arange(0, len(weights), block)
    return np.maximum.reduceat(np.maximum.reduceat(weights, edges, axis=0), edges, axis=1)


def _levels(weights: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Palette indices, whole pixels a cell, so that the browser has nothing to blur."""
    small = shrink(weights)
    levels = np.round(np.clip(small, 0, 1) * (N_LEVELS - 1)).astype(np.uint8)
    levels[np.triu_indices(len(small), k=1)] = MASKED_LEVEL
    factor = max(1, 2 * MOST_PIXELS // len(small))
    return levels.repeat(factor, axis=0).repeat(factor, axis=1)


def _framed(levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.pad(levels, GAP // 2, constant_values=EMPTY_LEVEL)


def _png(levels: NDArray[np.uint8]) -> bytes:
    image = Image.fromarray(levels)
    image.putpalette(bytes([*_rgb(WEIGHT) * N_LEVELS, *_rgb(MASKED) * 2]))
    alphas = [round(255 * level / (N_LEVELS - 1)) for level in range(N_LEVELS)]
    file = io.BytesIO()
    image.save(file, format="PNG", transparency=bytes([*alphas, MASKED_ALPHA, 0]), optimize=True)
    return file.getvalue()


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
