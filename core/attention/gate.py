"""A scalar gate: linear attention without a feature map whose state fades by one factor a token.

    S_t = a_t S_{t−1} + k_t v_tᵀ,   output_t = S_tᵀ q_t / √d
    output_i = Σ_{j≤i} D_ij (q_i·k_j / √d) v_j,   D_ij = Π_{j<t≤i} a_t

(Sun et al. 2023, RetNet, arXiv 2307.08621, equations 5 to 7, with a fixed factor a head; Dao and
Gu 2024, Mamba-2, arXiv 2405.21060, section 6, with one a token, as here; Qin et al. 2024, Lightning
Attention-2, arXiv 2401.04658, in chunks.) The layers there have a norm behind their heads; here is
none, so that an output is linear in the values. Gates are given as log a_t ≤ 0 and multiplied as
sums of logarithms (core.attention.chunks): a gate of 1 forgets nothing, one of 0 all before it.

There is no softmax and no normaliser: `weights` are D_ij (q_i·k_j / √d). They can be negative, and
rows need not sum to 1. What is padding writes nothing, and nothing fades there.

Shapes: query, key, value (batch, head, position, head_dim), log_gate (batch, head, position).
Cost: parallel 4·L²·d operations and 3·L² numbers; chunks of C tokens 4·L·C·d + 2·L·C² + 4·L·d²
operations and about L·d + n·(2·C + 4·d + d²/C) numbers, n tokens being worked on at a time; token
by token 4·L·d² operations. State: d² numbers a head.
"""

import torch
from torch import Tensor

from core.attention.chunks import (
    CHUNK,
    Chunks,
    State,
    between,
    carry,
    check,
    decays,
    in_chunks,
    in_parts,
    shown,
    start,
    weighed,
)
from core.attention.softmax import widened

__all__ = ["State", "attend", "parallel", "recurrent", "resume", "start", "step", "weights"]


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    log_gate: Tensor,
    *,
    padding: Tensor | None = None,
    chunk: int = CHUNK,
) -> Tensor:
    """Causal output (B, H, L, d) in the value's dtype, in chunks."""
    return resume(query, key, value, log_gate, start(key, value), padding=padding, chunk=chunk)[0]


def parallel(
    query: Tensor, key: Tensor, value: Tensor, log_gate: Tensor, *, padding: Tensor | None = None
) -> Tensor:
    """The same by all pairs at once."""
    shown_weights = weights(query, key, log_gate, padding=padding)
    return (shown_weights @ widened(value)).to(value.dtype)


def recurrent(
    query: Tensor, key: Tensor, value: Tensor, log_gate: Tensor, state: State
) -> tuple[Tensor, State]:
    """The same token by token."""
    outputs = [value[:, :, :0]]
    for t in range(query.shape[2]):
        one = slice(t, t + 1)
        token = (query[:, :, one], key[:, :, one], value[:, :, one], log_gate[:, :, one])
        output, state = step(*token, state)
        outputs.append(output)
    return torch.cat(outputs, 2), state


def resume(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    log_gate: Tensor,
    state: State,
    *,
    padding: Tensor | None = None,
    chunk: int = CHUNK,
) -> tuple[Tensor, State]:
    """The output of tokens that follow those in `state`, and the state after them."""
    check(query, key, padding, chunk, log_gate=log_gate)
    hidden = None if padding is None else padding[:, None]
    output, state = in_parts(_part, query, key, value, log_gate, hidden, state=state, chunk=chunk)
    return output.to(value.dtype), state


def _part(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    log_gate: Tensor,
    hidden: Tensor | None,
    *,
    state: State,
    chunk: int,
) -> tuple[Tensor, State]:
    """The same of some tokens; hidden (B, 1, L) is True where padding is."""
    padding = None if hidden is None else hidden[:, 0]
    looks, stands = in_chunks(widened(query), chunk), in_chunks(seen_keys(key, padding), chunk)
    fading = decays(in_chunks(shown(log_gate, padding), chunk))
    chunks = Chunks(
        queries=fading.enter * looks,
        keys=fading.leave * stands,
        written=in_chunks(widened(value), chunk),
        pairs=weighed(looks @ stands.mT, fading.pairs),
        fade=fading.fade,
    )
    output, matrix = carry(chunks, state.matrix, query.shape[-1] ** -0.5)
    return output.flatten(2, 3)[:, :, : query.shape[2]], State(matrix=matrix)


def step(
    query: Tensor, key: Tensor, value: Tensor, log_gate: Tensor, state: State
) -> tuple[Tensor, State]:
    """One token (B, H, 1, d) after those in `state`: its output and the next state. Cost: 4·d²."""
    faded = state.matrix * widened(log_gate).exp()[..., None]
    matrix = faded + widened(key).mT @ widened(value)
    return (scaled(query) @ matrix).to(value.dtype), State(matrix=matrix)


def weights(
    query: Tensor, key: Tensor, log_gate: Tensor, *, padding: Tensor | None = None
) -> Tensor:
    """Effective weights (B, H, L, L), at least float32: weights @ value is the output."""
    check(query, key, padding, 1, log_gate=log_gate)
    fading = between(shown(log_gate, padding))
    return (scaled(query) @ seen_keys(key, padding).mT) * fading


def scaled(query: Tensor) -> Tensor:
    """Queries over √d, at least float32."""
    return widened(query) * query.shape[-1] ** -0.5


def seen_keys(key: Tensor, padding: Tensor | None) -> Tensor:
    """Keys, at least float32, zero where padding is."""
    wide = widened(key)
    return wide if padding is None else wide.masked_fill(padding[:, None, :, None], 0.0)
