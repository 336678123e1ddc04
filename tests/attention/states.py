"""The mechanisms with a state of fixed size side by side: every form of each, and naive loops.

A mechanism is called with query, key, value and its rates, `beta` and `log_gate` (B, H, L), of
which it takes what it has.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.attention import based, delta, gate, gated_delta, window

HEAD_DIM, VALUE_DIM = 6, 5
WINDOW, N_SINKS = 5, 2
FEATURES = based.feature_map(HEAD_DIM)


class Given(NamedTuple):
    """What is attended to: (B, H, L, d), values (B, H, L, d_v), rates (B, H, L)."""

    query: Tensor
    key: Tensor
    value: Tensor
    beta: Tensor
    log_gate: Tensor

    def at(self, rows: slice) -> "Given":
        return Given(*(x[:, :, rows] for x in self))

    def to(self, dtype: torch.dtype) -> "Given":
        return Given(*(x.to(dtype) for x in self))


def draw(n_tokens: int, *, seed: int = 0, n_batch: int = 2) -> Given:
    """In float64; gates of about 0.9, β of about a half."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(n_batch, 2, n_tokens, *shape, generator=generator).double()

    query, key, value = normal(HEAD_DIM), normal(HEAD_DIM), normal(VALUE_DIM)
    beta, log_gate = normal().sigmoid(), torch.nn.functional.logsigmoid(normal() + 2)
    return Given(query, key, value, beta, log_gate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One mechanism: whole text, begin and go on, one token, weights, and the naive loop.

    `forms` are others of the same whole text. `is_normalised`: whether rows sum to 1.
    """

    attend: Callable[..., Tensor]
    resume: Callable[[Given, Any], tuple[Tensor, Any]]
    step: Callable[[Given, Any], tuple[Tensor, Any]]
    start: Callable[[Given], Any]
    weights: Callable[..., Tensor]
    naive: Callable[[Given], np.ndarray]
    forms: dict[str, Callable[[Given], Tensor]]
    is_normalised: bool = False


def naive_delta(x: Given, *, gated: bool = True) -> np.ndarray:
    """S ← a S + k (β (v − a Sᵀ k))ᵀ, o = Sᵀ q, token by token."""
    query, key, value, beta, log_gate = (y.double().numpy() for y in x)
    query, key = (y / np.sqrt((y**2).sum(-1, keepdims=True) + 1e-6) for y in (query, key))
    output = np.zeros(value.shape)
    for b, h in np.ndindex(*key.shape[:2]):
        state = np.zeros((key.shape[-1], value.shape[-1]))
        for t in range(key.shape[2]):
            state = state * (math.exp(log_gate[b, h, t]) if gated else 1)
            old = state.T @ key[b, h, t]
            state = state + np.outer(key[b, h, t], beta[b, h, t] * (value[b, h, t] - old))
            output[b, h, t] = state.T @ query[b, h, t]
    return output


def naive_gate(x: Given) -> np.ndarray:
    """S ← a S + k vᵀ, o = Sᵀ q / √d, token by token."""
    query, key, value, _, log_gate = (y.double().numpy() for y in x)
    output = np.zeros(value.shape)
    for b, h in np.ndindex(*key.shape[:2]):
        state = np.zeros((key.shape[-1], value.shape[-1]))
        for t in range(key.shape[2]):
            state = math.exp(log_gate[b, h, t]) * state + np.outer(key[b, h, t], value[b, h, t])
            output[b, h, t] = state.T @ query[b, h, t] / math.sqrt(key.shape[-1])
    return output


def naive_pairs(x: Given, weight: Callable[[int, int, float], float]) -> np.ndarray:
    """Σ_j m_ij v_j / Σ_j m_ij over j ≤ i, with m of (i, j, q·k / √d)."""
    query, key, value = (y.double().numpy() for y in x[:3])
    output = np.zeros(value.shape)
    for b, h, i in np.ndindex(*key.shape[:3]):
        total = 0.0
        for j in range(i + 1):
            m = weight(i, j, query[b, h, i] @ key[b, h, j] / math.sqrt(key.shape[-1]))
            output[b, h, i] += m * value[b, h, j]
            total += m
        output[b, h, i] /= total
    return output


def naive_window(x: Given) -> np.ndarray:
    return naive_pairs(x, lambda i, j, s: math.exp(s) if j > i - WINDOW or j < N_SINKS else 0.0)


def naive_based(x: Given) -> np.ndarray:
    return naive_pairs(x, lambda i, j, s: math.exp(s) if j > i - WINDOW else 1 + s + s**2 / 2)


SIZES = {"window": WINDOW, "n_sinks": N_SINKS}
DELTA = Mechanism(
    attend=lambda x, **how: delta.attend(*x[:4], **how),
    resume=lambda x, state: delta.resume(*x[:4], state, chunk=4),
    step=lambda x, state: delta.step(*x[:4], state),
    start=lambda x: delta.start(x.key, x.value),
    weights=lambda x, **how: delta.weights(x.query, x.key, x.beta, **how),
    naive=lambda x: naive_delta(x, gated=False),
    forms={
        "chunks of 4": lambda x: delta.attend(*x[:4], chunk=4),
        "recurrent": lambda x: delta.recurrent(*x[:4], delta.start(x.key, x.value))[0],
    },
)
GATED_DELTA = Mechanism(
    attend=lambda x, **how: gated_delta.attend(*x, **how),
    resume=lambda x, state: gated_delta.resume(*x, state, chunk=4),
    step=lambda x, state: gated_delta.step(*x, state),
    start=lambda x: gated_delta.start(x.key, x.value),
    weights=lambda x, **how: gated_delta.weights(x.query, x.key, x.beta, x.log_gate, **how),
    naive=naive_delta,
    forms={
        "chunks of 4": lambda x: gated_delta.attend(*x, chunk=4),
        "recurrent": lambda x: gated_delta.recurrent(*x, gated_delta.start(x.key, x.value))[0],
    },
)
GATE = Mechanism(
    attend=lambda x, **how: gate.attend(x.query, x.key, x.value, x.log_gate, **how),
    resume=lambda x, state: gate.resume(x.query, x.key, x.value, x.log_gate, state, chunk=4),
    step=lambda x, state: gate.step(x.query, x.key, x.value, x.log_gate, state),
    start=lambda x: gate.start(x.key, x.value),
    weights=lambda x, **how: gate.weights(x.query, x.key, x.log_gate, **how),
    naive=naive_gate,
    forms={
        "chunks of 4": lambda x: gate.attend(*x[:3], x.log_gate, chunk=4),
        "parallel": lambda x: gate.parallel(*x[:3], x.log_gate),
        "recurrent": lambda x: gate.recurrent(*x[:3], x.log_gate, gate.start(x.key, x.value))[0],
    },
)
SINKS = Mechanism(
    attend=lambda x, **how: window.attend(*x[:3], **SIZES, **how),
    resume=lambda x, state: window.resume(*x[:3], state, **SIZES),
    step=lambda x, state: window.step(*x[:3], state),
    start=lambda x: window.start(x.key, x.value, **SIZES),
    weights=lambda x, **how: window.weights(x.query, x.key, **SIZES, **how),
    naive=naive_window,
    forms={
        "token by token": lambda x: window.resume(
            *x[:3], window.start(x.key, x.value, **SIZES), **SIZES
        )[0],
    },
    is_normalised=True,
)
BASED = Mechanism(
    attend=lambda x, **how: based.attend(x.query, x.key, x.value, FEATURES, window=WINDOW, **how),
    resume=lambda x, state: based.resume(*x[:3], FEATURES, state, window=WINDOW),
    step=lambda x, state: based.step(*x[:3], FEATURES, state),
    start=lambda x: based.start(x.key, x.value, FEATURES, window=WINDOW),
    weights=lambda x, **how: based.weights(x.query, x.key, window=WINDOW, **how),
    naive=naive_based,
    forms={
        "token by token": lambda x: based.resume(
            *x[:3], FEATURES, based.start(x.key, x.value, FEATURES, window=WINDOW), window=WINDOW
        )[0],
    },
    is_normalised=True,
)
MECHANISMS = {
    "delta": DELTA,
    "gated-delta": GATED_DELTA,
    "gate": GATE,
    "window": SINKS,
    "based": BASED,
}
