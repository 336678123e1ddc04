"""Small pictures: valid, small, grey where nothing can be seen."""

import base64
import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from core.figures.attention import Matrix
from core.figures.palette import MASKED, WEIGHT
from core.figures.thumbnails import (
    MASKED_ALPHA,
    MOST_PIXELS,
    bar_picture,
    contact_sheet,
    curve_picture,
    shrink,
    thumbnail,
)

Causal = Callable[[int], Matrix]
PREFIX = "data:image/png;base64,"


def pixels(uri: str) -> np.ndarray:
    """(height, width, 4); a file that is no PNG fails here."""
    image = Image.open(io.BytesIO(base64.b64decode(uri.removeprefix(PREFIX), validate=True)))
    assert (uri.startswith(PREFIX), image.format) == (True, "PNG")
    return np.asarray(image.convert("RGBA"))


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def test_weight_is_opacity_and_masked_cells_are_grey_not_empty():
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]], dtype=np.float32)
    shown = pixels(thumbnail(weights))
    side = shown.shape[0] // 3
    cells = shown[side // 2 :: side, side // 2 :: side]
    for q in range(3):
        for k in range(3):
            assert cells[q, k, :3].tolist() == rgb(MASKED if k > q else WEIGHT)
            expected = MASKED_ALPHA if k > q else 255 * float(weights[q, k])
            assert cells[q, k, 3] == pytest.approx(expected, abs=5)
    assert cells[2, 0, 3] == 0 < cells[0, 2, 3]


def test_what_is_masked_can_have_any_shape():
    visible = np.array([[1, 0, 0], [0, 0, 0], [1, 0, 1]], dtype=bool)
    shown = pixels(thumbnail(np.where(visible, 0.5, 0).astype(np.float32), visible))
    side = shown.shape[0] // 3
    cells = shown[side // 2 :: side, side // 2 :: side]
    assert np.array_equal((cells[:, :, :3] == rgb(WEIGHT)).all(-1), visible)
    assert np.array_equal(cells[:, :, 3] == MASKED_ALPHA, ~visible)


def test_a_shrunk_cell_is_grey_only_if_nothing_in_it_can_be_seen():
    visible = np.zeros((96, 96), dtype=bool)
    visible[40:, ::2] = True  # every second column: no block of 2 by 2 is wholly masked
    shown = pixels(thumbnail(visible.astype(np.float32), visible))
    assert (shown[: 2 * 20, :, 3] == MASKED_ALPHA).all()
    assert (shown[2 * 20 :, :, 3] == 255).all()


@pytest.mark.parametrize("n", [1, 2, 11, 48, 49, 128, 500])
def test_a_picture_of_any_length_is_square_and_at_most_about_100_pixels(causal: Causal, n: int):
    shown = pixels(thumbnail(causal(n)))
    assert shown.shape[0] == shown.shape[1] <= 2 * MOST_PIXELS
    assert shown.shape[0] >= MOST_PIXELS


@pytest.mark.parametrize("n", [48, 128])
def test_a_picture_takes_at_most_three_kilobytes(causal: Causal, n: int):
    assert len(thumbnail(causal(n))) <= 3000
    noise = np.tril(np.random.default_rng(0).random((n, n)))
    assert len(thumbnail(noise)) <= 3000


def test_a_single_strong_cell_survives_shrinking():
    weights = np.zeros((128, 128), dtype=np.float32)
    weights[:, 0] = 1
    weights[100, [0, 64]] = 0.1, 0.9
    small = shrink(weights)
    assert small.shape == (43, 43)
    assert small[100 // 3, 64 // 3] == np.float32(0.9)
    assert (small > 0).sum() == 43 + 1


def test_a_short_pattern_is_not_shrunk(causal: Causal):
    np.testing.assert_array_equal(shrink(causal(MOST_PIXELS)), causal(MOST_PIXELS))


def test_different_heads_have_different_pictures(causal: Causal):
    assert thumbnail(np.eye(9, dtype=np.float32)) != thumbnail(causal(9))


def test_a_contact_sheet_has_a_row_a_layer_and_a_column_a_head(causal: Causal):
    heads = np.stack([causal(8), np.eye(8, dtype=np.float32), causal(8)])
    sheet = pixels(
        PREFIX + base64.b64encode(contact_sheet(np.stack([heads, heads[::-1]]))).decode()
    )
    height, width = sheet.shape[0] // 2, sheet.shape[1] // 3
    assert height == width
    gap = (height - pixels(thumbnail(heads[0])).shape[0]) // 2
    for layer, order in enumerate(((0, 1, 2), (2, 1, 0))):
        for column, head in enumerate(order):
            tile = sheet[layer * height :, column * width :][:height, :width]
            inner = tile[gap:-gap, gap:-gap]
            np.testing.assert_array_equal(inner, pixels(thumbnail(heads[head])))
            assert (tile[:gap, :, 3] == 0).all()  # nothing is drawn between the heads


def drawn(png: bytes) -> np.ndarray:
    """(height, width) booleans: where the picture is not empty."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))[:, :, 3] > 0


def test_bars_are_as_high_as_their_parts_and_stand_on_the_ground():
    shown = drawn(bar_picture(np.array([4, 2, 0, 1])))
    heights = shown.sum(0)[shown.shape[1] // 8 :: shown.shape[1] // 4]
    room = shown.shape[0] / 1.1
    ground = heights[2]
    assert heights - ground == pytest.approx([room, room / 2, 0, room / 4], abs=2)
    assert shown[-1].all()
    assert not shown[0].any()


def test_bars_of_nothing_are_flat():
    assert len(set(drawn(bar_picture(np.zeros(5))).sum(0))) == 1


def test_a_curve_runs_through_its_values_from_left_to_right():
    curve = np.array([0.0, 1.0, 0.25])
    shown = drawn(curve_picture(np.array([curve, np.zeros(3)])))
    height, width = shown.shape
    for value, column in zip(curve, (0, width // 2, width - 1), strict=True):
        rows = np.flatnonzero(shown[:, column] & (np.arange(height) < height * 0.9))
        if value:
            assert rows.mean() == pytest.approx((1.05 - value) / 1.1 * height, abs=4)
    assert shown.any(0).all()
