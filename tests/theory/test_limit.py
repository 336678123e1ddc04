"""The exercise's formula, and what the law of the share becomes for β → ∞."""

import math

import numpy as np
import pytest

from core.theory.limit import LimitLaw, limit_law, textbook_share

A, B = np.eye(6)[0], np.eye(6)[1]
LONG = [0.5, 0, 0, 0, 0, 0]


def test_the_textbook_is_the_softmax_of_two_scores_without_the_other_keys():
    for epsilon in (-1.0, 0.0, 1.0, 2.5):
        scores = np.exp([3 * epsilon, 3, 0, 0, 0, 0])
        share = float(textbook_share(epsilon, beta=3))
        assert share == pytest.approx(scores[0] / scores[:2].sum(), rel=1e-14)
        assert share > scores[0] / scores.sum()


def test_a_huge_scale_does_not_overflow():
    shares = textbook_share(np.array([0.5, 1.0, 1.5]), beta=1e6)
    assert shares.tolist() == [0.0, 0.5, 1.0]


def test_one_head_becomes_a_coin_flip():
    law = limit(np.array([A + B]))
    assert law.shares.tolist() == [0, 1]
    np.testing.assert_allclose(law.probabilities, 0.5)
    assert (law.mean, law.variance, law.p_off_center()) == (0.5, 0.25, 1.0)


def test_of_two_heads_only_the_one_on_the_long_key_fails():
    law = limit(np.array([A, B]))
    assert law.shares.tolist() == [0, 0.5]
    away = 0.5 * math.erfc(1 / math.sqrt(2 * 0.5))  # Φ(−1/√ρ): the key points away from its mean
    assert law.probabilities[0] == pytest.approx(away)


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
