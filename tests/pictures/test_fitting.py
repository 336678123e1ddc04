"""Pictures laid out as MNIST's digits are: box, centre of mass, white on black."""

import numpy as np
import pytest

from core.pictures.fitting import BOX, fitted


def bar(height: int, width: int, *, inside: tuple[int, int] = (100, 120)) -> np.ndarray:
    """A white bar somewhere on black."""
    grey = np.zeros(inside, np.uint8)
    grey[11 : 11 + height, 37 : 37 + width] = 255
    return grey


@pytest.mark.parametrize(("height", "width"), [(60, 12), (12, 60), (40, 40), (3, 5), (80, 1)])
def test_the_longer_side_fills_the_box(height: int, width: int):
    rows, columns = np.nonzero(fitted(bar(height, width)) > 127)
    sides = (np.ptp(rows) + 1, np.ptp(columns) + 1)
    assert max(sides) == BOX
    assert min(sides) == max(1, round(min(height, width) / max(height, width) * BOX))


def test_the_centre_of_mass_comes_to_the_middle():
    grey = bar(60, 12)
    grey[61:71, 37:67] = 255  # an L: its mass lies low and left
    picture = fitted(grey).astype(float)
    for axis in (0, 1):
        masses = picture.sum(axis=axis)
        assert abs(masses @ np.arange(28) / masses.sum() - 13.5) <= 0.6


def test_dark_on_light_is_the_same_as_light_on_dark():
    assert np.array_equal(fitted(bar(60, 12)), fitted(255 - bar(60, 12)))


def test_faint_strokes_on_grey_paper_become_white_on_black():
    faint = 120 - bar(60, 12) // 6
    assert np.array_equal(fitted(faint), fitted(bar(60, 12)))
    grain = np.random.default_rng(0).integers(-4, 5, faint.shape)
    grained = fitted((faint + grain).astype(np.uint8))
    assert (grained > 127).sum() == (fitted(bar(60, 12)) > 127).sum()


def test_a_heavy_side_never_pushes_the_box_out_of_the_picture():
    grey = np.zeros((64, 64), np.uint8)
    grey[5:55, 5:6] = 255
    grey[54, 5:55] = 90  # over half of what stands out, so it belongs to the box
    grey[5:55, 5:30] = 255
    assert fitted(grey).shape == (28, 28)


@pytest.mark.parametrize("value", [0, 77, 255])
def test_a_picture_of_one_grey_is_refused(value: int):
    with pytest.raises(ValueError, match="nothing stands out in the picture: draw light on dark"):
        fitted(np.full((50, 50), value, np.uint8))
