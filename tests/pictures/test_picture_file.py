"""Uploads of pictures: every kind that is read gives the same digit."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from core.pictures.fitting import fitted
from core.pictures.picture_file import MOST_BYTES, read_picture


def seven(size: int = 200) -> Image.Image:
    """Black on white, upright."""
    image = Image.new("L", (size, size), 255)
    corners = [(0.25 * size, 0.2 * size), (0.7 * size, 0.2 * size), (0.4 * size, 0.8 * size)]
    ImageDraw.Draw(image).line(corners, fill=0, width=size // 12)
    return image


def file_of(image: Image.Image, form: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


EXPECTED = fitted(np.asarray(seven()))


def alike(picture: np.ndarray) -> bool:
    return float(np.abs(picture.astype(int) - EXPECTED).mean()) < 6


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "BMP"])
@pytest.mark.parametrize("mode", ["L", "RGB", "1", "P"])
def test_every_kind_of_file_gives_the_same_digit(form: str, mode: str):
    if (form, mode) == ("JPEG", "P"):
        mode = "CMYK"  # a JPEG has no palette
    picture = read_picture(file_of(seven().convert(mode), form))
    assert picture.shape == (28, 28)
    assert picture.dtype == np.uint8
    assert alike(picture)


@pytest.mark.parametrize("size", [80, 900, 3_000])
def test_every_size_gives_the_same_digit(size: int):
    assert alike(read_picture(file_of(seven(size), "PNG")))


def test_transparent_paper_is_paper_under_dark_strokes_and_light_ones():
    ink = Image.fromarray(255 - np.asarray(seven()))
    for strokes in (0, 255):
        image = Image.merge("LA", (Image.new("L", ink.size, strokes), ink))
        assert alike(read_picture(file_of(image, "PNG")))


def test_sixteen_bits_a_point_are_not_cut_off_at_eight():
    deep = Image.fromarray(np.asarray(seven()).astype(np.uint16) * 257)
    assert deep.mode == "I;16"
    assert alike(read_picture(file_of(deep, "PNG")))


def test_a_photo_taken_on_its_side_is_turned():
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: shown a quarter to the right
    turned = seven().transpose(Image.Transpose.ROTATE_90)
    assert alike(read_picture(file_of(turned, "JPEG", exif=exif)))


def test_of_a_film_the_first_picture_is_read():
    others = [Image.new("L", (200, 200), 255)] * 3
    assert alike(read_picture(file_of(seven(), "GIF", save_all=True, append_images=others)))


def test_an_upload_has_a_limit():
    whole = file_of(seven(), "PNG")
    padded = whole + bytes(MOST_BYTES - len(whole))
    assert alike(read_picture(padded))
    with pytest.raises(ValueError, match="8,000,001 bytes; at most 8,000,000 are read"):
        read_picture(padded + b"\0")
