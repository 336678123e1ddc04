"""The sums of causal linear attention over a group of chunks, forwards and backwards.

The normaliser is summed beside the values, not as a column of ones among them: one column more
than a head has numbers makes every product slower by half. Scales: key j weighs 2^s_j, row i is
held against c_i, the largest s_j with j ≤ i, and the state before chunk n against M_n, the largest
before it. Every exponent below is therefore at most 0; ṽ is [v, 1]:

    row i of chunk n   Σ_{j≤i in n} 2^(s_j − c_i) φ(q_i)·φ(k_j) ṽ_j + 2^(M_n − c_i) φ(q_i) S_n
    state              S_{n+1} = 2^(M_n − M_{n+1}) S_n + Σ_{j in n} 2^(s_j − M_{n+1}) φ(k_j) ṽ_jᵀ

Backwards the same sums run the other way: with g̃ the gradient of the sums before the division,
R_{n−1} = 2^(M_n − M_{n+1}) R_n + Σ_{i in n} 2^(M_n − c_i) φ(q_i) g̃_iᵀ.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from core.attention.linear_parts import Formed, Pulled, times
from core.attention.scan import in_steps, run_up


class Span(NamedTuple):
    """n_chunks chunks of equal length from position `first` on."""

    first: int
    n_chunks: int
    chunk: int

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.n_chunks * self.chunk)


class Sums(NamedTuple):
    """A state in its two parts, Σ φ(k_j) v_jᵀ (…, r, d) and Σ φ(k_j) (…, 1, r)."""

    weighted: Tensor
    counted: Tensor


class Group(NamedTuple):
    """A span's chunks side by side, N = B·H·G, and the factors that their scales make."""

    queries: Tensor  # (N, C, r)
    keys: Tensor  # (N, C, r)
    values: Tensor  # (N, C, d)
    decay: Tensor  # (N, C, C) or (C, C): 2^(s_j − c_i), and 0 for the future
    enter: Tensor | None  # (N, C, 1): 2^(M_n − c_i)
    leave: Tensor | None  # (N, C, 1): 2^(s_j − M_{n+1})
    fade: Tensor | None  # (B·H, G, 1, 1): 2^(M_n − M_{n+1})
    largest: Tensor  # (B·H, 1): M after the last chunk


class Passed(NamedTuple):
    """What a way back reads again: pairs (N, C, C), and the states before each chunk (N, …)."""

    weights: Tensor
    before: Sums


def split(sums: Tensor) -> Sums:
    """A copy of sums (B·H, r, d + 1) in its two parts, which may be changed in place."""
    return Sums(sums[..., :-1].clone(memory_format=torch.contiguous_format), sums[..., -1:].mT)


def join(state: Sums) -> Tensor:
    """(B·H, r, d + 1) again."""
    return torch.cat([state.weighted, state.counted.mT], dim=-1)


def arrange(queries: Formed, keys: Formed, value: Tensor, span: Span, largest: Tensor) -> Group:
    """Chunks side by side, from (B, H, G·C, …), and their factors; largest is M before them."""
    chunk = span.chunk
    q = queries.values.reshape(-1, chunk, queries.values.shape[-1])
    k = keys.values.reshape(q.shape)
    v = value.to(k.dtype).reshape(-1, chunk, value.shape[-1])
    past = torch.ones(chunk, chunk, dtype=k.dtype, device=k.device).tril_()
    if keys.features.log2_scale is None:
        return Group(q, k, v, past, None, None, None, largest)
    scale = keys.features.log2_scale.reshape(len(largest), -1)  # (B·H, G·C)
    running = torch.maximum(scale.cummax(dim=-1).values, largest)
    ends = torch.cat([largest, running[:, chunk - 1 :: chunk]], dim=-1)  # (B·H, G + 1)
    before, after = ends[:, :-1], ends[:, 1:]
    s, c = scale.view(-1, chunk, 1), running.view(-1, chunk, 1)
    return Group(
        queries=q,
        keys=k,
        values=v,
        decay=(s.mT - c).masked_fill_(past == 0, -torch.inf).exp2_(),
        enter=(before.reshape(-1, 1, 1) - c).exp2_(),
        leave=(s - after.reshape(-1, 1, 1)).exp2_(),
        fade=(before - after).exp2_()[..., None, None],
        largest=ends[:, -1:],
    )


def read(group: Group, state: Sums, *, in_place: bool) -> tuple[Tensor, Tensor, Sums, Passed]:
    """The sums before the division (N, C, d) and (N, C, 1), the state after, and what was formed.

    A single chunk's keys are added to the state in place if that is allowed.
    """
    queries, enter = group.queries, group.enter
    weights = weigh(group)
    totals, counts = torch.bmm(weights, group.values), weights.sum(-1, keepdim=True)
    single = in_place and len(queries) == len(state.weighted)
    before, after = (state, None) if single else gather(group, state)
    if enter is None:
        totals.baddbmm_(queries, before.weighted)
        counts.add_(torch.bmm(queries, before.counted.mT))
    else:
        totals.addcmul_(torch.bmm(queries, before.weighted), enter)
        counts.addcmul_(torch.bmm(queries, before.counted.mT), enter)
    return totals, counts, after or add_chunk(group, state), Passed(weights, before)


def weigh(group: Group) -> Tensor:
    """The pairs inside each chunk (N, C, C)."""
    return torch.bmm(group.queries, group.keys.mT).mul_(group.decay)


def gather(group: Group, state: Sums) -> tuple[Sums, Sums]:
    """The states before each chunk (N, …), and the one after all."""
    left = times(group.values, group.leave)
    return scan(state, Sums(torch.bmm(group.keys.mT, left), counted(group)), group.fade)


def add_chunk(group: Group, state: Sums) -> Sums:
    """The state with a single chunk added to it, in place where it is large."""
    weighted, before = state
    if group.fade is not None:
        weighted.mul_(group.fade[:, 0])
        before = before * group.fade[:, 0]
    weighted.baddbmm_(group.keys.mT, times(group.values, group.leave))
    return Sums(weighted, before + counted(group))


def counted(group: Group) -> Tensor:
    """Σ 2^(s_j − M_{n+1}) φ(k_j) of each chunk (N, 1, r)."""
    keys, leave = group.keys, group.leave
    return keys.sum(1, keepdim=True) if leave is None else torch.bmm(leave.mT, keys)


def turn(
    group: Group, passed: Passed, pulled: Pulled, later: Sums
) -> tuple[Tensor, Tensor, Tensor, Sums]:
    """The gradients of queries, keys and values, and R before the group."""
    queries, keys, values, leave = group.queries, group.keys, group.values, group.leave
    weights, before = passed
    grad, along = (x.reshape(*queries.shape[:2], -1) for x in pulled)
    entered, along_entered = times(grad, group.enter), times(along, group.enter)
    read_by = Sums(torch.bmm(queries.mT, entered), torch.bmm(along_entered.mT, queries))
    after, later = scan(later, read_by, group.fade, backwards=True)
    pairs = torch.bmm(grad, values.mT).add_(along).mul_(group.decay)
    to_queries = torch.bmm(pairs, keys).baddbmm_(entered, before.weighted.mT)
    to_queries.addcmul_(along_entered, before.counted)
    to_keys = torch.bmm(pairs.mT, queries).baddbmm_(times(values, leave), after.weighted.mT)
    to_values = torch.bmm(weights.mT, grad)
    if leave is None:
        to_keys.add_(after.counted)
        to_values.baddbmm_(keys, after.weighted)
    else:
        to_keys.addcmul_(leave, after.counted)
        to_values.addcmul_(torch.bmm(keys, after.weighted), leave)
    return to_queries, to_keys, to_values, later


def scan(
    start: Sums, added: Sums, fade: Tensor | None, *, backwards: bool = False
) -> tuple[Sums, Sums]:
    """The states before each chunk (N, …) and after all: state ← fade · state + added."""
    (weighted, weighted_after), (counts, counts_after) = (
        run_up(one, more, backwards=backwards)
        if fade is None
        else in_steps(one, more, fade, backwards=backwards)
        for one, more in zip(start, added, strict=True)
    )
    return Sums(weighted, counts), Sums(weighted_after, counts_after)
