"""The standard normal law on arrays."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
FARTHEST = 39.0  # beyond it a density underflows: no double sees more


def density(z: ArrayLike) -> Array:
    """φ(z) = exp(−z²/2) / √(2π)."""
    z = np.asarray(z, dtype=float)
    return np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)


def cdf(z: ArrayLike) -> Array:
    """Φ(z), with its full relative precision in the lower tail; ±inf are allowed."""
    z = np.asarray(z, dtype=float)
    halves = [0.5 * math.erfc(-value / math.sqrt(2)) for value in z.ravel().tolist()]
    return np.array(halves).reshape(z.shape)


def log_sum_exp(scores: Array, axis: int = -1) -> Array:
    """Log of Σ exp(scores) along an axis, without overflow; minus infinity for an empty one."""
    if not scores.shape[axis]:
        return np.full(np.delete(scores.shape, axis), -np.inf)
    top = scores.max(axis, keepdims=True)
    return (top + np.log(np.exp(scores - top).sum(axis, keepdims=True))).squeeze(axis)


def sigmoid(x: ArrayLike) -> Array:
    """1 / (1 + e^−x), without overflow."""
    x = np.asarray(x, dtype=float)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)
