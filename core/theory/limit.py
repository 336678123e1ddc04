"""β → ∞: softmax becomes the choice of the largest score, and the share takes a few values.

Where one key's length ε ~ N(1, ρ) varies, head h prefers the long key j on one side of
ε = (largest other score) / slope, both taken per unit of β; equal scores share the weight.
One head: a coin flip between v_a and v_b. Two heads: the one on the long key fails for ε < 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.theory.normal import cdf, sigmoid

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LimitLaw:
    """The values of the share on a and their probabilities."""

    shares: Array
    probabilities: Array

    @property
    def mean(self) -> float:
        return float(self.shares @ self.probabilities)

    @property
    def variance(self) -> float:
        return float((self.shares - self.mean) ** 2 @ self.probabilities)

    def p_off_center(self, t: float = 0.4) -> float:
        """P(|share − ½| > t)."""
        return float(self.probabilities[np.abs(self.shares - 0.5) > t].sum())


def limit_law(
    coefficients: Array,
    key_norms: Sequence[float] | Array,
    radial_variances: Sequence[float] | Array,
) -> LimitLaw | None:
    """For C (H, n), coefficients on the means; None where several long keys are looked at."""
    means = coefficients * np.asarray(key_norms, dtype=float) ** 2  # scores per unit of β
    variances = np.asarray(radial_variances, dtype=float)
    seen = np.flatnonzero((variances > 0) & means.any(axis=0))
    if len(seen) > 1:
        return None
    if not len(seen):
        return LimitLaw(np.array([_share(means)]), np.ones(1))
    key = int(seen[0])
    slopes, others = means[:, key], np.delete(means, key, axis=1).max(axis=1)
    turns = np.unique(others[slopes != 0] / slopes[slopes != 0])
    below = cdf((turns - 1.0) / math.sqrt(variances[key]))
    probabilities = np.diff(np.concatenate([[0.0], below, [1.0]]))
    inside = np.concatenate([[turns[0] - 1], (turns[1:] + turns[:-1]) / 2, [turns[-1] + 1]])
    shares: list[float] = []
    for epsilon in inside.tolist():
        scores = means.copy()
        scores[:, key] *= epsilon
        shares.append(_share(scores))
    return LimitLaw(np.array(shares), probabilities)


def _share(scores: Array) -> float:
    """The share on a when each head divides its weight among its largest scores."""
    top = scores.max(axis=1, keepdims=True)
    largest = scores >= top - 1e-12 * np.abs(scores).max()
    return float((largest[:, 0] / largest.sum(axis=1)).mean())


Array = NDArray[np.float64]


def textbook_share(epsilon: ArrayLike, *, beta: float) -> Array:
    """Weight on a of one head q = β(μ_a + μ_b), without the other n − 2 keys: σ(β(ε − 1))."""
    return sigmoid(beta * (np.asarray(epsilon, dtype=float) - 1.0))
