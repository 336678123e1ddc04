"""The exercise's formulas, digit by digit, and what they become for β → ∞."""

import math

import numpy as np
import pytest

from core.theory.exercise import head_failure, limit_failure, one_head_share, textbook_share
from core.theory.limit import LimitLaw, limit_law

A, B = np.eye(6)[0], np.eye(6)[1]
LONG = [0.5, 0, 0, 0, 0, 0]


def test_one_head_is_the_softmax_of_its_scores():
    for epsilon in (-1.0, 0.0, 1.0, 2.5):
        scores = np.exp([3 * epsilon, 3, 0, 0, 0, 0])
        share = float(one_head_share(epsilon, beta=3, n_keys=6))
        assert share == pytest.approx(scores[0] / scores.sum(), rel=1e-14)


def test_the_textbook_leaves_out_the_other_keys():
    epsilon = np.linspace(-1, 3, 9)
    np.testing.assert_allclose(
        textbook_share(epsilon, beta=5), one_head_share(epsilon, beta=5, n_keys=2)
    )
    assert (textbook_share(epsilon, beta=5) > one_head_share(epsilon, beta=5, n_keys=6)).all()


def test_a_huge_scale_does_not_overflow():
    shares = one_head_share(np.array([0.5, 1.0, 1.5]), beta=1e6, n_keys=6)
    assert shares.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(("beta", "expected"), [(5, 0.169), (10, 0.118), (50, 0.086)])
def test_the_head_on_the_long_key_fails_as_often_as_the_issue_says(beta: float, expected: float):
    assert round(head_failure(beta=beta, radial_variance=0.5, n_keys=6), 3) == expected


def test_the_failure_tends_to_its_limit():
    assert round(limit_failure(0.5), 3) == 0.079
    assert head_failure(beta=1e6, radial_variance=0.5, n_keys=6) == pytest.approx(
        limit_failure(0.5), abs=1e-5
    )


def test_a_key_that_stands_still_fails_only_below_ln_of_the_others():
    assert limit_failure(0) == 0
    assert head_failure(beta=math.log(5) + 0.01, radial_variance=0, n_keys=6) == 0
    assert head_failure(beta=math.log(5) - 0.01, radial_variance=0, n_keys=6) == 1


def test_one_head_becomes_a_coin_flip():
    law = limit(np.array([A + B]))
    assert law.shares.tolist() == [0, 1]
    np.testing.assert_allclose(law.probabilities, 0.5)
    assert (law.mean, law.variance, law.p_off_center()) == (0.5, 0.25, 1.0)


def test_of_two_heads_only_the_one_on_the_long_key_fails():
    law = limit(np.array([A, B]))
    assert law.shares.tolist() == [0, 0.5]
    assert law.probabilities[0] == pytest.approx(limit_failure(0.5))


def test_without_a_long_key_one_head_divides_its_weight():
    law = limit_law(np.array([A + B]), np.ones(6), np.zeros(6))
    assert law is not None
    assert (law.shares.tolist(), law.probabilities.tolist()) == ([0.5], [1.0])


def test_two_long_keys_have_no_simple_limit():
    assert limit_law(np.array([A + B]), np.ones(6), [0.5, 0.5, 0, 0, 0, 0]) is None


def limit(coefficients: np.ndarray) -> LimitLaw:
    law = limit_law(coefficients, np.ones(6), LONG)
    assert law is not None
    return law
