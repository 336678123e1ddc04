"""Weights of a few keys as a categorical distribution.

    α_i = exp(k_iᵀ q) / Σ_j exp(k_jᵀ q),   c = Σ_i α_i v_i        (no 1/√d here: β plays its part)

Every example returns its numbers with a `Check` of each claim. Where values matter on this page
they are orthonormal, so that c has the coordinates α and distances are exact.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.theory.by_hand.check import ROUNDING, Check, check_range

Array = NDArray[np.float64]
MOST_KEYS, MOST_BETA = 12, 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Categorical:
    """Weights (n,) as a distribution over keys; entropy in nats and the greatest there is, ln n."""

    weights: Array
    entropy: float
    most_entropy: float
    checks: tuple[Check, ...]

    @property
    def effective_keys(self) -> float:
        """exp(entropy): 1 for a peak, n for uniform."""
        return float(np.exp(self.entropy))


def categorical(scores: Array, beta: float) -> Categorical:
    """α = softmax(β · scores), scores (n,): diffuse at β = 0, peaked as β grows."""
    check_range("β", beta, 0, MOST_BETA)
    check_range("number of keys", len(scores), 1, MOST_KEYS)
    logs = log_weights(beta * scores)
    weights = np.exp(logs)
    limit = float(limit_weights(scores).max())
    ties = round(1 / limit)
    share = f"1/{ties}" if ties > 1 else "1"
    spread = beta * float(np.ptp(scores))
    return Categorical(
        weights=weights,
        entropy=-float((weights * logs).sum()),
        most_entropy=float(np.log(len(scores))),
        checks=(
            Check(r"every $\alpha_i \ge 0$: the least", float(weights.min()), 0.0, relation="≥"),
            Check(r"$\sum_i \alpha_i = 1$", float(weights.sum()), 1.0),
            Check(
                r"$\ln\frac{\max\alpha}{\min\alpha} = \beta\,(\max s - \min s)$",
                float(np.ptp(logs)),
                spread,
                scale=max(1.0, spread),
            ),
            Check(
                rf"peaked: $\max_i \alpha_i \to {share}$ as $\beta$ grows",
                float(weights.max()),
                limit,
                relation="→",
            ),
        ),
    )


def log_weights(scores: Array) -> Array:
    """Logarithm of softmax over the last axis, without overflow: s − max − ln Σ exp(s − max)."""
    shifted = scores - scores.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def limit_weights(scores: Array) -> Array:
    """Weights for β → ∞ over the last axis: the greatest scores share equally, up to rounding."""
    size = np.abs(scores).max(-1, keepdims=True)
    greatest = scores >= scores.max(-1, keepdims=True) - ROUNDING * size
    return greatest / greatest.sum(-1, keepdims=True)


def weight_curves(scores: Array, most_beta: float) -> tuple[Array, Array]:
    """61 values of β from 0 to the greatest, and the weights (61, n) of scores (n,) there."""
    betas = np.linspace(0, most_beta, 61)
    return betas, np.exp(log_weights(betas[:, None] * scores))
