"""How many of N random pairs a matrix of d x d numbers gives back: signal against noise.

Asked with key i, a memory answers Σ_j c_j v_j: the own value v_i with the signal c_i, each other
value with a c_j that is noise. Keys and values are random directions of d numbers, so products of
two of them have mean 0 and variance 1/d. With e_j = E c_j² the noise is n = Σ_{j≠i} e_j, and n/d in
each direction; for linear attention, c_i = 1 and e_j = 1/d, that is (N − 1)/d and (N − 1)/d².

The recall is right if what is read points to v_i more than to any other v_m. Let t = v_i·v_m, and
y, w be what the rest of the noise has along v_i and along what v_m has of its own. Then it points

    to v_i with  c_i + c_m t + y,    to v_m with  c_i t + c_m + t y + √(1 − t²) w

so that v_m loses where w < (c_i + y − c_m) √((1 − t)/(1 + t)). With y, w of variance n/d and c_m of
variance e_m, all normal, and t as of random directions, density ∝ (1 − t²)^((d−3)/2),

    P_i = E_{y,r} Π_{m≠i} E_t Φ((c_i + y) / √(r n/d · (1 + t)/(1 − t) + e_m))

All rivals look at one and the same noise across v_i: its length² is r n with r d of a χ² law of d
degrees. Given y and r they are taken as independent, and sums of many products as normal; second
moments are exact. Tests hold it against samples.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.theory.normal import cdf

Array = NDArray[np.float64]
N_NODES, N_ANGLES, N_LENGTHS, N_ROWS = 12, 9, 3, 40
TINY = 1e-300
_WIDEST, _N_KNOTS = 12.0, 4801


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Of the coefficients c_ij that key i (rows) gives value j, over random keys.

    `signal` (N,) is E c_ii, `jitter` (N,) its variance, `noise` (N, N) is E c_ij², 0 for i = j.
    """

    signal: Array
    jitter: Array
    noise: Array


def linear_moments(n_pairs: int, dim: int, *, decay: float = 1.0) -> Moments:
    """Of Σ_j γ^(N−j) k_j v_jᵀ: linear attention, and with γ < 1 the gate."""
    left = decay ** np.arange(n_pairs, dtype=float)[::-1]
    noise = np.broadcast_to(left**2 / dim, (n_pairs, n_pairs)).copy()
    np.fill_diagonal(noise, 0.0)
    return Moments(signal=left, jitter=np.zeros(n_pairs), noise=noise)


def delta_moments(n_pairs: int, dim: int, *, decay: float = 1.0) -> Moments:
    """Of the delta rule, S ← γ S + k (v − γ Sᵀ k)ᵀ, with γ < 1 the gated one.

    Let a_j be what the state multiplies v_j by, y = E|a_j|², x = E (k_i·a_j)². A later write with a
    random key k takes k (k·a_j) away, and by the fourth moments of a direction

        x ← γ² (x (1 − 2/d + 2/(d(d+2))) + y / (d(d+2))),    y ← γ² y (1 − 1/d)

    At its own write a_j is k_j; at that of key i, what stood at k_i is gone: x = 0 for j < i.
    """
    places = np.arange(n_pairs)
    later = n_pairs - 1 - places
    keeps = 1 - 1 / dim
    signal = (decay * keeps) ** later.astype(float)
    own = _after(np.ones(n_pairs), np.ones(n_pairs), later, dim, decay)
    asked, written = places[:, None], places[None]
    is_later = written > asked
    first = np.where(is_later, 1 / dim, 0.0)
    size = np.where(is_later, 1.0, (decay**2 * keeps) ** np.maximum(asked - written, 0))
    noise = _after(first, size, n_pairs - 1 - np.maximum(asked, written), dim, decay)
    np.fill_diagonal(noise, 0.0)
    return Moments(signal=signal, jitter=np.maximum(own - signal**2, 0.0), noise=noise)


def recall_share(moments: Moments, dim: int) -> float:
    """The mean of P_i over all keys; of more than N_ROWS keys and rivals as many are looked at,
    evenly spaced, for P changes smoothly with their age.

    Cost: N_NODES · N_LENGTHS · N_ANGLES · N_ROWS² numbers at most, half a million; five times as
    many change no share by more than 0.005.
    """
    n_pairs = len(moments.signal)
    rows = _spaced(n_pairs)
    each = (n_pairs - 1) / (len(rows) - 1)  # rivals that one stands for
    signal, total = moments.signal[rows], moments.noise[rows].sum(1)
    noise = moments.noise[np.ix_(rows, rows)]
    angles, parts = _angles(dim)
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
    spread = np.sqrt(total / dim + moments.jitter[rows])
    right = np.zeros(len(rows))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        own = (signal + spread * node)[:, None, None]
        for r, share in zip(*_lengths(dim), strict=True):
            across = np.multiply.outer(r * total / dim, (1 + angles) / (1 - angles))
            width = np.sqrt(across[:, None] + noise[..., None])
            lose = _cdf(own / np.maximum(width, TINY)) @ parts
            np.fill_diagonal(lose, 1.0)  # nobody is its own rival
            right += weight * share * np.exp(each * np.log(np.maximum(lose, TINY)).sum(1))
    return float(right.mean())


def half_lost(pairs: list[int], shares: list[float]) -> float | None:
    """The number of pairs at which a half is recalled, between two that were measured.

    By a straight line over the logarithm of the number. None where it lies outside.
    """
    for (n, share), (more, less) in zip(
        zip(pairs, shares, strict=True), zip(pairs[1:], shares[1:], strict=True), strict=False
    ):
        if share >= 0.5 > less:
            part = (share - 0.5) / (share - less)
            return float(n * (more / n) ** part)
    return None


def _after(first: Array, size: Array, writes: NDArray[np.int_], dim: int, decay: float) -> Array:
    """The x after so many later writes, from x = first and y = size: the recursion, solved."""
    fourth = 1 / (dim * (dim + 2))
    grows, shrinks = 1 - 2 / dim + 2 * fourth, 1 - 1 / dim
    between = (shrinks**writes - grows**writes) / (shrinks - grows)
    return decay ** (2 * writes) * (grows**writes * first + fourth * size * between)


def _spaced(n_pairs: int) -> NDArray[np.int_]:
    if n_pairs <= N_ROWS:
        return np.arange(n_pairs)
    return ((np.arange(N_ROWS) + 0.5) * n_pairs / N_ROWS).astype(int)


def _angles(dim: int) -> tuple[Array, Array]:
    """Products of two random directions, and how likely they are."""
    widest = min(0.999, 6 / dim**0.5)
    t = np.linspace(-widest, widest, N_ANGLES)
    parts = (1 - t * t) ** ((dim - 3) / 2)
    return t, parts / parts.sum()


def _lengths(dim: int) -> tuple[Array, Array]:
    """χ² of `dim` degrees over `dim`, by the cubes of a normal law (Wilson and Hilferty 1931)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_LENGTHS)
    narrow = 2 / (9 * dim)
    return np.maximum(1 - narrow + nodes * narrow**0.5, 0.0) ** 3, weights / weights.sum()


def _cdf(z: Array) -> Array:
    """Φ to about 1e-6, by a table."""
    return np.interp(z, *_table())


@lru_cache(maxsize=1)
def _table() -> tuple[Array, Array]:
    knots = np.linspace(-_WIDEST, _WIDEST, _N_KNOTS)
    return knots, cdf(knots)
