"""A picture that somebody uploads: PNG, JPEG, GIF or BMP from anywhere, made 28 x 28 and grey.

Size and kind are asked before a point is decoded, and of a GIF the first frame alone is.
"""

import io
import struct
import zlib
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from core.pictures.fitting import fitted

FORMATS = ("PNG", "JPEG", "GIF", "BMP")
ENDINGS = ("png", "jpg", "jpeg", "gif", "bmp")
MOST_BYTES = 8_000_000
MOST_POINTS = 16_000_000
MOST_SIDE = 10_000
MOST_SCANS = 64  # of a progressive JPEG: each goes over the whole picture, whatever it holds
SMALL = 512  # what is fitted needs no more
_ODD = (
    OSError,  # and Pillow's own for what it cannot tell
    ValueError,
    TypeError,
    SyntaxError,  # Pillow's for a broken PNG
    LookupError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    EOFError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Warning,  # an error where warnings are
)


def read_picture(data: bytes) -> NDArray[np.uint8]:
    """(SIDE, SIDE), white on black. Raises ValueError in one sentence."""
    if len(data) > MOST_BYTES:
        raise ValueError(f"the file has {len(data):,} bytes; at most {MOST_BYTES:,} are read")
    if data.startswith(b"\xff\xd8") and data.count(b"\xff\xda") > MOST_SCANS:
        raise ValueError(f"the JPEG goes over its picture more than {MOST_SCANS} times")
    return fitted(_grey(data))


def _grey(data: bytes) -> NDArray[np.uint8]:
    with _said(), Image.open(io.BytesIO(data), formats=FORMATS) as image:
        width, height = image.size
    if width * height > MOST_POINTS or max(width, height) > MOST_SIDE:
        raise ValueError(
            f"the picture has {width:,} x {height:,} points; at most {MOST_POINTS:,} and "
            f"{MOST_SIDE:,} a side are read"
        )
    with _said(), Image.open(io.BytesIO(data), formats=FORMATS) as image:
        image.draft("L", (SMALL, SMALL))  # a JPEG is decoded no larger than is needed
        return np.asarray(_small(image))


def _small(image: Image.Image) -> Image.Image:
    """Grey, upright, and no side longer than SMALL; what is transparent is paper."""
    image.load()
    if image.mode.startswith(("I", "F")):  # 16 bits a point, which Pillow would cut off at 255
        deep = np.asarray(image).astype(np.float64)
        image = Image.fromarray((deep / max(1.0, float(deep.max())) * 255).astype(np.uint8))
    plain = image.convert("LA" if image.has_transparency_data else "L")
    plain.thumbnail((SMALL, SMALL), Image.Resampling.BOX)
    upright = ImageOps.exif_transpose(plain)
    if upright.mode == "L":
        return upright
    grey, alpha = (np.asarray(band, np.float64) for band in upright.split())
    inked = float((grey * alpha).sum() / max(1.0, float(alpha.sum())))
    paper = 255.0 if inked < 128 else 0.0  # so that light strokes and dark ones stand out
    over = (grey * alpha + paper * (255 - alpha)) / 255
    return Image.fromarray(over.astype(np.uint8))


@contextmanager
def _said() -> Generator[None]:
    """Raise ValueError in one sentence for whatever Pillow raises."""
    try:
        yield
    except MemoryError:
        raise ValueError("there is not enough memory for the picture") from None
    except _ODD:
        raise ValueError(
            f"not a whole picture of {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        ) from None
