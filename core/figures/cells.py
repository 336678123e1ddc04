"""A matrix as a picture of one dot a cell, one hue by opacity: the same for both themes."""

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

LEAST_ALPHA = 0.03  # of a weight of zero: seen, and nothing there


def cells_uri(values: NDArray[np.floating], colour: str) -> str:
    """PNG data URI of values (rows, columns) from 0 to 1: a dot each, one hue by opacity."""
    return "data:image/png;base64," + base64.b64encode(cells_png(values, colour)).decode()


def cells_png(values: NDArray[np.floating], colour: str, *, side: int = 1) -> bytes:
    """The same as a PNG whose dots have so many pixels a side."""
    alphas = np.round(255 * (LEAST_ALPHA + (1 - LEAST_ALPHA) * values)).astype(np.uint8)
    dots = np.empty((*values.shape, 4), np.uint8)
    dots[..., :3] = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    dots[..., 3] = alphas
    file = io.BytesIO()
    Image.fromarray(dots.repeat(side, 0).repeat(side, 1), "RGBA").save(file, format="PNG")
    return file.getvalue()
