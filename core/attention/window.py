"""A window with sinks: softmax over the last w tokens and the first s of the text.

    weights_i = softmax of q_i·k_j / √d over j in (i − w, i] and j < s, j ≤ i

(Xiao et al. 2023, "Efficient streaming language models with attention sinks", arXiv 2309.17453: a
window alone fails as soon as it leaves the first tokens, on which heads rest.) Here positions stay
those of the text. Without sinks, and over a whole text, it is a sliding window; with w ≥ L it is
softmax. Banded blocks (core.attention.bands) with the sinks beside them are the same as softmax
with a mask.

Shapes: query, key, value (batch, head, position, head_dim). Cost, blocks of b = max(w, 16) tokens:
4·L·(2·b + s)·d operations and about 5·L·(2·b + s) numbers (scores, masked scores, weights);
one token 4·(w + s)·d operations. State: 2·(w + s)·d numbers a head.

A row that sees no key gets 0 (core.attention.masks.blind_rows names it).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import softmax
from core.attention.bands import (
    Ring,
    band_positions,
    block_of,
    check,
    empty_ring,
    hidden_in_bands,
    in_bands,
    ring_of,
    with_token,
)
from core.attention.chunks import in_chunks
from core.attention.masks import hidden_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The first s keys and values (B, H, s, d), and the last w of those behind them."""

    first: Ring
    last: Ring


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    window: int,
    n_sinks: int = 0,
    padding: Tensor | None = None,
) -> Tensor:
    """Causal output (B, H, L, d) in the value's dtype, in banded blocks."""
    check_sinks(query, key, window, n_sinks, padding)
    n_tokens = query.shape[2]
    block = block_of(window, n_tokens)
    rows, columns = band_positions(block, n_tokens, key.device)
    hidden = hidden_in_bands(block, n_tokens, key.device, padding) | (columns <= rows - window)
    scores = softmax.scores(in_chunks(query, block), in_bands(key, block))
    sinks = slice(0, min(n_sinks, n_tokens))
    beside = in_chunks(softmax.scores(query, key[:, :, sinks]), block)
    hidden_beside = _hidden_sinks(rows, sinks.stop, window, padding)
    both = torch.cat([beside, scores], -1)
    shown = softmax.shown_weights(both, torch.cat([hidden_beside, hidden], -1)).to(value.dtype)
    far, near = torch.split(shown, [sinks.stop, 2 * block], dim=-1)
    output = near @ in_bands(value, block) + far @ value[:, :, None, sinks]
    return output.flatten(2, 3)[:, :, :n_tokens]


def start(key: Tensor, value: Tensor, *, window: int, n_sinks: int = 0) -> State:
    """The state before any token."""
    return State(first=empty_ring(key, value, n_sinks), last=empty_ring(key, value, window))


def resume(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    state: State | None,
    *,
    window: int,
    n_sinks: int = 0,
) -> tuple[Tensor, State]:
    """The output of tokens that follow those in `state`, and the state after them.

    A text that begins is read in blocks; what goes on from an earlier part, token by token.
    """
    if state is None:
        output = attend(query, key, value, window=window, n_sinks=n_sinks)
        return output, _after(key, value, window, n_sinks)
    outputs = [value[:, :, :0]]
    for t in range(query.shape[2]):
        one = slice(t, t + 1)
        output, state = step(query[:, :, one], key[:, :, one], value[:, :, one], state)
        outputs.append(output)
    return torch.cat(outputs, 2), state


def step(query: Tensor, key: Tensor, value: Tensor, state: State) -> tuple[Tensor, State]:
    """One token (B, H, 1, d) after those in `state`: its output and the next state."""
    first, last = state.first, state.last
    if first.n_seen < first.keys.shape[2]:
        first = with_token(first, key, value)
    else:
        last = with_token(last, key, value)
    keys, values = torch.cat([first.keys, last.keys], 2), torch.cat([first.values, last.values], 2)
    n_sinks = first.keys.shape[2]
    slots = torch.arange(n_sinks, device=key.device)
    empty = torch.cat([slots >= first.n_seen, last.positions < 0])
    output, _ = softmax.attend(query, keys, values, hidden=empty)
    return output, State(first=first, last=last)


def weights(
    query: Tensor,
    key: Tensor,
    *,
    window: int,
    n_sinks: int = 0,
    padding: Tensor | None = None,
) -> Tensor:
    """Weights (B, H, L, L), exactly 0 for the pairs that are left out."""
    check_sinks(query, key, window, n_sinks, padding)
    positions = torch.arange(key.shape[2], device=key.device)
    hidden = hidden_by(positions, positions, window, n_sinks)
    also = hidden_pairs(query, key, causal=False, padding=padding)
    return softmax.shown_weights(
        softmax.scores(query, key), hidden if also is None else hidden | also
    )


def hidden_by(rows: Tensor, columns: Tensor, window: int, n_sinks: int) -> Tensor:
    """(L_q, L_k) from the positions of queries and keys: True where the key is not to be seen."""
    near = columns > rows[:, None] - window
    return softmax.future(rows, columns) | ~(near | (columns < n_sinks))


def check_sinks(
    query: Tensor, key: Tensor, window: int, n_sinks: int, padding: Tensor | None
) -> None:
    """Raise ValueError for what core.attention.bands refuses, and for fewer sinks than none."""
    check(query, key, window, padding)
    if n_sinks < 0:
        raise ValueError(f"{n_sinks} sinks; there can be 0 or more")


def _hidden_sinks(rows: Tensor, n_sinks: int, window: int, padding: Tensor | None) -> Tensor:
    """(B or 1, 1, N, b, s): True for sinks that stand in a row's window, behind it, or are
    padding.
    """
    sinks = torch.arange(n_sinks, device=rows.device)
    hidden = (sinks > rows - window)[None, None]
    return hidden if padding is None else hidden | padding[:, None, None, None, :n_sinks]


def _after(key: Tensor, value: Tensor, window: int, n_sinks: int) -> State:
    """The state after a whole text."""
    first, last = slice(0, n_sinks), slice(n_sinks, None)
    state = start(key, value, window=window, n_sinks=n_sinks)
    if n_sinks:
        kept = ring_of(key[:, :, first], value[:, :, first], n_sinks)
        state = State(first=kept, last=state.last)
    return State(first=state.first, last=ring_of(key[:, :, last], value[:, :, last], window))
