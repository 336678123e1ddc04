"""Wilson's interval worked out by hand; drawing groups again, and Student's t of a few repetitions,
against what they must hold.
"""

import numpy as np
import pytest

from core.intervals import (
    grouped_rate,
    mean_difference,
    mean_interval,
    t_bound,
    wilson_interval,
)


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


# Two-sided 95 % points of Student's t, as any table has them.
POINTS = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 10: 2.228, 30: 2.042}


@pytest.mark.parametrize(("freedom", "point"), POINTS.items())
def test_the_points_of_student_s_t_are_those_of_the_tables(freedom: int, point: float):
    assert t_bound(freedom) == pytest.approx(point, abs=6e-4)


def test_with_many_degrees_of_freedom_t_is_the_normal_s():
    assert t_bound(2000) == pytest.approx(1.959964, abs=2e-3)
    with pytest.raises(ValueError, match="0 degrees of freedom; at least 1 is needed"):
        t_bound(0)


def test_a_mean_of_three_has_the_interval_that_a_hand_computes():
    found = mean_interval([0.5, 0.6, 0.7])
    assert found.value == pytest.approx(0.6)
    assert found.high - found.value == pytest.approx(4.3027 * 0.1 / 3**0.5, rel=1e-4)
    assert found.low == pytest.approx(2 * found.value - found.high)
    with pytest.raises(ValueError, match="1 values; an interval needs at least 2"):
        mean_interval([0.5])


@pytest.mark.parametrize("n", [2, 3, 5])
def test_nineteen_of_twenty_intervals_hold_the_mean_of_normal_values(n: int):
    """Of 4,000 samples 95 % within four standard errors, 1.4 %."""
    draws = np.random.default_rng(n).normal(0.7, 0.02, (4000, n))
    found = [mean_interval(row.tolist()) for row in draws]
    held = np.mean([one.low <= 0.7 <= one.high for one in found])
    assert held == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / 4000) ** 0.5)


@pytest.mark.parametrize("paired", [True, False])
def test_a_difference_that_is_none_is_taken_for_one_in_a_twentieth_of_cases(paired: bool):
    """What a seed brings to both hides nothing in pairs; Welch's interval may hold more often."""
    rng, noise = np.random.default_rng(0), 0
    for _ in range(2000):
        seeds, spreads = rng.normal(0, 0.1, 4), (0.01, 0.03)
        one, other = (seeds * paired + rng.normal(0.5, spread, 4) for spread in spreads)
        numbers = range(4) if paired else range(4, 8)
        found = mean_difference(
            dict(enumerate(one.tolist())), dict(zip(numbers, other.tolist(), strict=True))
        )
        assert found is not None
        assert found.n_pairs == 4 * paired
        noise += found.may_be_noise
    low = 0.95 - 4 * (0.95 * 0.05 / 2000) ** 0.5
    assert low <= noise / 2000 <= (1.9 - low if paired else 0.98)


def test_pairs_tell_what_spreads_would_hide():
    one, other = {0: 0.50, 1: 0.60, 2: 0.70}, {0: 0.48, 1: 0.575, 2: 0.68}
    paired = mean_difference(one, other)
    apart = mean_difference(one, {seed + 5: value for seed, value in other.items()})
    assert paired is not None
    assert apart is not None
    assert paired.value == pytest.approx(apart.value)
    assert (paired.n_pairs, paired.may_be_noise) == (3, False)
    assert (apart.n_pairs, apart.may_be_noise) == (0, True)


def test_one_seed_tells_no_difference_and_neither_do_seeds_that_are_all_alike():
    assert mean_difference({0: 0.5}, {0: 0.6}) is None
    assert mean_difference({0: 0.5, 1: 0.5}, {2: 0.6}) is None
    same = mean_difference({0: 0.5, 1: 0.6}, {0: 0.4, 1: 0.5})
    flat = mean_difference({0: 0.5, 1: 0.5}, {2: 0.4, 3: 0.4})
    for found in (same, flat):
        assert found is not None
        assert found.value == pytest.approx(0.1)
        assert found.may_be_noise
