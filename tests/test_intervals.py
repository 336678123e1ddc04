"""Wilson's interval worked out by hand; drawing groups again against what it must hold."""

import numpy as np
import pytest

from core.intervals import grouped_rate, wilson_interval


@pytest.mark.parametrize("total", [1, 7, 83, 300])
def test_of_none_and_of_all_the_interval_ends_at_the_share_exactly(total: int):
    assert wilson_interval(0, total)[0] == 0.0
    assert wilson_interval(total, total)[1] == 1.0


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


def test_the_rate_is_of_all_parts_and_its_interval_holds_it():
    found = grouped_rate([1, 0, 3, 2], [10, 10, 20, 10], ["a", "b", "c", "d"], seed=0)
    assert found.value == 6 / 50
    assert 0 <= found.low < found.value < found.high <= 3 / 20 + 0.05


def test_the_same_seed_draws_the_same_interval_and_another_another():
    given = [1, 0, 3, 2, 5, 9, 4, 7], [31, 24, 17, 28, 41, 33, 19, 22], range(8)
    assert grouped_rate(*given, seed=1) == grouped_rate(*given, seed=1)
    assert grouped_rate(*given, seed=1) != grouped_rate(*given, seed=2)


def test_saying_everything_four_times_makes_nothing_surer_once_it_is_grouped():
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 10, 50).tolist()
    once = grouped_rate(parts, [30] * 50, range(50), seed=0)
    grouped = grouped_rate(parts * 4, [30] * 200, [*range(50)] * 4, seed=0)
    apart = grouped_rate(parts * 4, [30] * 200, range(200), seed=0)
    assert grouped.low == pytest.approx(once.low, rel=1e-12)
    assert grouped.high == pytest.approx(once.high, rel=1e-12)
    assert apart.high - apart.low < 0.6 * (once.high - once.low)


def test_about_nineteen_of_twenty_intervals_hold_the_rate_of_all_people():
    """400 samples of 60 people, four sentences each, errors alike within a person."""
    rng, held = np.random.default_rng(0), 0
    for seed in range(400):
        person = rng.gamma(2, 2, 60)  # errors a sentence, 4 on average
        parts = rng.poisson(np.repeat(person, 4))
        found = grouped_rate(parts.tolist(), [40] * 240, [i // 4 for i in range(240)], seed=seed)
        held += found.low <= 0.1 <= found.high
    assert 0.90 <= held / 400 <= 0.98


@pytest.mark.parametrize("groups", [[], ["one", "one", "one"]])
def test_fewer_than_two_groups_have_no_interval(groups: list[str]):
    with pytest.raises(ValueError, match=f"{len(set(groups))} groups; an interval needs at least"):
        grouped_rate([1] * len(groups), [2] * len(groups), groups, seed=0)
