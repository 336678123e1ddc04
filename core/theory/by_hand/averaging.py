"""A query that averages two values, with keys of equal and of unequal length.

    plain     q = β (k_a + k_b)                      α_a/α_b = exp(β (‖k_a‖² − ‖k_b‖²))
    balanced  q = β (‖k_b‖² k_a + ‖k_a‖² k_b) / (‖k_a‖² ‖k_b‖²)

For k_a ⟂ k_b both keys have the score β under the balanced query; otherwise their scores are
β (1 + k_aᵀk_b/‖k_b‖²) and β (1 + k_aᵀk_b/‖k_a‖²), equal only if the lengths are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.theory.by_hand.check import Check, check_range, distance
from core.theory.by_hand.weights import MOST_BETA, MOST_KEYS, limit_weights, log_weights

Array = NDArray[np.float64]
LEAST_NORM, MOST_NORM, MOST_COSINE = 0.01, 100.0, 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """Two queries for ½(v_a + v_b): the plain sum of keys and the balanced one, ∝ `coefficients`.

    Keys 0 and 1 are a and b, the others have length 1; scores, weights and `wanted` (n,).
    """

    coefficients: tuple[float, float]
    plain_scores: Array
    plain_weights: Array
    balanced_scores: Array
    balanced_weights: Array
    wanted: Array
    checks: tuple[Check, ...]


def average(
    beta: float, *, norm_a: float = 1.0, norm_b: float = 1.0, cosine: float = 0.0, n_keys: int = 6
) -> Average:
    """Both queries on n keys, all at right angles but a and b, whose cosine is given."""
    _check_settings(beta, norm_a, norm_b, cosine, n_keys)
    keys = np.eye(n_keys)
    keys[0] *= norm_a
    keys[1, :2] = norm_b * cosine, norm_b * np.sqrt(1 - cosine**2)
    plain = keys @ (keys[0] + keys[1])
    balanced = keys @ (keys[0] / norm_a**2 + keys[1] / norm_b**2)
    wanted = np.where(np.arange(n_keys) < 2, 0.5, 0.0)
    weights = np.exp(log_weights(beta * balanced))
    return Average(
        coefficients=(norm_b**2, norm_a**2),
        plain_scores=beta * plain,
        plain_weights=np.exp(log_weights(beta * plain)),
        balanced_scores=beta * balanced,
        balanced_weights=weights,
        wanted=wanted,
        checks=(
            *_difference_checks(beta, norm_a, norm_b, plain, balanced),
            _miss(beta, weights) if cosine == 0 else _tilt(beta, keys, balanced),
            *_limit_checks(weights, limit_weights(balanced), wanted),
        ),
    )


def _check_settings(beta: float, norm_a: float, norm_b: float, cosine: float, n_keys: int) -> None:
    check_range("β", beta, 0, MOST_BETA)
    check_range("length of key a", norm_a, LEAST_NORM, MOST_NORM)
    check_range("length of key b", norm_b, LEAST_NORM, MOST_NORM)
    check_range("cosine between keys a and b", cosine, -MOST_COSINE, MOST_COSINE)
    check_range("number of keys", n_keys, 2, MOST_KEYS)


def _difference_checks(
    beta: float, norm_a: float, norm_b: float, plain: Array, balanced: Array
) -> tuple[Check, Check]:
    logs = log_weights(beta * plain)
    return (
        Check(
            r"plain: $\ln(\alpha_a/\alpha_b) = \beta(\lVert k_a\rVert^2-\lVert k_b\rVert^2)$",
            float(logs[0] - logs[1]),
            beta * (norm_a**2 - norm_b**2),
            scale=_size(beta, plain),
        ),
        Check(
            r"balanced: $k_a^\top q - k_b^\top q = 0$",
            beta * float(balanced[0] - balanced[1]),
            0.0,
            scale=_size(beta, balanced),
        ),
    )


def _miss(beta: float, weights: Array) -> Check:
    others = (len(weights) - 2) * np.exp(-beta)
    return Check(
        r"balanced: $\frac12-\alpha_a = \frac{n-2}{2(2e^\beta+n-2)}$",
        0.5 - float(weights[0]),
        float(others / (2 * (2 + others))),
    )


def _tilt(beta: float, keys: Array, balanced: Array) -> Check:
    inner, square_a, square_b = keys[0] @ keys[1], keys[0] @ keys[0], keys[1] @ keys[1]
    return Check(
        r"that is $\beta\,k_a^\top k_b\,(\lVert k_b\rVert^{-2}-\lVert k_a\rVert^{-2})$",
        beta * float(balanced[0] - balanced[1]),
        beta * float(inner * (1 / square_b - 1 / square_a)),
        scale=_size(beta, balanced),
    )


def _limit_checks(weights: Array, limit: Array, wanted: Array) -> tuple[Check, Check]:
    return (
        Check(
            r"balanced: $\alpha_a \to \frac12$",
            float(weights[0]),
            0.5,
            relation="→",
            limit=float(limit[0]),
        ),
        Check(
            r"$\lVert c - \frac12(v_a+v_b)\rVert \to 0$",
            distance(weights, wanted),
            0.0,
            relation="→",
            limit=distance(limit, wanted),
        ),
    )


def _size(beta: float, scores: Array) -> float:
    return max(1.0, beta * float(np.abs(scores).max()))
