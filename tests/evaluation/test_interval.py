"""The Wilson interval at values worked out by hand."""

import pytest

from core.evaluation.interval import wilson_interval


@pytest.mark.parametrize(
    ("correct", "total", "low", "high"),
    [
        # centre (p + z²/2n) / (1 + z²/n), z = 1.96; at p = 0 the upper end is z² / (n + z²)
        (5, 10, 0.23659, 0.76341),
        (0, 10, 0.0, 0.27754),
        (10, 10, 0.72246, 1.0),
        (90, 100, 0.82563, 0.94477),
    ],
)
def test_the_wilson_interval_has_its_hand_computed_ends(
    correct: int, total: int, low: float, high: float
):
    assert wilson_interval(correct, total) == pytest.approx((low, high), abs=1e-5)


def test_a_narrower_confidence_gives_a_narrower_interval():
    low, high = wilson_interval(5, 10, z=1.0)
    assert (low, high) == pytest.approx((0.5 - 0.5 / 11**0.5, 0.5 + 0.5 / 11**0.5))


@pytest.mark.parametrize(("correct", "total"), [(1, 0), (0, 0), (3, 2), (-1, 4)])
def test_impossible_counts_have_no_interval(correct: int, total: int):
    with pytest.raises(ValueError, match=f"{correct} of {total}: needs 0 <= correct <= total"):
        wilson_interval(correct, total)
