"""Pictures as they are, what a network makes of them, and maps over them, as small PNG.

A map's hue is its opacity, so that both themes have it on their ground; what has a sign is blue
below 0 and orange above. Every tile has a frame, whatever it shows.
"""

import base64
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.figures.palette import KEY, MASKED, QUERY, WEIGHT

TILE = 84  # pixels a side at least, of a tile of a sheet
LARGE = 280  # of a picture that stands alone
GAP = 8
_DIM = 0.45  # of a picture's light below a map
Pixels = NDArray[np.uint8]
Map = NDArray[np.floating]


def picture_png(picture: Pixels, side: int = LARGE) -> bytes:
    """(h, w) of grey, black to white, each point a square."""
    return _png(_framed(_grey(_enlarged(picture, side))))


def picture_uri(picture: Pixels, side: int = LARGE) -> str:
    """The same as a data URI."""
    return "data:image/png;base64," + base64.b64encode(picture_png(picture, side)).decode()


def sheet_of_pictures(rows: Sequence[Sequence[Pixels]], *, side: int = TILE) -> bytes:
    """Pictures (h, w) of grey side by side, a row of them a row."""
    return _sheet([[_grey(_enlarged(one, side)) for one in row] for row in rows])


def sheet_of_maps(rows: Sequence[Sequence[Map]], *, side: int = TILE, top: float = 0) -> bytes:
    """Tiles of what is not negative, a row of them a row; full colour is `top`, or each tile's own
    largest where `top` is 0.
    """
    return _sheet([[_coloured(_enlarged(one, side), top, WEIGHT) for one in row] for row in rows])


def sheet_of_signed(rows: Sequence[Sequence[Map]], *, side: int = TILE, top: float = 0) -> bytes:
    """The same of what has a sign; `top` is that of both sides."""
    return _sheet([[_signed(_enlarged(one, side), top) for one in row] for row in rows])


def map_over(picture: Pixels, found: Map, *, top: float = 0, signed: bool = False) -> bytes:
    """A picture in grey below a map of its parts, as large as `picture_png`."""
    below = _grey(_enlarged((picture * _DIM).astype(np.uint8), LARGE))
    large = _resized(_enlarged(found, LARGE), below.shape[0])
    above = _signed(large, top) if signed else _coloured(large, top, WEIGHT)
    return _png(_framed(_laid(above, below)))


def sheet_over(
    picture: Pixels, rows: Sequence[Sequence[Map]], *, side: int = TILE, top: float = 0
) -> bytes:
    """The same for tiles of maps that are not negative."""
    below = _grey(_enlarged((picture * _DIM).astype(np.uint8), side))
    tiles = [
        [
            _laid(_coloured(_resized(_enlarged(one, side), len(below)), top, WEIGHT), below)
            for one in row
        ]
        for row in rows
    ]
    return _sheet(tiles)


def _enlarged(values: NDArray[np.generic], side: int) -> NDArray[np.generic]:
    """Whole pixels a point, so that the browser has nothing to blur."""
    factor = max(1, round(side / max(values.shape)))
    return values.repeat(factor, axis=0).repeat(factor, axis=1)


def _resized(values: NDArray[np.generic], side: int) -> NDArray[np.generic]:
    """Square, of exactly so many pixels a side: the nearest point's value."""
    at = np.arange(side) * len(values) // side
    return values[at][:, at]


def _grey(values: NDArray[np.generic]) -> Pixels:
    """(h, w, 4), opaque."""
    rgb = values.astype(np.uint8)[..., None].repeat(3, axis=-1)
    return np.concatenate([rgb, np.full_like(rgb[..., :1], 255)], axis=-1)


def _coloured(values: NDArray[np.generic], top: float, colour: str) -> Pixels:
    shares = np.clip(np.asarray(values, float) / (top or float(values.max()) or 1.0), 0, 1)
    return _with_alpha(np.array(_rgb(colour), np.uint8), shares)


def _signed(values: NDArray[np.generic], top: float) -> Pixels:
    numbers = np.asarray(values, float)
    shares = np.clip(numbers / (top or float(np.abs(numbers).max()) or 1.0), -1, 1)
    colours = np.where((shares < 0)[..., None], _rgb(QUERY), _rgb(KEY)).astype(np.uint8)
    return _with_alpha(colours, np.abs(shares))


def _with_alpha(colours: Pixels, shares: NDArray[np.float64]) -> Pixels:
    rgb = np.broadcast_to(colours, (*shares.shape, 3))
    alpha = np.round(255 * shares).astype(np.uint8)[..., None]
    return np.concatenate([rgb, alpha], axis=-1)


def _laid(above: Pixels, below: Pixels) -> Pixels:
    """One over the other, which is opaque."""
    share = above[..., 3:].astype(float) / 255
    rgb = share * above[..., :3] + (1 - share) * below[..., :3]
    return np.concatenate([np.round(rgb).astype(np.uint8), below[..., 3:]], axis=-1)


def _framed(pixels: Pixels) -> Pixels:
    """A thin grey line around it."""
    framed = np.empty((pixels.shape[0] + 2, pixels.shape[1] + 2, 4), np.uint8)
    framed[:] = (*_rgb(MASKED), 255)
    framed[1:-1, 1:-1] = pixels
    return framed


def _sheet(rows: Sequence[Sequence[Pixels]]) -> bytes:
    """Tiles of one size, with nothing between them."""
    lines = [np.hstack([_spaced(_framed(tile)) for tile in row]) for row in rows]
    most = max(line.shape[1] for line in lines)
    padded = [np.pad(line, ((0, 0), (0, most - line.shape[1]), (0, 0))) for line in lines]
    return _png(np.vstack(padded))


def _spaced(pixels: Pixels) -> Pixels:
    return np.pad(pixels, ((GAP // 2, GAP // 2), (GAP // 2, GAP // 2), (0, 0)))


def _png(pixels: Pixels) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
