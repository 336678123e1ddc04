"""Moments of softmax weights whose scores are independent normals, by a Laplace transform.

With X_i = exp(s_i) and 1/S = ∫ exp(−uS) du the expectations of products come apart:

    E[w_i]     = ∫ E[uX_i e^{−uX_i}] Π_{k≠i} E[e^{−uX_k}] du/u
    E[w_i w_j] = the same with two such factors;  E[w_i²] has E[(uX_i)² e^{−uX_i}].

In v = ln u every integrand is smooth on a strip of half width π/2, so that the trapezoidal rule
with step h errs by about exp(−π²/h): Trefethen and Weideman, SIAM Review 56 (2014), section 5.
Cost: (range of the scores / h) nodes, times the number of distinct score laws.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.theory.normal import cdf, density, log_sum_exp
from core.theory.quadrature import Estimate, integrate

Array = NDArray[np.float64]
STEP = 0.15
REACH = 9.0
MOST_NODES = 2**20
LEFT, RIGHT = 38.0, 4.0  # e^−38 = 3e-17; exp(−e^4) = 2e-24
ROUNDING = 1e-13


@dataclass(frozen=True, slots=True)
class WeightMoments:
    """mean (n,) and covariance (n, n) of the weights; error bounds every entry of either."""

    mean: Array
    covariance: Array
    error: float


def weight_moments(means: Array, deviations: Array) -> WeightMoments | None:
    """Moments of softmax(s), s_i ~ N(means_i, deviations_i²) independent.

    None if the scores reach so far that the grid would be too large.
    """
    laws, which = np.unique(np.column_stack([means, deviations]), axis=0, return_inverse=True)
    low = -float((means + REACH * deviations).max()) - LEFT
    high = -float((means - REACH * deviations).max()) + RIGHT
    if high - low + 2 * REACH * float(deviations.max()) > STEP * MOST_NODES:
        return None
    v = np.arange(low, high + STEP, STEP)
    factors = [_factors(v, float(mean), float(deviation)) for mean, deviation in laws]
    found = _sum_up(factors, which.ravel(), 1)
    rough = _sum_up(factors, which.ravel(), 2)
    error = max(float(np.abs(a - b).max()) for a, b in zip(found, rough, strict=True))
    mean, second = found
    return WeightMoments(mean, second - np.outer(mean, mean), 3 * error + ROUNDING)


def p_weight_below(x: float, key: int, means: Array, deviations: Array) -> Estimate | None:
    """P(w_key < x) where at most one other score varies: w_key < x ⟺ s_key < logit x + ln Σ others.

    None where more vary, or the key's own score does not.
    """
    others = np.delete(np.arange(len(means)), key)
    moving = others[deviations[others] > 0]
    if len(moving) > 1 or deviations[key] == 0:
        return None
    if not 0 < x < 1:
        return Estimate(float(x >= 1))
    logit = math.log(x) - math.log1p(-x)

    def below(z: Array) -> Array:
        scores = np.tile(means[others], (len(z), 1))
        scores += z[:, None] * deviations[others]
        return cdf((logit + log_sum_exp(scores) - means[key]) / deviations[key])

    if not len(moving):
        return Estimate(float(below(np.zeros(1))[0]))
    edges = np.linspace(-REACH, REACH, 19).tolist()
    found, error = integrate(lambda z: (below(z) * density(z))[:, None], edges)
    return Estimate(float(found[0]), float(error[0]))


def _factors(v: Array, mean: float, deviation: float) -> Array:
    """(3, m): E[e^{−x}], E[x e^{−x}], E[x² e^{−x}] for x = exp(v + s), s ~ N(mean, deviation²)."""
    if deviation == 0:
        return _powers(v + mean)
    if deviation * 0.25 < STEP:
        z = np.arange(-36, 37) * 0.25
        weights = density(z) * 0.25
        return np.stack([_powers(v + (mean + deviation * at)) for at in z], axis=-1) @ weights
    n_side = math.ceil(REACH * deviation / STEP)
    z = np.arange(-n_side, n_side + 1) * (STEP / deviation)
    weights = density(z) * (STEP / deviation)
    x = v[0] + mean + STEP * np.arange(-n_side, len(v) + n_side)
    return np.stack([_convolve(row, weights) for row in _powers(x)])


def _powers(x: Array) -> Array:
    grown = np.exp(np.minimum(x, 7.0))  # exp(−e^7) is 0
    fallen = np.exp(-grown)
    return np.stack([fallen, grown * fallen, grown * grown * fallen])


def _convolve(row: Array, weights: Array) -> Array:
    """The part of the convolution that needs no padding, by FFT."""
    length = 1 << (len(row) + len(weights) - 1).bit_length()
    product = np.fft.rfft(row, length) * np.fft.rfft(weights, length)
    whole = np.fft.irfft(product, length)
    return np.maximum(whole[len(weights) - 1 : len(row)], 0.0)


def _sum_up(factors: list[Array], which: NDArray[np.intp], stride: int) -> tuple[Array, Array]:
    """(E[w_i], E[w_i w_j]) on every stride-th node."""
    step = STEP * stride
    none, one, two = np.stack([law[:, ::stride] for law in factors], axis=1)[:, which]
    logs = np.log(np.maximum(none, 1e-300))
    product = np.exp(logs.sum(0))  # Π_k E[e^{−uX_k}]
    seen = none > 1e-300
    ratio = np.where(seen, one / np.where(seen, none, 1.0), 0.0)
    mean = (ratio * product).sum(1) * step
    second = (ratio * product) @ ratio.T * step
    own = np.where(seen, two / np.where(seen, none, 1.0), 0.0)
    np.fill_diagonal(second, (own * product).sum(1) * step)
    return mean, second
