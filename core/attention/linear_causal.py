"""Causal linear attention in chunks: inside a chunk by pairs, before it through one carried state.

    output_i = Σ_{j≤i} φ(q_i)·φ(k_j) v_j / Σ_{j≤i} φ(q_i)·φ(k_j)

This file cuts the text, forms the features and divides; the sums are in
core.attention.linear_chunks. Chunks are worked on in groups, and only one group's features exist
at a time, unless a gradient is wanted and all are small.

Cost, chunks of C: 2·L·C·(r + d) + 4·L·r·d operations; the features of one group, and r·d numbers a
group where a gradient is wanted.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from core.attention.feature_maps import FeatureMap
from core.attention.linear_chunks import (
    Group,
    Passed,
    Span,
    Sums,
    arrange,
    gather,
    join,
    read,
    split,
    turn,
    weigh,
)
from core.attention.linear_parts import (
    Formed,
    form,
    inverted,
    keeps,
    pull,
    rows_at_once,
    rows_of,
)

# Short chunks where values are no wider than they and features not much wider: a product of two
# 32 x 32 matrices reaches a processor's peak, and pairs cost half of what they do in longer chunks.
SHORT, LONG = 32, 64
WIDEST = 4 * SHORT


class Gone(NamedTuple):
    """All that a group was on the way there."""

    queries: Formed
    keys: Formed
    group: Group
    passed: Passed


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
        n_features, spans, state = (
            sums.shape[1],
            list(cut(query, sums.shape[1], chunk)),
            split(sums),
        )
        wanted = any(ctx.needs_input_grad)
        back = wanted and keeps(numbers_a_row(n_features, value, chunk), query)
        anew = wanted and not back
        gone: list[Gone] = []
        states = [x.new_empty(len(spans) if anew else 0, *x.shape) for x in (*state, largest)]
        output, inverse = torch.empty_like(value), sums.new_empty(*value.shape[:-1], 1)
        for index, span in enumerate(spans):
            if anew:
                for kept, now in zip(states, (*state, largest), strict=True):
                    kept[index] = now
            pair = form_pair(query, key, padding, feature_map, span.rows, back=back)
            group = arrange(*pair, value[:, :, span.rows], span, largest)
            totals, counts, state, passed = read(group, state, in_place=not back)
            part = inverted(counts).view(*value.shape[:2], -1, 1)
            inverse[:, :, span.rows] = part
            torch.mul(totals.view(*part.shape[:3], -1), part, out=output[:, :, span.rows])
            largest = group.largest
            gone += [Gone(*pair, group, passed)] * back
            del pair, group, totals, passed  # or they would live until the next ones are formed
        if wanted:
            ctx.save_for_backward(query, key, value, output, inverse, *states)
            ctx.spans, ctx.gone = spans, gone
            ctx.padding, ctx.feature_map = padding, feature_map
        largest = largest.clone()
        ctx.mark_non_differentiable(largest)
        return output, join(state), largest

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator's types
        ctx: Any, *grads: Tensor
    ) -> tuple[Tensor | None, ...]:
        query, key, value, output, inverse, weighted, counted, scales = ctx.saved_tensors
        grad, later = grads[0], split(grads[1])
        to_query, to_key, to_value = (torch.empty_like(x) for x in (query, key, value))
        spans: list[Span] = ctx.spans
        for index in reversed(range(len(spans))):
            rows = spans[index].rows
            if ctx.gone:
                queries, keys, group, passed = ctx.gone[index]
            else:
                queries, keys = form_pair(query, key, ctx.padding, ctx.feature_map, rows, back=True)
                group = arrange(queries, keys, value[:, :, rows], spans[index], scales[index])
                before, _ = gather(group, Sums(weighted[index], counted[index]))
                passed = Passed(weigh(group), before)
            pulled = pull(grad[:, :, rows], output[:, :, rows], inverse[:, :, rows])
            to_queries, to_keys, to_values, later = turn(group, passed, pulled, later)
            to_query[:, :, rows] = queries.back(to_queries)
            to_key[:, :, rows] = keys.back(to_keys)
            to_value[:, :, rows] = to_values.view_as(value[:, :, rows])
        return to_query, to_key, to_value, join(later), None, None, None, None


def numbers_a_row(n_features: int, value: Tensor, chunk: int) -> int:
    """What is kept for the way back: features, values, pairs and states."""
    d = value.shape[-1]
    return 2 * n_features + d + chunk + n_features * d // chunk


def fitting(n_features: int, head_dim: int) -> int:
    """The tokens of a chunk that is worked on fastest."""
    return SHORT if head_dim <= SHORT and n_features <= WIDEST else LONG


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
