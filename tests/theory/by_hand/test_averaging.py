"""Averaging two values, against explicit keys and queries."""

import math

import numpy as np
import pytest

from core.theory.by_hand.averaging import average


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()


@pytest.mark.parametrize("lengths", [(1.0, 1.0), (0.5, 2.0), (1.5, 1.4)])
def test_the_balanced_query_is_proportional_to_the_textbook_one(lengths: tuple[float, float]):
    a, b = lengths
    found = average(9.0, norm_a=a, norm_b=b, n_keys=5)
    keys = np.diag([a, b, 1, 1, 1])
    scores = keys @ (b**2 * keys[0] + a**2 * keys[1])
    assert found.coefficients == (b**2, a**2)
    np.testing.assert_allclose(found.balanced_scores, scores * 9.0 / (a * b) ** 2, atol=1e-9)
    np.testing.assert_allclose(found.balanced_weights, softmax(found.balanced_scores), rtol=1e-9)
    assert found.balanced_weights[0] == pytest.approx(found.balanced_weights[1])
    assert all(check.holds for check in found.checks)


def test_the_plain_sum_averages_equal_lengths_only():
    equal, unequal = average(9.0), average(9.0, norm_b=1.5)
    np.testing.assert_allclose(equal.plain_weights, equal.balanced_weights)
    assert unequal.plain_weights[0] == pytest.approx(math.exp(-9 * 1.25), rel=0.01)
    assert unequal.plain_weights[1] > 0.99


def test_the_miss_of_the_average_is_the_closed_form_even_when_it_is_large():
    found = average(0.5, n_keys=12)
    assert 0.5 - found.balanced_weights[0] == pytest.approx(10 / (2 * (2 * math.exp(0.5) + 10)))
    assert [check.verdict for check in found.checks] == ["holds"] * 3 + ["far"] * 2


def test_keys_that_are_not_orthogonal_break_the_balance_by_the_stated_difference():
    found = average(5.0, norm_a=1.5, norm_b=0.8, cosine=0.3)
    verdicts = [check.verdict for check in found.checks]
    assert verdicts == ["holds", "fails", "holds", "fails", "fails"]
    assert found.checks[1].value == pytest.approx(5 * 0.36 * (0.8**-2 - 1.5**-2))
    assert found.checks[3].limit == 1


def test_keys_of_equal_length_are_balanced_at_any_angle():
    found = average(9.0, norm_a=1.5, norm_b=1.5, cosine=0.3)
    assert all(check.holds for check in found.checks)


def test_keys_that_point_apart_leave_the_longer_one_without_weight():
    found = average(50.0, norm_a=0.5, norm_b=2.0, cosine=-0.9)
    assert found.balanced_weights[0] == pytest.approx(1)
    assert found.balanced_weights[1] < 1e-9


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"norm_a": 0.0}, "length of key a = 0: a number from 0.01"),
        ({"norm_b": math.nan}, "length of key b = nan"),
        ({"cosine": 1.0}, "cosine between keys a and b = 1: a number from -0.99"),
        ({"n_keys": 1}, "number of keys = 1: a number from 2 to 12"),
        ({"n_keys": 13}, "number of keys = 13: a number from 2 to 12"),
    ],
)
def test_an_impossible_setting_is_named(change: dict[str, float], reason: str):
    with pytest.raises(ValueError, match=reason):
        average(1.0, **change)  # pyright: ignore[reportArgumentType]
