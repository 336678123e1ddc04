"""The exercise's own formulas: key a's length ε ~ N(1, ρ) varies, all else stands still (α = 0).

One head q = β(μ_a + μ_b) sees scores βε, β and n − 2 zeros; the head βμ_a sees βε and n − 1 zeros.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.theory.normal import cdf, sigmoid

Array = NDArray[np.float64]


def one_head_share(epsilon: ArrayLike, *, beta: float, n_keys: int) -> Array:
    """Weight on a of one head: σ(βε − ln(e^β + n − 2))."""
    others = beta + math.log1p((n_keys - 2) * math.exp(-beta))
    return sigmoid(beta * np.asarray(epsilon, dtype=float) - others)


def textbook_share(epsilon: ArrayLike, *, beta: float) -> Array:
    """The same without the other n − 2 keys: σ(β(ε − 1))."""
    return sigmoid(beta * (np.asarray(epsilon, dtype=float) - 1.0))


def head_failure(*, beta: float, radial_variance: float, n_keys: int) -> float:
    """P(the head βμ_a puts less than ½ on a) = Φ((ln(n − 1)/β − 1)/√ρ)."""
    edge = math.log(n_keys - 1) / beta - 1.0
    if radial_variance == 0:
        return float(edge > 0)
    return float(cdf(edge / math.sqrt(radial_variance)))


def limit_failure(radial_variance: float) -> float:
    """The same for β → ∞: Φ(−1/√ρ), the probability that the key points away from its mean."""
    return 0.0 if radial_variance == 0 else float(cdf(-1.0 / math.sqrt(radial_variance)))
