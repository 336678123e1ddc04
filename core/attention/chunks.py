"""What mechanisms with a matrix for a state share: gates in log space, and texts in chunks.

A gate a_t in [0, 1] is given by its logarithm g_t = log a_t ≤ 0, and 0 itself by −∞. From key j to
row i ≥ j what was written fades by

    D_ij = Π_{j<t≤i} a_t = exp(Σ_{j<t≤i} g_t),  D_ii = 1

Each sum is formed of the very gates between the two, never as the difference of two longer sums: so
nothing cancels, a gate of exactly 0 gives zeros and not NaN, and as no exponent is above 0 nothing
overflows. What underflows has faded.

Shapes: query, key, value (batch, head, position, head_dim), log_gate (batch, head, position); in
chunks of C tokens (B, H, N, C, …). Cost of the gates: L·C sums and exponentials.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor

from core.attention.feature_maps import LOG2_E
from core.attention.linear_parts import rows_at_once
from core.attention.masks import check_padding
from core.attention.scan import Scan
from core.attention.softmax import widened

CHUNK = 32
# Sums of gates between pairs of so many tokens are formed by a product with a triangle of ones.
SUMMED_BY_PRODUCT = 64
# A part's queries, keys and values with what is made of them, as multiples of its queries.
AT_ONCE = 4
CLOSED = -1e4  # the log of a gate that is 0 in every precision: e to its power is


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that later tokens need: S (B, H, d, d_v), what a query reads as Sᵀ q."""

    matrix: Tensor


Run = Callable[..., tuple[Tensor, State]]


class Decays(NamedTuple):
    """How what is written fades: between pairs (…, C, C), from before the chunk to a row `enter`
    (…, C, 1), from a key to the chunk's end `leave` (…, C, 1), over the whole chunk `fade`
    (…, 1, 1).
    """

    pairs: Tensor
    enter: Tensor
    leave: Tensor
    fade: Tensor


class Chunks(NamedTuple):
    """N chunks as `carry` reads them: pairs (B, H, N, C, C); queries and keys (B, H, N, C, d) with
    their fading; `written` (B, H, N, C, d_v), less what `seen` (B, H, N, C, d) reads of the state.
    """

    queries: Tensor
    keys: Tensor
    written: Tensor
    pairs: Tensor
    fade: Tensor | None = None
    seen: Tensor | None = None


def start(key: Tensor, value: Tensor) -> State:
    """The state before any token."""
    shape = (*key.shape[:2], key.shape[-1], value.shape[-1])
    return State(matrix=widened(value).new_zeros(shape))


def between(log_gate: Tensor) -> Tensor:
    """D (…, L, L) of log gates (…, L): 1 on the diagonal, 0 for the future."""
    n = log_gate.shape[-1]
    past = torch.ones(n, n, dtype=log_gate.dtype, device=log_gate.device).tril()
    if n <= SUMMED_BY_PRODUCT:  # n³ operations, and still faster than sums down a column
        gates = log_gate.clamp(min=CLOSED) * LOG2_E
        sums = torch.matmul(past, gates[..., None] * past.tril(-1))
        return weighed(sums.exp2() if sums.requires_grad else sums.exp2_(), past)
    steps = log_gate[..., None].expand(*log_gate.shape, n).masked_fill(past.tril(-1) == 0, 0.0)
    return steps.cumsum(-2).masked_fill(past == 0, -torch.inf).exp()


def weighed(fresh: Tensor, factor: Tensor) -> Tensor:
    """Their product; in the place of what was just made where no gradient needs it."""
    wanted = torch.is_grad_enabled() and (fresh.requires_grad or factor.requires_grad)
    return fresh * factor if wanted else fresh.mul_(factor)


def decays(log_gate: Tensor) -> Decays:
    """Of log gates in chunks (…, C)."""
    pairs = between(log_gate)
    enter = log_gate.cumsum(-1).exp()[..., None]
    return Decays(pairs, enter, pairs[..., -1, :, None], enter[..., -1:, :])


def in_chunks(x: Tensor, chunk: int) -> Tensor:
    """(B, H, L, …) to (B, H, N, C, …), filled up with zeros; N is at least 1."""
    n_chunks = max(1, -(-x.shape[2] // chunk))
    lacking = n_chunks * chunk - x.shape[2]
    if lacking:
        x = torch.cat([x, x.new_zeros(*x.shape[:2], lacking, *x.shape[3:])], dim=2)
    return torch.unflatten(x, 2, (n_chunks, chunk))


def in_parts(
    run: Run, query: Tensor, *others: Tensor | None, state: State, chunk: int
) -> tuple[Tensor, State]:
    """The output of query, key, value and rates (B, H, L, …) and the state after them.

    They are worked on in parts that fit into the cache: `run` is given each part of all that is
    there, the state before it and how many tokens a chunk has.
    """
    n_tokens = query.shape[2]
    chunk = min(chunk, max(1, n_tokens))
    at_once = 1 if query.requires_grad else AT_ONCE  # a part more is one more for autograd
    step = max(1, rows_at_once(query, at_once * query.shape[-1]) // chunk) * chunk
    n_parts = max(1, -(-n_tokens // step))
    outputs: list[Tensor] = []
    for part in zip(*(_split(x, step, n_parts) for x in (query, *others)), strict=True):
        output, state = run(*part, state=state, chunk=chunk)
        outputs.append(output)
    return torch.cat(outputs, 2) if n_parts > 1 else outputs[0], state


def _split(x: Tensor | None, step: int, n_parts: int) -> Sequence[Tensor | None]:
    """At once and not slice by slice: the gradient of a slice is as large as the whole."""
    return [None] * n_parts if x is None else cast("Sequence[Tensor]", x.split(step, 2))


def carry(chunks: Chunks, matrix: Tensor, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    """Outputs (B, H, N, C, d_v) of all chunks, times scale, and the state after them.

    Chunk by chunk goes the state alone, S ← fade · S + Kᵀ (written − seen S); what is read of it
    is multiplied for all chunks at once.
    """
    queries, keys, written, pairs = (x.flatten(0, 2) for x in chunks[:4])
    state = matrix.flatten(0, 1)
    fade = None if chunks.fade is None else chunks.fade.flatten(0, 1)
    if chunks.seen is None:
        before, after = cast(
            "tuple[Tensor, Tensor]",
            Scan.apply(state, torch.bmm(keys.mT, written), fade, 1),
        )
    else:
        before, written, after = _replace(state, keys, written, chunks.seen.flatten(0, 2), fade)
    read = torch.bmm(queries, before)
    add = read.baddbmm if read.requires_grad or written.requires_grad else read.baddbmm_
    output = add(pairs, written, beta=scale, alpha=scale)
    return output.view(chunks.written.shape), after.view(matrix.shape)


def _replace(
    state: Tensor, keys: Tensor, written: Tensor, seen: Tensor, fade: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """States before each chunk (B·H·N, d, d_v), what is written there, and the state after all."""
    befores, wrote = list[Tensor](), list[Tensor]()
    n_heads = len(state)
    each = (x.view(n_heads, -1, *x.shape[1:]).unbind(1) for x in (keys, written, seen))
    for n, (key, value, read) in enumerate(zip(*each, strict=True)):
        befores.append(state)
        wrote.append(torch.baddbmm(value, read, state, alpha=-1))
        faded = state if fade is None else state * fade[:, n]
        state = torch.baddbmm(faded, key.mT, wrote[-1])
    return torch.stack(befores, 1).flatten(0, 1), torch.stack(wrote, 1).flatten(0, 1), state


def check(query: Tensor, key: Tensor, padding: Tensor | None, chunk: int, **rates: Tensor) -> None:
    """Raise ValueError unless queries and keys are the same tokens and each has its rates."""
    if query.shape[2] != key.shape[2]:
        raise ValueError(
            f"{query.shape[2]} queries and {key.shape[2]} keys: a state is written and read in "
            "the order of the same tokens"
        )
    if chunk < 1:
        raise ValueError(f"chunks of {chunk} tokens; at least 1 is needed")
    check_padding(padding, key)
    for name, rate in rates.items():
        if rate.shape != key.shape[:3]:
            raise ValueError(
                f"{name} is {tuple(rate.shape)}; one a token and head is {tuple(key.shape[:3])}"
            )


def shown(rate: Tensor, padding: Tensor | None) -> Tensor:
    """Rates (B, H, L), at least float32, 0 where padding is: nothing is written, nothing fades."""
    rate = widened(rate)
    return rate if padding is None else rate.masked_fill(padding[:, None, :], 0.0)
