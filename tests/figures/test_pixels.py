"""Small PNG of pictures and maps: what a point's colour says."""

import io

import numpy as np
import pytest
from PIL import Image

from core.figures.palette import KEY, MASKED, QUERY, WEIGHT
from core.figures.pixels import (
    GAP,
    LARGE,
    TILE,
    map_over,
    picture_png,
    sheet_of_maps,
    sheet_of_signed,
    sheet_over,
)

PICTURE = np.arange(28 * 28, dtype=np.uint16).reshape(28, 28).astype(np.uint8)


def pixels(png: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(png))
    assert (image.format, image.mode) == ("PNG", "RGBA")
    return np.asarray(image)


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def test_a_picture_is_as_grey_as_its_points_inside_a_frame():
    shown = pixels(picture_png(PICTURE))
    assert shown.shape == (LARGE + 2, LARGE + 2, 4)
    assert shown[0, 0].tolist() == [*rgb(MASKED), 255]
    inside = shown[1:-1:10, 1:-1:10]
    assert np.array_equal(inside[..., 0], PICTURE)
    assert np.array_equal(inside[..., 1], PICTURE)
    assert (inside[..., 3] == 255).all()


def test_a_map_is_more_opaque_the_more_there_is_by_its_own_largest_or_a_common_one():
    one, other = np.array([[0, 0.5], [1, 0.25]]), np.array([[0, 0.1], [0.2, 0.2]])
    for top, factor in ((0.0, 5), (1.0, 1)):
        shown = pixels(sheet_of_maps([[one, other]], top=top))
        assert shown.shape == (TILE + 2 + GAP, 2 * (TILE + 2 + GAP), 4)
        first, second = shown[GAP // 2 + 10 :: 42, GAP // 2 + 10 :: 42][:2], None
        assert first[0, 1, :3].tolist() == rgb(WEIGHT)
        assert first[:2, :2, 3] == pytest.approx(255 * one, abs=1)
        second = shown[GAP // 2 + 10 :: 42, TILE + 2 + GAP + GAP // 2 + 10 :: 42]
        assert second[:2, :2, 3] == pytest.approx(255 * factor * other, abs=1)


def test_what_has_a_sign_is_orange_above_zero_and_blue_below():
    shown = pixels(sheet_of_signed([[np.array([[1.0, -0.5], [0.0, -1.0]])]]))
    cells = shown[GAP // 2 + 10 :: 42, GAP // 2 + 10 :: 42][:2, :2]
    assert cells[0, 0].tolist() == [*rgb(KEY), 255]
    assert cells[1, 1].tolist() == [*rgb(QUERY), 255]
    assert cells[0, 1].tolist() == [*rgb(QUERY), 128]
    assert cells[1, 0, 3] == 0


def test_a_map_lies_over_its_picture_which_stays_seen():
    picture = np.full((28, 28), 200, np.uint8)
    found = np.zeros((7, 7))
    found[0, 0] = 0.4
    shown = pixels(map_over(picture, found))
    assert shown.shape == (LARGE + 2, LARGE + 2, 4)
    assert shown[5, 5].tolist() == [*rgb(WEIGHT), 255]
    assert shown[60, 60].tolist() == [90, 90, 90, 255]
    tiles = pixels(sheet_over(picture, [[found, found], [found, found]], top=0.8))
    half = [round((a + 90) / 2) for a in rgb(WEIGHT)]
    assert tiles[10, 10, :3] == pytest.approx(half, abs=1)
    signed = pixels(map_over(picture, -found, signed=True))
    assert signed[5, 5].tolist() == [*rgb(QUERY), 255]


def test_a_map_of_a_grid_that_does_not_divide_the_picture_covers_it_whole():
    shown = pixels(map_over(np.zeros((28, 28), np.uint8), np.ones((13, 13))))
    assert (shown[1:-1, 1:-1, :3] == rgb(WEIGHT)).all()


def test_rows_of_different_lengths_and_maps_of_nothing_are_drawn():
    shown = pixels(sheet_of_maps([[np.zeros((3, 3))] * 3, [np.zeros((5, 5))]]))
    assert shown.shape[1] > 2 * TILE
    assert len(sheet_of_maps([[np.random.default_rng(0).random((26, 26))] * 8])) < 40_000
