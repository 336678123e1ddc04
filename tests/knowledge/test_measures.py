"""AUROC, its interval and the calibration error against plain implementations."""

import numpy as np
import pytest

from core.knowledge.measures import auroc, best_head, calibration
from core.knowledge.record import Auroc


def pairs_in_order(read: list[float], never: list[float]) -> float:
    """The definition: over all pairs 1 for the higher, a half for a tie."""
    wins = 0.0
    for one in read:
        for other in never:
            wins += 1.0 if one > other else 0.5 if one == other else 0.0
    return wins / (len(read) * len(never))


def plain_error(probabilities: list[float], right: list[bool]) -> float:
    error, n = 0.0, len(probabilities)
    for index in range(15):
        last = index == 14
        inside = [
            i
            for i, p in enumerate(probabilities)
            if index / 15 <= p and (p < (index + 1) / 15 or (last and p == 1.0))
        ]
        if inside:
            sure = sum(probabilities[i] for i in inside) / len(inside)
            accuracy = sum(right[i] for i in inside) / len(inside)
            error += len(inside) / n * abs(sure - accuracy)
    return error


def measured(read: object, never: object) -> Auroc:
    found = auroc(np.array(read, dtype=float), np.array(never, dtype=float))
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(4))
def test_auroc_is_the_share_of_pairs_in_order_ties_half(seed: int):
    generator = np.random.default_rng(seed)
    read = (generator.normal(0.7, 1, 60) * 2).round() / 2  # many ties
    never = (generator.normal(0, 1, 45) * 2).round() / 2
    expected = pairs_in_order(read.tolist(), never.tolist())
    assert measured(read, never).value == pytest.approx(expected, abs=1e-12)
    assert measured(never, read).value == pytest.approx(1 - expected, abs=1e-12)


def test_the_interval_is_about_that_of_a_bootstrap():
    generator = np.random.default_rng(1)
    read, never = generator.normal(0.8, 1, 200), generator.normal(0, 1, 150)
    found = measured(read, never)
    drawn = [
        measured(generator.choice(read, 200), generator.choice(never, 150)).value
        for _ in range(600)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found.low < found.value < found.high
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.012)


def test_perfect_order_and_nothing_but_ties_have_an_interval_too():
    perfect = measured(range(10, 30), range(8))
    assert (perfect.value, perfect.high) == (1, 1)
    assert 0.6 < perfect.low < 0.7  # eight of eight, by Wilson
    reversed_ = measured(range(8), range(10, 30))
    assert (reversed_.value, reversed_.low) == (0, 0)
    tied = measured([1.0] * 20, [1.0] * 10)
    assert tied.value == 0.5
    assert tied.low < 0.3 < 0.7 < tied.high


def test_values_that_are_no_number_do_not_count():
    with_gaps = measured([1, np.nan, 2, 3], [0, 1.5, np.nan])
    assert with_gaps == measured([1, 2, 3], [0, 1.5])
    assert auroc(np.array([1.0, np.nan]), np.array([0.0, 1.0])) is None


def test_the_best_head_is_measured_on_names_that_it_was_not_chosen_on():
    generator = np.random.default_rng(5)
    read, never = generator.normal(0, 1, (80, 2, 3)), generator.normal(0, 1, (60, 2, 3))
    read[:, 1, 2] -= 2  # less weight where it was read
    read[:, 0, 0] = np.nan
    found = best_head(read, never)
    assert found is not None
    at, best = found
    assert (at, best.note) == ((1, 2), "less weight means read")
    assert best.value > 0.85
    assert best_head(read, never) == found
    assert best_head(read, never, seed=1) != found


def test_without_any_signal_the_best_head_is_about_a_coin():
    values = []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        found = best_head(
            generator.normal(0, 1, (100, 4, 8)), generator.normal(0, 1, (100, 4, 8)), seed=seed
        )
        assert found is not None
        values.append(found[1].value)
    assert np.mean(values) == pytest.approx(0.5, abs=0.05)
    assert best_head(np.full((4, 1, 1), np.nan), np.full((4, 1, 1), np.nan)) is None


@pytest.mark.parametrize("seed", range(3))
def test_the_calibration_error_is_that_of_a_loop(seed: int):
    generator = np.random.default_rng(seed)
    probabilities = [*generator.random(200).tolist(), 0.0, 1.0, 1.0]
    right = (generator.random(203) < 0.6).tolist()
    bins, error = calibration(probabilities, right)
    assert error == pytest.approx(plain_error(probabilities, right), abs=1e-12)
    assert len(bins) == 15
    assert sum(row.n for row in bins) == 203
    assert sum(row.right for row in bins) == sum(right)
    assert all(row.low <= row.confidence <= row.high for row in bins if row.n)


def test_sure_and_right_is_no_error_sure_and_wrong_is_all():
    assert calibration([1.0, 1.0], [True, True])[1] == 0
    assert calibration([1.0, 1.0], [False, False])[1] == 1
    bins, error = calibration([], [])
    assert (error, {row.n for row in bins}, {row.confidence for row in bins}) == (0, {0}, {0})
