"""The long way, as a reference: whole keys in d dimensions, softmax, output. For small numbers.

It shares nothing with the fast path but the spec. Cost: n_draws · n · d normals and numbers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.spec import PerturbationSpec

Array = NDArray[np.float64]
MOST_NUMBERS = 2**27


@dataclass(frozen=True, slots=True, kw_only=True)
class FullDraws:
    """scores, weights (draws, H, n); outputs (draws, d_v): c, averaged over the heads."""

    scores: Array
    weights: Array
    outputs: Array

    @property
    def share(self) -> Array:
        """(draws,): the share on key a."""
        return self.weights[:, :, 0].mean(axis=1)


def draw_full(spec: PerturbationSpec, n_draws: int, *, seed: int = 0) -> FullDraws:
    """k_i = μ_i + √α g + √ρ_i z μ_i with μ_i = m_i u_i along a random orthonormal basis."""
    n_numbers = n_draws * spec.n_keys * spec.dimension
    if n_draws < 1 or n_numbers > MOST_NUMBERS:
        raise ValueError(
            f"{n_draws:,} draws of {spec.n_keys} keys in {spec.dimension} dimensions: the full "
            f"path takes 1 to {MOST_NUMBERS // (spec.n_keys * spec.dimension):,} draws"
        )
    generator = np.random.default_rng(seed)
    basis = np.linalg.qr(generator.standard_normal((spec.dimension, spec.n_keys)))[0].T
    means = spec.norms[:, None] * basis  # (n, d)
    noise = generator.standard_normal((n_draws, spec.n_keys, spec.dimension))
    lengths = generator.standard_normal((n_draws, spec.n_keys))
    keys = means + spec.noise_variance**0.5 * noise
    keys += (lengths * np.sqrt(spec.radial_variances))[:, :, None] * means
    queries = spec.beta * spec.coefficients @ means  # (H, d)
    scores = np.einsum("mnd,hd->mhn", keys, queries)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    return FullDraws(
        scores=scores,
        weights=weights,
        outputs=np.einsum("mhn,nv->mv", weights, spec.value_rows) / len(queries),
    )


def key_cloud(spec: PerturbationSpec, n_points: int = 2000) -> Array:
    """(n_points, 2): key a's coordinates along u_a and u_b, for a picture of its cloud."""
    if not 1 <= n_points <= 100_000:
        raise ValueError(f"{n_points} points: use 1 to 100,000")
    generator = np.random.default_rng(spec.seed)
    norm, variance = float(spec.norms[0]), float(spec.radial_variances[0])
    points = generator.standard_normal((n_points, 2)) * spec.noise_variance**0.5
    lengths = 1.0 + variance**0.5 * generator.standard_normal(n_points)
    points[:, 0] += norm * lengths
    return points
