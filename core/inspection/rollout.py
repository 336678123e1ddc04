"""Rollout: what each row is made of once all layers have mixed, and a second reading of weights.

A layer keeps a share of every row (its residual path) and mixes the rest by its map A, a mean over
heads with rows that sum to 1:

    M_l = r · I + (1 − r) · A_l,    R_l = M_l · R_{l−1},    R_{−1} = I        (Abnar & Zuidema 2020)

In a causal model every row can see token 0 and few can see the last ones, so early tokens gather
weight even if no head prefers them. The correction divides R by the rollout U of heads that attend
uniformly to all that they can see, and lets each row sum to 1 again:

    C_ij = (R_ij / U_ij) / Σ_k (R_ik / U_ik)

A uniform model then has 1 / (i + 1) everywhere in row i. Numpy only; cost n_layers · L³.
"""

import numpy as np
from numpy.typing import NDArray

from core.inspection.record import AttentionTrace

RESIDUAL = 0.5
Maps = NDArray[np.float64]


def mean_maps(trace: AttentionTrace) -> Maps:
    """(n_layers, L, L): the mean weights of the heads that are on.

    A layer without any mixes nothing: each row keeps itself. Raises ValueError for a Perceiver,
    and for weights that are negative.
    """
    _refuse_latents(trace)
    if trace.weights.min() < 0:
        raise ValueError(
            "rollout reads weights as shares of what a row takes over, and some effective weights "
            f"of this linear attention are negative, down to {trace.weights.min():.2g}"
        )
    weights = trace.weights.astype(np.float64)
    on = np.ones((trace.n_layers, trace.n_heads, 1, 1))
    for layer, head in trace.ablated:
        on[layer, head] = 0
    return _with_rows_of_one((weights * on).sum(1))


def value_maps(trace: AttentionTrace) -> Maps:
    """(n_layers, L, L): value-weighted attention, ‖weight · value · W_O‖ summed over heads, each
    row divided by its sum (Kobayashi et al. 2020).

    A head that looks hard at a key with a short value counts little here and much in the weights.
    """
    _refuse_latents(trace)
    return _with_rows_of_one(trace.contribution.astype(np.float64).sum(1))


def rollout(maps: Maps, *, residual: float = RESIDUAL) -> Maps:
    """(n_layers, L, L): R after each layer. Raises ValueError for a share outside 0 to 1."""
    if not 0 <= residual <= 1:
        raise ValueError(f"residual is {residual}; the share that a row keeps is 0 to 1")
    rolled, seen = np.eye(maps.shape[-1]), list[Maps]()
    for mixed in maps:
        rolled = residual * rolled + (1 - residual) * (mixed @ rolled)
        seen.append(rolled)
    return np.stack(seen)


def corrected(rolled: Maps, *, residual: float = RESIDUAL) -> Maps:
    """C from R (n_layers, L, L) of a causal model; `residual` must be that of the rollout.

    Where a uniform model brings nothing (the future; with residual 1 all but the row itself),
    nothing stands.
    """
    n_layers, n_tokens, _ = rolled.shape
    uniform = _with_rows_of_one(np.tri(n_tokens))
    expected = rollout(np.stack([uniform] * n_layers), residual=residual)
    ratio = np.divide(rolled, expected, out=np.zeros_like(rolled), where=expected > 0)
    return _with_rows_of_one(ratio)


def _with_rows_of_one(maps: Maps) -> Maps:
    """Each row divided by its sum; a row of zeros becomes that of the identity."""
    sums = maps.sum(-1, keepdims=True)
    kept = np.broadcast_to(np.eye(maps.shape[-1]), maps.shape)
    return np.divide(maps, sums, out=kept.copy(), where=sums > 0)


def _refuse_latents(trace: AttentionTrace) -> None:
    if trace.latent_positions:
        raise ValueError(
            "rollout multiplies the maps of one residual stream, and a Perceiver has two: tokens, "
            "and latents that start from a learned basis"
        )
