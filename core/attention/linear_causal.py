"""Causal linear attention in chunks: inside a chunk by pairs, before it through one carried state.

    output_i = Σ_{j≤i} φ(q_i)·φ(k_j) v_j / Σ_{j≤i} φ(q_i)·φ(k_j)

The value gets a column of ones (ṽ), so that the last column of every sum is its normaliser. Scales:
key j weighs 2^s_j, row i is held against c_i, the largest s_j with j ≤ i, and the state before
chunk n against M_n, the largest before it. Every exponent below is therefore at most 0:

    row i of chunk n   Σ_{j≤i in n} 2^(s_j − c_i) φ(q_i)·φ(k_j) ṽ_j + 2^(M_n − c_i) φ(q_i) S_n
    state              S_{n+1} = 2^(M_n − M_{n+1}) S_n + Σ_{j in n} 2^(s_j − M_{n+1}) φ(k_j) ṽ_jᵀ

Backwards the same sums run the other way: with g̃ the gradient of the sums before the division,
R_{n−1} = 2^(M_n − M_{n+1}) R_n + Σ_{i in n} 2^(M_n − c_i) φ(q_i) g̃_iᵀ. Chunks are worked on in
groups, and only one group's features exist at a time, unless a gradient is wanted and all are
small.

Cost, chunks of C: 2·L·C·(r + d) + 4·L·r·d operations; the features of one group, and r·d numbers a
group where a gradient is wanted.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from core.attention.feature_maps import FeatureMap
from core.attention.linear_parts import (
    Formed,
    form,
    inverted,
    keeps,
    pull,
    rows_at_once,
    rows_of,
    times,
    with_ones,
)


class Span(NamedTuple):
    """n_chunks chunks of equal length from position `first` on."""

    first: int
    n_chunks: int
    chunk: int

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.n_chunks * self.chunk)


class Group(NamedTuple):
    """A span's chunks side by side, N = B·H·G, and the factors that their scales make."""

    queries: Tensor  # (N, C, r)
    keys: Tensor  # (N, C, r)
    columns: Tensor  # (N, C, d + 1): ṽ
    decay: Tensor  # (N, C, C) or (C, C): 2^(s_j − c_i), and 0 for the future
    enter: Tensor | None  # (N, C, 1): 2^(M_n − c_i)
    leave: Tensor | None  # (N, C, 1): 2^(s_j − M_{n+1})
    fade: Tensor | None  # (B·H, G, 1, 1): 2^(M_n − M_{n+1})
    largest: Tensor  # (B·H, 1): M after the last chunk


class Causal(torch.autograd.Function):
    """query, key, value, sums (B·H, r, d + 1), largest (B·H, 1) to output, sums and largest."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        sums: Tensor,
        largest: Tensor,
        padding: Tensor | None,
        feature_map: FeatureMap,
        chunk: int,
    ) -> tuple[Tensor, Tensor, Tensor]:
        n_features, spans = sums.shape[1], list(cut(query, sums.shape[1], chunk))
        wanted = any(ctx.needs_input_grad)
        back = wanted and keeps(n_features, query, key)
        formed: list[tuple[Formed, Formed]] = []
        states = sums.new_empty(len(spans) if wanted else 0, *sums.shape)
        scales = sums.new_empty(len(spans) if wanted else 0, *largest.shape)
        output = torch.empty_like(value)
        inverse = sums.new_empty(*value.shape[:-1], 1)
        for index, span in enumerate(spans):
            if wanted:
                states[index], scales[index] = sums, largest
            pair = form_pair(query, key, padding, feature_map, span.rows, back=back)
            group = arrange(*pair, value[:, :, span.rows], span, largest)
            totals, sums = read(group, sums, ours=index > 0)
            totals = totals.view(*value.shape[:2], -1, totals.shape[-1])
            inverse[:, :, span.rows] = inverted(totals[..., -1:])
            torch.mul(totals[..., :-1], inverse[:, :, span.rows], out=output[:, :, span.rows])
            largest = group.largest
            formed += [pair] * back
            del pair, group, totals  # or they would live until the next ones are formed
        if wanted:
            ctx.save_for_backward(query, key, value, output, inverse, states, scales)
            ctx.spans, ctx.formed = spans, formed
            ctx.padding, ctx.feature_map = padding, feature_map
        largest = largest.clone()
        ctx.mark_non_differentiable(largest)
        return output, sums if spans else sums.clone(), largest

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator's types
        ctx: Any, *grads: Tensor
    ) -> tuple[Tensor | None, ...]:
        query, key, value, output, inverse, states, scales = ctx.saved_tensors
        grad, later, _ = grads
        to_query, to_key, to_value = (torch.empty_like(x) for x in (query, key, value))
        spans: list[Span] = ctx.spans
        for index in reversed(range(len(spans))):
            span, rows = spans[index], spans[index].rows
            queries, keys = (
                ctx.formed[index]
                if ctx.formed
                else form_pair(query, key, ctx.padding, ctx.feature_map, rows, back=True)
            )
            group = arrange(queries, keys, value[:, :, rows], span, scales[index])
            pulled = pull(grad[:, :, rows], output[:, :, rows], inverse[:, :, rows])
            pulled = pulled.view_as(group.columns)
            to_queries, to_keys, to_columns, later = turn(group, states[index], pulled, later)
            to_query[:, :, rows] = queries.back(to_queries)
            to_key[:, :, rows] = keys.back(to_keys)
            to_value[:, :, rows] = to_columns.view(*value.shape[:2], -1, to_columns.shape[-1])[
                ..., :-1
            ]
        return to_query, to_key, to_value, later, None, None, None, None


def cut(query: Tensor, n_features: int, chunk: int) -> Iterator[Span]:
    """Groups of whole chunks whose features fit into the cache, then what is left over."""
    whole, rest = divmod(query.shape[2], chunk)
    step = max(1, rows_at_once(query, n_features) // chunk)
    for first in range(0, whole, step):
        yield Span(first * chunk, min(step, whole - first), chunk)
    if rest:
        yield Span(whole * chunk, 1, rest)


def form_pair(
    query: Tensor,
    key: Tensor,
    padding: Tensor | None,
    feature_map: FeatureMap,
    rows: slice,
    *,
    back: bool,
) -> tuple[Formed, Formed]:
    """The features of the queries and of the keys at these rows."""
    queries = form(query[:, :, rows], feature_map, back=back)
    seen = rows_of(padding, rows)
    return queries, form(key[:, :, rows], feature_map, padding=seen, back=back)


def arrange(queries: Formed, keys: Formed, value: Tensor, span: Span, largest: Tensor) -> Group:
    """Chunks side by side, from (B, H, G·C, …), and their factors; largest is M before them."""
    chunk = span.chunk
    q = queries.values.reshape(-1, chunk, queries.values.shape[-1])
    k = keys.values.reshape(q.shape)
    columns = with_ones(value, k.dtype).view(-1, chunk, value.shape[-1] + 1)
    past = torch.ones(chunk, chunk, dtype=k.dtype, device=k.device).tril_()
    if keys.features.log2_scale is None:
        return Group(q, k, columns, past, None, None, None, largest)
    scale = keys.features.log2_scale.reshape(len(largest), -1)  # (B·H, G·C)
    running = torch.maximum(scale.cummax(dim=-1).values, largest)
    ends = torch.cat([largest, running[:, chunk - 1 :: chunk]], dim=-1)  # (B·H, G + 1)
    before, after = ends[:, :-1], ends[:, 1:]
    s, c = scale.view(-1, chunk, 1), running.view(-1, chunk, 1)
    return Group(
        queries=q,
        keys=k,
        columns=columns,
        decay=(s.mT - c).masked_fill_(past == 0, -torch.inf).exp2_(),
        enter=(before.reshape(-1, 1, 1) - c).exp2_(),
        leave=(s - after.reshape(-1, 1, 1)).exp2_(),
        fade=(before - after).exp2_()[..., None, None],
        largest=ends[:, -1:],
    )


def read(group: Group, sums: Tensor, *, ours: bool) -> tuple[Tensor, Tensor]:
    """The sums before the division (N, C, d + 1), and the state after the group.

    A single chunk's keys are added to the state in place if it is ours to change.
    """
    queries, keys = group.queries, group.keys
    weights = torch.bmm(queries, keys.mT).mul_(group.decay)
    totals = torch.bmm(weights, group.columns)
    own = times(group.columns, group.leave)
    single = len(keys) == len(sums)
    before, after = (sums, None) if single else scan(sums, torch.bmm(keys.mT, own), group.fade)
    if group.enter is None:
        totals.baddbmm_(queries, before)
    else:
        totals.addcmul_(torch.bmm(queries, before), group.enter)
    if after is None:
        faded = sums if group.fade is None else sums * group.fade[:, 0]
        changeable = ours or group.fade is not None
        after = faded.baddbmm_(keys.mT, own) if changeable else faded.baddbmm(keys.mT, own)
    return totals, after


def turn(
    group: Group, sums: Tensor, pulled: Tensor, later: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The gradients of queries, keys and columns, and R before the group."""
    queries, keys, columns = group.queries, group.keys, group.columns
    left, entered = times(columns, group.leave), times(pulled, group.enter)
    before, _ = scan(sums, torch.bmm(keys.mT, left), group.fade)
    after, later = scan(later, torch.bmm(queries.mT, entered), group.fade, backwards=True)
    weights = torch.bmm(queries, keys.mT).mul_(group.decay)
    pairs = torch.bmm(pulled, columns.mT).mul_(group.decay)
    to_queries = torch.bmm(pairs, keys).baddbmm_(entered, before.mT)
    to_keys = torch.bmm(pairs.mT, queries).baddbmm_(left, after.mT)
    to_columns = torch.bmm(weights.mT, pulled)
    if group.leave is None:
        return to_queries, to_keys, to_columns.baddbmm_(keys, after), later
    to_columns.addcmul_(torch.bmm(keys, after), group.leave)
    return to_queries, to_keys, to_columns, later


def scan(
    start: Tensor, added: Tensor, fade: Tensor | None, *, backwards: bool = False
) -> tuple[Tensor, Tensor]:
    """The states before each chunk (N, …) and after all: state ← fade · state + added."""
    steps = added.view(len(start), -1, *start.shape[1:])
    if steps.shape[1] == 1:
        return start, added.add_(times(start, None if fade is None else fade[:, 0]))
    states = torch.empty_like(steps)
    chunks = range(steps.shape[1])
    state = start
    for index in reversed(chunks) if backwards else chunks:
        states[:, index] = state
        state = steps[:, index] + times(state, None if fade is None else fade[:, index])
    return states.view_as(added), state
