"""Self-attention on three tokens, against explicit vectors of norm β in a larger space."""

import math

import numpy as np
import pytest

from core.theory.by_hand.design import DESIGNED_KEY, DESIGNED_QUERY, DESIGNED_VALUE
from core.theory.by_hand.tokens import INPUTS, self_attention, weight_elsewhere

EYE = np.eye(4)


def explicit(beta: float, value: np.ndarray, query: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The outputs (3, 4) along u_a … u_d from vectors of ℝ⁷, with loops over the tokens."""
    units = beta * np.linalg.qr(np.random.default_rng(3).normal(size=(7, 7)))[0].T[:4]
    a, b, c, d = units
    tokens = [d + b, second @ units, c + b]
    large_value, large_query = (units.T @ small @ units / beta**2 for small in (value, query))
    outputs: list[np.ndarray] = []
    for token in tokens:
        raised = [math.exp(float((large_query @ token) @ other)) for other in tokens]
        parts = [
            weight / sum(raised) * (large_value @ other)
            for weight, other in zip(raised, tokens, strict=True)
        ]
        outputs.append(np.sum(parts, axis=0))
    return np.array([[x @ u / beta**2 for u in (a, b, c, d)] for x in outputs])


@pytest.mark.parametrize("beta", [0.7, 2.0, 3.0])
@pytest.mark.parametrize("second", [[1.0, 0, 0, 0], [1.0, 0, 0.4, -0.6]])
def test_coordinates_give_the_outputs_of_explicit_vectors(beta: float, second: list[float]):
    inputs = INPUTS.copy()
    inputs[1] = second
    for value, query in ((DESIGNED_VALUE, DESIGNED_QUERY), (EYE, EYE)):
        found = self_attention(beta, value, DESIGNED_KEY, query, inputs)
        expected = explicit(beta, value, query, np.array(second))
        np.testing.assert_allclose(found.outputs, expected, atol=1e-12)


def test_the_weights_are_the_softmax_of_the_scores_times_the_squared_norm():
    found = self_attention(1.5, EYE, EYE, EYE)
    np.testing.assert_array_equal(found.scores, [[2, 0, 1], [0, 1, 0], [1, 0, 2]])
    raised = np.exp(1.5**2 * found.scores)
    np.testing.assert_allclose(found.weights, raised / raised.sum(1, keepdims=True))


def test_the_weight_elsewhere_is_the_closed_form_and_does_not_overflow():
    assert weight_elsewhere(1.3) == pytest.approx(1 / (math.exp(1.69) + 2))
    assert weight_elsewhere(40.0) == 0


@pytest.mark.parametrize("beta", [0.0, -1.0, 21.0, math.nan])
def test_an_impossible_norm_is_named(beta: float):
    with pytest.raises(ValueError, match=r"β = .*: a number from 0\.01 to 20"):
        self_attention(beta, EYE, EYE, EYE)


def test_the_greatest_norm_does_not_overflow():
    found = self_attention(20.0, EYE, EYE, 1000 * EYE)
    assert np.isfinite(found.outputs).all()
    np.testing.assert_allclose(found.weights.sum(-1), 1)
