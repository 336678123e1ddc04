"""Digits drawn by Pillow: the same by seed, and told apart by what is in them."""

import numpy as np
import pytest

from core.pictures.drawn import DIGITS, MOST_DRAWN, drawn_digits


def test_the_same_seed_draws_the_same_pictures():
    first, second = drawn_digits(60, 20, 30, seed=4), drawn_digits(60, 20, 30, seed=4)
    assert first.digest == second.digest
    assert drawn_digits(60, 20, 30, seed=5).digest != first.digest
    assert [len(split) for split in (first.train, first.validation, first.test)] == [60, 20, 30]
    assert first.train.pictures.dtype == np.uint8
    assert first.train.labels.dtype == np.int64


def test_more_pictures_to_test_leave_those_to_train_as_they_are():
    few, more = drawn_digits(40, 10, 10), drawn_digits(40, 10, 90)
    assert np.array_equal(few.train.pictures, more.train.pictures)
    assert np.array_equal(few.validation.labels, more.validation.labels)


def test_each_digit_is_drawn_as_often_as_any_other():
    counts = np.bincount(drawn_digits(205, 10, 10).train.labels)
    assert len(counts) == len(DIGITS)
    assert counts.max() - counts.min() <= 1


def test_every_picture_shows_something_white_on_black_with_nothing_at_its_border():
    pictures = drawn_digits(500, 1, 1).train.pictures
    assert pictures.max(axis=(1, 2)).min() > 200
    assert np.median(pictures, axis=(1, 2)).max() < 30
    border = np.concatenate([pictures[:, 0], pictures[:, -1], pictures[:, :, 0], pictures[..., -1]])
    assert (border > 128).mean() < 0.005


def test_the_nearest_mean_picture_tells_most_digits():
    """Far from chance, and far from all: they are shifted, turned and thickened."""
    drawn = drawn_digits(1_000, 1, 300)
    seen, asked = (
        split.pictures.reshape(len(split), -1) / 255 for split in (drawn.train, drawn.test)
    )
    means = np.stack([seen[drawn.train.labels == digit].mean(axis=0) for digit in range(10)])
    distances = ((asked[:, None] - means) ** 2).sum(axis=2)
    right = (distances.argmin(axis=1) == drawn.test.labels).mean()
    assert 0.4 < right < 0.95


@pytest.mark.parametrize("counts", [(0, 1, 1), (1, -1, 1), (MOST_DRAWN, 1, 1)])
def test_too_few_or_too_many_are_refused(counts: tuple[int, int, int]):
    with pytest.raises(
        ValueError, match="each part needs at least 1, all together at most 200,000"
    ):
        drawn_digits(*counts)
