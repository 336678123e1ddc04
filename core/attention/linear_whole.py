"""Linear attention where every row sees every key: two passes over blocks of rows.

    S = Σ_j 2^(s_j − M) φ(k_j) v_jᵀ,  z = Σ_j 2^(s_j − M) φ(k_j),  output_i = φ(q_i) S / φ(q_i)·z

s_j is the scale of key j and M the largest of them. On the way back, with G = Σ_i φ(q_i) g_iᵀ / n_i
and h = −Σ_i φ(q_i) (g_i·output_i) / n_i, g the gradient of the output and n_i = φ(q_i)·z, key j's
features get v_j Gᵀ + h and its value φ(k_j) G. The features of one block of rows exist at a time,
unless a gradient is wanted and all are small.

Cost: 4·L·r·d operations; the features of one block, once more for their product with z, and r·d
numbers.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from core.attention.feature_maps import NOTHING, FeatureMap
from core.attention.linear_parts import (
    Formed,
    form,
    inverted,
    keeps,
    rows_at_once,
    rows_of,
    times,
)
from core.attention.softmax import widened


class Sums(NamedTuple):
    """What the keys leave behind; S and z change in place."""

    weighted: Tensor  # S (B·H, r, d)
    counted: Tensor  # z (B·H, 1, r)
    largest: Tensor  # M (B, H, 1, 1)


class Whole(torch.autograd.Function):
    """query (B, H, L_q, d), key and value (B, H, L_k, d) to output (B, H, L_q, d)."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        padding: Tensor | None,
        feature_map: FeatureMap,
        n_features: int,
    ) -> Tensor:
        wanted = any(ctx.needs_input_grad)
        back = wanted and keeps(n_features, query, key)
        queries: list[Formed] = []
        keys: list[Formed] = []
        sums = start(query, value, n_features)
        for rows in blocks(key, n_features):
            formed = form(key[:, :, rows], feature_map, padding=rows_of(padding, rows), back=back)
            sums = gather(formed, value[:, :, rows], sums)
            keys += [formed] * back
            del formed  # or it would live until the next one is formed
        output = value.new_empty(*query.shape[:-1], value.shape[-1])
        inverse = sums.counted.new_empty(*query.shape[:-1], 1)
        for rows in blocks(query, n_features):
            formed = form(query[:, :, rows], feature_map, back=back)
            features = flat(formed.values)
            totals = torch.bmm(features, sums.weighted)
            part = inverted((features * sums.counted).sum(dim=-1, keepdim=True))
            output[:, :, rows] = totals.mul_(part).view(*query.shape[:2], -1, totals.shape[-1])
            inverse[:, :, rows] = part.view(*query.shape[:2], -1, 1)
            queries += [formed] * back
            del formed, features
        if wanted:
            ctx.save_for_backward(query, key, value, output, inverse, *sums)
            ctx.queries, ctx.keys = queries, keys
            ctx.padding, ctx.feature_map, ctx.n_features = padding, feature_map, n_features
        return output

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator's types
        ctx: Any, *grads: Tensor
    ) -> tuple[Tensor | None, ...]:
        query, key, value, output, inverse, *kept_sums = ctx.saved_tensors
        sums = Sums(*kept_sums)
        later = Sums(torch.zeros_like(sums.weighted), torch.zeros_like(sums.counted), sums.largest)
        to_query, to_key, to_value = (torch.empty_like(x) for x in (query, key, value))
        for index, rows in enumerate(blocks(query, ctx.n_features)):
            kept = ctx.queries[index] if ctx.queries else None
            formed = kept or form(query[:, :, rows], ctx.feature_map, back=True)
            grad, part = widened(grads[0][:, :, rows]), inverse[:, :, rows]
            along = flat((grad * output[:, :, rows]).sum(-1, keepdim=True).mul_(part).neg_())
            features, pulled = flat(formed.values), flat(grad * part)
            to_features = torch.bmm(pulled, sums.weighted.mT).addcmul_(along, sums.counted)
            to_query[:, :, rows] = formed.back(to_features)
            later.weighted.baddbmm_(features.mT, pulled)
            later.counted.add_((features * along).sum(dim=1, keepdim=True))
        for index, rows in enumerate(blocks(key, ctx.n_features)):
            kept = ctx.keys[index] if ctx.keys else None
            formed = kept or form(
                key[:, :, rows], ctx.feature_map, padding=rows_of(ctx.padding, rows), back=True
            )
            to_features, to_values = scatter(formed, value[:, :, rows], later)
            to_key[:, :, rows] = formed.back(to_features)
            to_value[:, :, rows] = to_values.view_as(value[:, :, rows])
        return to_query, to_key, to_value, None, None, None


def blocks(x: Tensor, n_features: int) -> Iterator[slice]:
    """The rows of (B, H, L, d), so many at a time as their features fit into the cache."""
    step = rows_at_once(x, n_features)
    for first in range(0, x.shape[2], step):
        yield slice(first, min(first + step, x.shape[2]))


def start(query: Tensor, value: Tensor, n_features: int) -> Sums:
    """Before any key."""
    n_batch, n_heads = query.shape[:2]
    like, n_all = widened(query[:, :, :0]), n_batch * n_heads
    return Sums(
        weighted=like.new_zeros(n_all, n_features, value.shape[-1]),
        counted=like.new_zeros(n_all, 1, n_features),
        largest=like.new_full((n_batch, n_heads, 1, 1), NOTHING),
    )


def gather(keys: Formed, value: Tensor, sums: Sums) -> Sums:
    """With these keys added."""
    features, scale = flat(keys.values), keys.features.log2_scale
    if scale is not None:
        now = torch.maximum(sums.largest, scale.amax(dim=2, keepdim=True))
        fade = flat(sums.largest - now).exp2_()
        features = features * flat(scale - now).exp2_()
        sums = Sums(sums.weighted.mul_(fade), sums.counted.mul_(fade), now)
    sums.weighted.baddbmm_(features.mT, flat(widened(value)))
    sums.counted.add_(features.sum(dim=1, keepdim=True))
    return sums


def scatter(keys: Formed, value: Tensor, later: Sums) -> tuple[Tensor, Tensor]:
    """The gradients of these keys' features and values, from G and h."""
    scale = keys.features.log2_scale
    factor = None if scale is None else flat(scale - later.largest).exp2_()
    to_values = torch.bmm(times(flat(keys.values), factor), later.weighted)
    to_features = torch.baddbmm(later.counted, flat(widened(value)), later.weighted.mT)
    return times(to_features, factor), to_values


def flat(x: Tensor) -> Tensor:
    """(B, H, …) to (B·H, …)."""
    return x.flatten(0, 1)
