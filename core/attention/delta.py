"""The delta rule: a key's old value is taken away before its new one is written.

    S_t = S_{t−1} + k_t (β_t (v_t − S_{t−1}ᵀ k_t))ᵀ = (I − β_t k_t k_tᵀ) S_{t−1} + β_t k_t v_tᵀ
    output_t = S_tᵀ q_t

(Schlag et al. 2021, "Linear transformers are secretly fast weight programmers", section 4.2; in
chunks Yang et al. 2024, arXiv 2406.06484.) Keys and queries are brought to length 1, as in the
latter; the former divides them by their sums. Then S_tᵀ k_t = (1 − β_t) S_{t−1}ᵀ k_t + β_t v_t,
and β_t = 1 overwrites what stood at the key. β is in (0, 1), a sigmoid, in those papers; up to 2
the rule stays stable, for I − β k kᵀ then has an eigenvalue in [−1, 1] (Grazzi et al. 2024, arXiv
2411.12537). The layers there have a short convolution before and a norm behind; here is neither,
so that an output is linear in the values.

There is no softmax and no normaliser: `weights` are what each value is multiplied by. They can be
negative, and rows need not sum to 1. What is padding writes nothing.

Shapes: query, key, value (batch, head, position, head_dim), beta (batch, head, position).
Cost, chunks of C tokens: 10·L·C·d + L·C² + 6·L·d² operations, and about
L·d + n·(3·C + 4·d + 2·d²/C) numbers, n tokens being worked on at a time; token by token 6·L·d²
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
    *,
    padding: Tensor | None = None,
    chunk: int = CHUNK,
) -> Tensor:
    """Causal output (B, H, L, d) in the value's dtype, in chunks."""
    return resume(query, key, value, beta, start(key, value), padding=padding, chunk=chunk)[0]


def resume(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    state: State,
    *,
    padding: Tensor | None = None,
    chunk: int = CHUNK,
) -> tuple[Tensor, State]:
    """The output of tokens that follow those in `state`, and the state after them."""
    return wy.resume(query, key, value, beta, None, state, padding=padding, chunk=chunk)


def recurrent(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, state: State
) -> tuple[Tensor, State]:
    """The same token by token."""
    outputs = [value[:, :, :0]]
    for t in range(query.shape[2]):
        one = slice(t, t + 1)
        token = (query[:, :, one], key[:, :, one], value[:, :, one], beta[:, :, one])
        output, state = step(*token, state)
        outputs.append(output)
    return torch.cat(outputs, 2), state


def step(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, state: State
) -> tuple[Tensor, State]:
    """One token (B, H, 1, d) after those in `state`: its output and the next state. Cost: 6·d²."""
    return wy.step(query, key, value, beta, None, state)


def weights(query: Tensor, key: Tensor, beta: Tensor, *, padding: Tensor | None = None) -> Tensor:
    """Effective weights (B, H, L, L): weights @ value is the output. Cost: 4·L²·d + L³."""
    return wy.weights(query, key, beta, None, padding=padding)


def products(query: Tensor, key: Tensor) -> Tensor:
    """q_i·k_j (B, H, L, L) of the past: the weights if nothing were ever replaced, and β were 1."""
    return wy.products(query, key, None)
