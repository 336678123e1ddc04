"""The exercise's own formula: key a's length ε ~ N(1, ρ) varies, all else stands still (α = 0)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.theory.normal import sigmoid

Array = NDArray[np.float64]


def textbook_share(epsilon: ArrayLike, *, beta: float) -> Array:
    """Weight on a of one head q = β(μ_a + μ_b), without the other n − 2 keys: σ(β(ε − 1))."""
    return sigmoid(beta * (np.asarray(epsilon, dtype=float) - 1.0))
