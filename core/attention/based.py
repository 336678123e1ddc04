"""Based: softmax's own exponential in a window, its Taylor polynomial for all that is further back.

    output_i = Σ_j m_ij v_j / Σ_j m_ij,  s = q_i·k_j / √d
    m_ij = exp(s) for i − w < j ≤ i,   1 + s + s²/2 = φ(q_i)·φ(k_j) for j ≤ i − w

The two parts are those of Arora et al. 2024, "Simple linear attention language models balance the
recall-throughput tradeoff", arXiv 2402.18668: Taylor features with three terms for what is far, a
window of 64 for what is near. There they are layers of their own, one after the other, and the
features those of 16 numbers a head. Here they are one head, under one normaliser: each pair is in
one part alone, as in Zhang et al. 2024, LoLCATs, arXiv 2410.10254, with a factor of 1 between them.
With w ≥ L it is softmax, and the polynomial is never below 1/2: every weight is positive.

Both parts are held against exp(c_i), the largest exponential in the window, and not below 1 if
there are far keys: no power overflows, and something of the normaliser is left.

Blocks of b = max(w, 64) tokens: pairs in the band of core.attention.bands, what stands before it
through a state Σ φ(k_j) [v_j, 1]ᵀ.

Shapes: query, key, value (batch, head, position, head_dim). Cost, r = (d + 1)·(d + 2) / 2 features:
8·L·b·(d + 1/2) + 4·L·r·(d + 1) operations, about 12·L·b + 3·b·r numbers; one token
4·w·d + 4·r·d operations. State: r·(d + 1) + 2·w·d numbers a head.

A row that sees no key gets 0 (core.attention.masks.blind_rows names it).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import softmax, taylor
from core.attention.bands import (
    Ring,
    band_positions,
    check,
    empty_ring,
    hidden_in_bands,
    in_bands,
    ring_of,
    with_token,
)
from core.attention.chunks import in_chunks
from core.attention.feature_maps import FeatureMap, of_keys
from core.attention.linear_parts import inverted, with_ones
from core.attention.softmax import widened

N_TERMS = 3
LEAST_BLOCK = 64
MOST = 80.0  # exp of it stays within float32


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The last w keys and values, and of all before them Σ φ(k_j) [v_j, 1]ᵀ (B, H, r, d + 1)."""

    near: Ring
    far: Tensor


def feature_map(head_dim: int) -> FeatureMap:
    """φ for heads of this size; making its tables costs more than a pass over a short text."""
    return taylor.feature_map(head_dim, N_TERMS)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    features: FeatureMap,
    *,
    window: int,
    padding: Tensor | None = None,
) -> Tensor:
    """Causal output (B, H, L, d) in the value's dtype, in banded blocks with a carried state."""
    check(query, key, window, padding)
    n_tokens = query.shape[2]
    block = max(1, min(max(window, LEAST_BLOCK), n_tokens))
    rows, columns = band_positions(block, n_tokens, key.device)
    hidden = hidden_in_bands(block, n_tokens, key.device, padding)
    scores = softmax.scores(in_chunks(query, block), in_bands(key, block))
    near = scores.masked_fill(hidden | (columns <= rows - window), -torch.inf)
    far = taylor.polynomial(scores, N_TERMS).masked_fill(hidden | (columns > rows - window), 0.0)
    before = _before(query, key, value, features, block, padding)
    seen_far = (far.sum(-1, keepdim=True) + before[..., -1:]) > 0
    top = _top(near, seen_far)
    pairs = (near - top).exp() + far * _held(top)
    totals = pairs @ in_bands(with_ones(value, pairs.dtype), block) + before * _held(top)
    output = totals[..., :-1] * inverted(totals[..., -1:])
    return output.flatten(2, 3)[:, :, :n_tokens].to(value.dtype)


def start(key: Tensor, value: Tensor, features: FeatureMap, *, window: int) -> State:
    """The state before any token."""
    n_features = features(widened(key[:, :, :0])).values.shape[-1]
    far = widened(key).new_zeros(*key.shape[:2], n_features, value.shape[-1] + 1)
    return State(near=empty_ring(key, value, window), far=far)


def resume(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    features: FeatureMap,
    state: State | None,
    *,
    window: int,
) -> tuple[Tensor, State]:
    """The output of tokens that follow those in `state`, and the state after them.

    A text that begins is read in blocks; what goes on from an earlier part, token by token.
    """
    if state is None:
        output = attend(query, key, value, features, window=window)
        n_far = max(0, key.shape[2] - window)
        far = _sums(key[:, :, :n_far], value[:, :, :n_far], features)
        return output, State(near=ring_of(key, value, window), far=far)
    outputs = [value[:, :, :0]]
    for t in range(query.shape[2]):
        one = slice(t, t + 1)
        output, state = step(query[:, :, one], key[:, :, one], value[:, :, one], features, state)
        outputs.append(output)
    return torch.cat(outputs, 2), state


def step(
    query: Tensor, key: Tensor, value: Tensor, features: FeatureMap, state: State
) -> tuple[Tensor, State]:
    """One token (B, H, 1, d) after those in `state`: its output and the next state."""
    near, far = state.near, state.far
    window = near.keys.shape[2]
    if near.n_seen >= window:  # the oldest leaves the window
        slot = slice(near.n_seen % window, near.n_seen % window + 1)
        far = far + _sums(near.keys[:, :, slot], near.values[:, :, slot], features)
    near = with_token(near, key, value)
    scores = softmax.scores(query, near.keys, hidden=near.positions < 0)
    before = features(widened(query)).values @ far
    top = _top(scores, before[..., -1:] > 0)
    totals = (scores - top).exp() @ with_ones(near.values, scores.dtype) + before * _held(top)
    output = totals[..., :-1] * inverted(totals[..., -1:])
    return output.to(value.dtype), State(near=near, far=far)


def weights(query: Tensor, key: Tensor, *, window: int, padding: Tensor | None = None) -> Tensor:
    """Effective weights (B, H, L, L), at least float32: positive, rows sum to 1; hidden pairs get
    exactly 0. By the polynomial, which is what features multiply to.
    """
    check(query, key, window, padding)
    scores = softmax.scores(query, key)
    positions = torch.arange(key.shape[2], device=key.device)
    is_near = positions > positions[:, None] - window
    hidden = softmax.future(positions, positions)
    if padding is not None:
        hidden = hidden | padding[:, None, None, :]
    near = scores.masked_fill(hidden | ~is_near, -torch.inf)
    far = taylor.polynomial(scores, N_TERMS).masked_fill(hidden | is_near, 0.0)
    top = _top(near, far.sum(-1, keepdim=True) > 0)
    pairs = (near - top).exp() + far * _held(top)
    return pairs * inverted(pairs.sum(-1, keepdim=True))


def products(query: Tensor, key: Tensor, *, window: int) -> Tensor:
    """M (B, H, L, L), for looking at; logits beyond MOST are cut, for exp would overflow."""
    scores = softmax.scores(query, key)
    positions = torch.arange(key.shape[2], device=key.device)
    is_near = positions > positions[:, None] - window
    polynomial = taylor.polynomial(scores, N_TERMS)
    return torch.where(is_near, scores.clamp(max=MOST).exp(), polynomial)


def _top(near: Tensor, seen_far: Tensor) -> Tensor:
    """The c (…, 1) of rows; to autograd a constant, for it cancels."""
    largest = near.detach().amax(-1, keepdim=True)
    largest = torch.where(seen_far, largest.clamp(min=0.0), largest)
    return largest.masked_fill(torch.isneginf(largest), 0.0)


def _held(top: Tensor) -> Tensor:
    """exp(−c), what the polynomial is multiplied by. It is not used where c is below 0: there is no
    far key then, and 0 times a power that overflows would be none.
    """
    return (-top.clamp(min=0.0)).exp()


def _before(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    features: FeatureMap,
    block: int,
    padding: Tensor | None,
) -> Tensor:
    """(B, H, N, b, d + 1): what each row reads of the keys before its band, not yet divided."""
    looks, stands, values = (in_chunks(x, block) for x in (query, key, value))
    hidden = None if padding is None else in_chunks(padding[:, None], block)[..., None]
    read: list[Tensor] = []
    sums: Tensor | None = None
    for n in range(looks.shape[2]):
        if n > 1:
            seen = None if hidden is None else hidden[:, :, n - 2]
            added = _sums(stands[:, :, n - 2], values[:, :, n - 2], features, seen)
            sums = added if sums is None else sums + added
        if sums is None:
            shape = (*looks.shape[:2], block, value.shape[-1] + 1)
            read.append(widened(query).new_zeros(shape))
        else:
            read.append(features(widened(looks[:, :, n])).values @ sums)
    return torch.stack(read, 2)


def _sums(
    key: Tensor, value: Tensor, features: FeatureMap, padding: Tensor | None = None
) -> Tensor:
    """Σ φ(k_j) [v_j, 1]ᵀ (B, H, r, d + 1) of keys (B, H, n, d)."""
    keys = of_keys(widened(key), features, padding).values
    return keys.mT @ with_ones(value, keys.dtype)
