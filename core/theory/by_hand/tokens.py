"""Self-attention on three tokens, x₁ = u_d + u_b, x₂ = u_a, x₃ = u_c + u_b, with ‖u‖² = β².

The four u are orthogonal. Everything is held in multiples of u (coordinates in a, b, c, d), where
u_x u_yᵀ/β² is a matrix with a single 1 and a score is β² times a product of coordinates:

    q_i = Q x_i, k_j = K x_j, v_j = V x_j,   α_i = softmax_j(q_iᵀ k_j),   c_i = Σ_j α_ij v_j

Distances are in multiples of ‖u‖ = β too: multiply by β for the plain norm.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.theory.by_hand.check import check_range
from core.theory.by_hand.weights import log_weights

Array = NDArray[np.float64]
LEAST_BETA, MOST_BETA = 0.01, 20.0
INPUTS = np.array([[0.0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]])
UNIT_A, UNIT_B, UNIT_C, UNIT_D = np.eye(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfAttention:
    """Rows are tokens: queries, keys, values, outputs (3, 4) in multiples of u.

    Scores (3, 3) are in multiples of β², weights (3, 3) are softmax(β² · scores).
    """

    queries: Array
    keys: Array
    values: Array
    scores: Array
    weights: Array
    outputs: Array


def self_attention(
    beta: float, value: Array, key: Array, query: Array, inputs: Array = INPUTS
) -> SelfAttention:
    """Attention of 3 tokens (3, 4) under matrices (4, 4), no mask, no 1/√d. Cost: trivial."""
    check_range("β", beta, LEAST_BETA, MOST_BETA)
    queries, keys, values = inputs @ query.T, inputs @ key.T, inputs @ value.T
    scores = queries @ keys.T
    weights = np.exp(log_weights(beta**2 * scores))
    return SelfAttention(
        queries=queries,
        keys=keys,
        values=values,
        scores=scores,
        weights=weights,
        outputs=weights @ values,
    )


def weight_elsewhere(beta: float) -> float:
    """1/(e^{β²} + 2) without overflow: each weight that is not on the one key with score β²."""
    small = np.exp(-(beta**2))
    return float(small / (1 + 2 * small))
