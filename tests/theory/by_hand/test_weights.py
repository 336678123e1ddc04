"""Weights as a distribution, against sums written from the formula."""

import math

import numpy as np
import pytest

from core.theory.by_hand.weights import categorical, limit_weights, log_weights, weight_curves

SCORES = [2.0, 1.0, 0.5, 0.0, -1.0]


def naive(scores: list[float]) -> list[float]:
    raised = [math.exp(score) for score in scores]
    return [each / sum(raised) for each in raised]


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0, 7.0])
def test_weights_equal_a_sum_written_from_the_formula(beta: float):
    found = categorical(np.array(SCORES), beta)
    weights = naive([beta * score for score in SCORES])
    np.testing.assert_allclose(found.weights, weights, rtol=1e-12)
    assert found.entropy == pytest.approx(-sum(w * math.log(w) for w in weights))


def test_weights_go_from_uniform_to_a_peak():
    diffuse, peaked = categorical(np.array(SCORES), 0.0), categorical(np.array(SCORES), 50.0)
    assert diffuse.effective_keys == pytest.approx(5)
    assert diffuse.entropy == pytest.approx(diffuse.most_entropy)
    assert peaked.effective_keys == pytest.approx(1)
    np.testing.assert_allclose(peaked.weights, [1, 0, 0, 0, 0], atol=1e-12)
    assert diffuse.checks[-1].verdict == "far"
    assert peaked.checks[-1].verdict == "near"


def test_two_equal_greatest_scores_share_the_limit():
    shared = categorical(np.array([1.0, 1.0, 0.0]), 30.0).checks[-1]
    assert shared.claimed == 0.5
    assert shared.holds
    assert r"\to 1/2$" in shared.claim


@pytest.mark.parametrize("beta", [0.0, 0.1, 1.0, 12.0, 1e6])
def test_the_equations_hold_at_every_length_of_the_query(beta: float):
    assert all(check.holds for check in categorical(np.array(SCORES), beta).checks[:3])


def test_the_limit_is_taken_row_by_row_and_ties_are_those_up_to_rounding():
    scores = np.array([[1.0, 0.3 - 0.1 - 0.2, 0.0], [0.1 + 0.2, 0.3, 0.0], [0.0, 0.0, 0.0]])
    expected = [[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3]
    np.testing.assert_allclose(limit_weights(scores), expected, rtol=1e-15)
    np.testing.assert_array_equal(limit_weights(np.array([1e-12, 0.0])), [1, 0])


def test_a_curve_starts_uniform_and_passes_through_the_weights():
    betas, weights = weight_curves(np.array(SCORES), 12.0)
    assert (betas[0], betas[5], betas[-1]) == (0, 1, 12)
    np.testing.assert_allclose(weights[0], 0.2)
    np.testing.assert_allclose(weights[5], naive(SCORES), rtol=1e-12)


def test_huge_scores_do_not_overflow():
    logs = log_weights(np.array([1e9, 0.0, -1e9]))
    np.testing.assert_allclose(logs, [0, -1e9, -2e9])


@pytest.mark.parametrize("beta", [-1.0, math.nan, math.inf])
def test_an_impossible_length_is_named(beta: float):
    with pytest.raises(ValueError, match=r"β = .*: a number from 0 to 1e\+06"):
        categorical(np.array([1.0, 0.0]), beta)


@pytest.mark.parametrize("n", [0, 13])
def test_too_few_or_too_many_keys_are_refused(n: int):
    with pytest.raises(ValueError, match=f"number of keys = {n}: a number from 1 to 12"):
        categorical(np.zeros(n), 1.0)
