"""Student's t against tables, and against draws."""

import numpy as np
import pytest

from core.theory.student import student


@pytest.mark.parametrize(
    ("freedom", "expected"), [(1, 12.706), (4, 2.776), (10, 2.228), (11, 2.201), (30, 2.042)]
)
def test_the_quantile_is_that_of_tables(freedom: int, expected: float):
    assert student(freedom) == pytest.approx(expected, abs=3e-3)


def test_intervals_of_five_draws_hold_the_mean_95_times_of_100():
    draws = np.random.default_rng(0).normal(3.0, 2.0, (20_000, 5))
    half = student(4) * draws.std(1, ddof=1) / 5**0.5
    held = np.abs(draws.mean(1) - 3.0) <= half
    assert held.mean() == pytest.approx(0.95, abs=4 * (0.05 * 0.95 / 20_000) ** 0.5)
