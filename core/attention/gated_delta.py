"""The gated delta rule: all that is stored fades, then a key's old value makes way for its new one.

    S_t = a_t (I − β_t k_t k_tᵀ) S_{t−1} + β_t k_t v_tᵀ,   output_t = S_tᵀ q_t

(Yang, Kautz and Hatamizadeh 2024, "Gated delta networks: improving Mamba2 with delta rule", arXiv
2412.06464, equation 10.) With a_t = 1 it is core.attention.delta, which says what is so of keys,
β and effective weights; with the second term of the bracket left out, core.attention.gate. Gates
are given as log a_t ≤ 0 and multiplied as sums of logarithms: see core.attention.chunks.

Shapes: query, key, value (batch, head, position, head_dim), beta and log_gate (batch, head,
position). Cost, chunks of C tokens: 10·L·C·d + 3·L·C² + 6·L·d² operations, and about
L·d + n·(5·C + 4·d + 2·d²/C) numbers, n tokens being worked on at a time; token by token 6·L·d²
operations. State: d² numbers a head, whatever the length.
"""

import torch
from torch import Tensor

from core.attention import wy
from core.attention.chunks import CHUNK, State, start

__all__ = ["State", "attend", "products", "recurrent", "resume", "start", "step", "weights"]


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    log_gate: Tensor,
    *,
    padding: Tensor | None = None,
    chunk: int = CHUNK,
) -> Tensor:
    """Causal output (B, H, L, d) in the value's dtype, in chunks."""
    first = start(key, value)
    return resume(query, key, value, beta, log_gate, first, padding=padding, chunk=chunk)[0]


def resume(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    log_gate: Tensor,
    state: State,
    *,
    padding: Tensor | None = None,
    chunk: int = CHUNK,
) -> tuple[Tensor, State]:
    """The output of tokens that follow those in `state`, and the state after them."""
    return wy.resume(query, key, value, beta, log_gate, state, padding=padding, chunk=chunk)


def recurrent(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, log_gate: Tensor, state: State
) -> tuple[Tensor, State]:
    """The same token by token."""
    outputs = [value[:, :, :0]]
    for t in range(query.shape[2]):
        one = slice(t, t + 1)
        rates = (beta[:, :, one], log_gate[:, :, one])
        output, state = step(query[:, :, one], key[:, :, one], value[:, :, one], *rates, state)
        outputs.append(output)
    return torch.cat(outputs, 2), state


def step(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, log_gate: Tensor, state: State
) -> tuple[Tensor, State]:
    """One token (B, H, 1, d) after those in `state`: its output and the next state. Cost: 6·d²."""
    return wy.step(query, key, value, beta, log_gate, state)


def weights(
    query: Tensor, key: Tensor, beta: Tensor, log_gate: Tensor, *, padding: Tensor | None = None
) -> Tensor:
    """Effective weights (B, H, L, L): weights @ value is the output. Cost: 4·L²·d + L³."""
    return wy.weights(query, key, beta, log_gate, padding=padding)


def products(query: Tensor, key: Tensor, log_gate: Tensor) -> Tensor:
    """D_ij q_i·k_j (B, H, L, L): the weights if nothing were ever replaced, and β were 1."""
    return wy.products(query, key, log_gate)
