"""Pictures moved: against numpy's roll, and what falls off."""

import numpy as np
import pytest

from core.pictures.shifts import DIRECTIONS, SHIFTS, shifted


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("direction", list(DIRECTIONS))
def test_what_is_far_from_the_edge_moves_as_it_is(shift: int, direction: str):
    pictures = np.zeros((2, 28, 28), np.uint8)
    pictures[:, 6:20, 6:20] = np.random.default_rng(0).integers(0, 256, (2, 14, 14))
    rows, columns = (shift * step for step in DIRECTIONS[direction])
    assert np.array_equal(
        shifted(pictures, rows, columns), np.roll(pictures, (rows, columns), (1, 2))
    )


def test_what_is_moved_over_the_edge_is_lost_and_black_comes_in():
    picture = np.arange(1, 10, dtype=np.uint8).reshape(3, 3)
    assert shifted(picture, 1, 0).tolist() == [[0, 0, 0], [1, 2, 3], [4, 5, 6]]
    assert shifted(picture, 0, -2).tolist() == [[3, 0, 0], [6, 0, 0], [9, 0, 0]]
    assert not shifted(picture, 0, 5).any()
    assert picture[0, 0] == 1
