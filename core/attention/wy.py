"""What the delta rule and the gated one share: steps, chunks by the WY form, effective weights.

    S_t = a_t S_{t−1} + k_t u_tᵀ,   u_t = β_t (v_t − a_t S_{t−1}ᵀ k_t),   output_t = S_tᵀ q_t

Inside a chunk, with S the state before it and D the fading of core.attention.chunks (all 1 without
a gate), what every row writes solves one triangular system:

    (I + A) U = diag(β) (V − diag(enter) K S),   A_ij = β_i D_ij k_i·k_j for j < i, else 0

I + A is the triangular factor of the WY form of a product of I − β k kᵀ (Bischof and Van Loan 1987;
for the delta rule Yang et al. 2024, "Parallelizing linear transformers with the delta rule over
sequence length", section 3). It is inverted once for V and K, before the states are known.

The outputs are linear in the values, so that there are effective weights, (L, L):

    W = P (I + A)⁻¹ diag(β),   P_ij = D_ij q_i·k_j for j ≤ i, else 0

Keys and queries are brought to length 1, x / √(‖x‖² + ε): then I − β k kᵀ never lengthens anything
for β in [0, 2], and a zero key writes nothing.
"""

from typing import Any, cast

import torch
from torch import Tensor

from core.attention.chunks import (
    Chunks,
    State,
    between,
    carry,
    check,
    decays,
    in_chunks,
    in_parts,
    shown,
)
from core.attention.softmax import widened

EPSILON = 1e-6  # of a squared length: smooth at 0, and 1 is reached to seven digits


def unit(x: Tensor) -> Tensor:
    """Rows (…, d) of length 1, at least float32; zero stays zero."""
    wide = widened(x)
    return wide * (wide.square().sum(-1, keepdim=True) + EPSILON).rsqrt()


def resume(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    log_gate: Tensor | None,
    state: State,
    *,
    padding: Tensor | None,
    chunk: int,
) -> tuple[Tensor, State]:
    """Causal output of tokens that follow those in `state`, and the state after them."""
    rates = {"beta": beta} if log_gate is None else {"beta": beta, "log_gate": log_gate}
    check(query, key, padding, chunk, **rates)
    hidden = None if padding is None else padding[:, None]
    output, state = in_parts(
        _part, query, key, value, beta, log_gate, hidden, state=state, chunk=chunk
    )
    return output.to(value.dtype), state


def _part(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    log_gate: Tensor | None,
    hidden: Tensor | None,
    *,
    state: State,
    chunk: int,
) -> tuple[Tensor, State]:
    """The same of some tokens; hidden (B, 1, L) is True where padding is."""
    padding = None if hidden is None else hidden[:, 0]
    rows = [in_chunks(x, chunk) for x in (unit(query), unit(key), widened(value))]
    write = in_chunks(shown(beta, padding), chunk)
    gate = None if log_gate is None else in_chunks(shown(log_gate, padding), chunk)
    output, matrix = carry(_solved(rows[0], rows[1], rows[2], write, gate), state.matrix)
    return output.flatten(2, 3)[:, :, : query.shape[2]], State(matrix=matrix)


def step(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    log_gate: Tensor | None,
    state: State,
) -> tuple[Tensor, State]:
    """One token (B, H, 1, d) after those in `state`: its output and the next state."""
    looks, stands = unit(query), unit(key)
    matrix = state.matrix
    if log_gate is not None:
        matrix = matrix * widened(log_gate).exp()[..., None]
    wrote = widened(beta)[..., None] * (widened(value) - stands @ matrix)
    matrix = matrix + stands.mT @ wrote
    return (looks @ matrix).to(value.dtype), State(matrix=matrix)


def weights(
    query: Tensor,
    key: Tensor,
    beta: Tensor,
    log_gate: Tensor | None,
    *,
    padding: Tensor | None,
) -> Tensor:
    """Effective weights W (B, H, L, L), at least float32, by one triangular solve."""
    rates = {"beta": beta} if log_gate is None else {"beta": beta, "log_gate": log_gate}
    check(query, key, padding, 1, **rates)
    write = shown(beta, padding)[..., None]
    looks, stands = unit(query), unit(key)
    fading = None if log_gate is None else between(shown(log_gate, padding))
    system = write * _faded(stands @ stands.mT, fading)
    products = _faded(looks @ stands.mT, fading)
    return _solve(system, products, left=False).tril() * write.mT


def products(query: Tensor, key: Tensor, log_gate: Tensor | None) -> Tensor:
    """P (B, H, L, L): what a value would be multiplied by if nothing were ever replaced."""
    fading = None if log_gate is None else between(widened(log_gate))
    return _faded(unit(query) @ unit(key).mT, fading)


def _solved(
    query: Tensor, key: Tensor, value: Tensor, write: Tensor, log_gate: Tensor | None
) -> Chunks:
    """All chunks (B, H, N, C, …) as they are carried: the systems solved for V and for K."""
    fading = None if log_gate is None else decays(log_gate)
    enter = key if fading is None else fading.enter * key
    pairs = None if fading is None else fading.pairs
    write = write[..., None]
    system = write * _faded(key @ key.mT, pairs)
    inverse = cast("Tensor", UnitInverse.apply(system.flatten(0, 2))).view(system.shape)
    written, seen = inverse @ (write * value), inverse @ (write * enter)
    return Chunks(
        queries=query if fading is None else fading.enter * query,
        keys=key if fading is None else fading.leave * key,
        written=written,
        pairs=_faded(query @ key.mT, pairs),
        fade=None if fading is None else fading.fade,
        seen=seen,
    )


class UnitInverse(torch.autograd.Function):
    """(I + A)⁻¹ of systems A (N, C, C), of which only what is below the diagonal is read.

    To invert once and multiply costs half of solving for values and keys: they are wider than C.
    """

    @staticmethod
    def forward(ctx: Any, system: Tensor) -> Tensor:
        one = torch.eye(system.shape[-1], dtype=system.dtype, device=system.device)
        inverse = _solve(system, one.expand_as(system)).contiguous()
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (inverse,) = ctx.saved_tensors
        return -torch.bmm(inverse.mT, torch.bmm(grads[0], inverse.mT)).tril(-1)


def _solve(system: Tensor, right: Tensor, *, left: bool = True) -> Tensor:
    """X of (I + A) X = right, or of X (I + A) = right; of `system` only what is below its diagonal
    is read.
    """
    return cast(
        "Tensor",
        torch.linalg.solve_triangular(system, right, upper=False, left=left, unitriangular=True),
    )


def _faded(products: Tensor, fading: Tensor | None) -> Tensor:
    """Products of pairs (…, C, C) as they have faded, 0 for the future."""
    return products.tril() if fading is None else products * fading
