"""What is read of a memory, as weights of the values that were written to it.

All that is stored here is linear in the values: asked with key i after all was written, a mechanism
answers Σ_j C_ij v_j. A recall is right while its own C_ii outweighs the noise of the others.

    linear        C_ij = k_i·k_j
    gate          C_ij = k_i·k_j γ^(n−j)
    delta         C = K Kᵀ (I + tril(K Kᵀ, −1))⁻¹     each write takes away what its key reads
    gated delta   C_ij = Σ_t k_i·k_t γ^(n−t) M⁻¹_tj,  M = I + tril(k_t·k_s γ^(t−s), −1)
    the others    rows of weights that sum to 1: f(β k_i·k_j) / Σ_j f(β k_i·k_j), with f = exp for
                  softmax, in the window alone for window, 1 + x + x²/2 for Taylor, both for Based,
                  and φ(√β k_i)·φ(√β k_j) for elu+1 and FAVOR+

`asked` and `written` are (draws, n, d) and (draws, m, d) unit keys, in the order of writing; C is
(draws, n, m). Cost: draws · n · m · d operations, of the delta rules n · m² / 2 a draw besides.
"""

from collections.abc import Callable

import numpy as np

from core.memory.pairs import Array
from core.memory.spec import LINEAR, MemorySpec

BLOCK = 64  # pairs whose own part of M is inverted at once


def coefficients(method: str, asked: Array, written: Array, spec: MemorySpec) -> Array:
    """C of a mechanism by its name. Raises ValueError for an unknown one."""
    if method not in _FORMS:
        raise ValueError(f"unknown mechanism {method!r:.40}; known: {', '.join(_FORMS)}")
    return _FORMS[method](asked, written, spec)


def _products(asked: Array, written: Array) -> Array:
    """An array of its own, so that what is made of it may take its place: memory is the cost."""
    return asked @ written.swapaxes(-1, -2)


def _linear(asked: Array, written: Array, _spec: MemorySpec) -> Array:
    return _products(asked, written)


def _gate(asked: Array, written: Array, spec: MemorySpec) -> Array:
    found = _products(asked, written)
    found *= _ages(spec.decay, written.shape[1])
    return found


def _delta(asked: Array, written: Array, _spec: MemorySpec) -> Array:
    return _delta_rule(asked, written, 1.0)


def _gated_delta(asked: Array, written: Array, spec: MemorySpec) -> Array:
    return _delta_rule(asked, written, spec.delta_decay)


def _delta_rule(asked: Array, written: Array, decay: float) -> Array:
    """What is written at t is u_t = v_t − Σ_{s<t} γ^(t−s) (k_t·k_s) u_s, so U = M⁻¹ V and C = R M⁻¹
    with R of what is read: block by block from the last one on, for M is lower triangular.
    """
    n: int = written.shape[1]
    gaps = np.maximum(np.subtract.outer(np.arange(n), np.arange(n)), 0)
    fading = np.tril(np.power(np.float32(decay), gaps, dtype=np.float32), -1)
    mixing, found = _products(written, written), _products(asked, written)
    mixing *= fading
    found *= _ages(decay, n)
    for start in reversed(range(0, n, BLOCK)):
        own, later = slice(start, start + BLOCK), slice(start + BLOCK, None)
        left = found[..., own] - found[..., later] @ mixing[:, later, own]
        inside = mixing[:, own, own]
        whole = inside + np.eye(inside.shape[-1], dtype=inside.dtype)
        found[..., own] = left @ np.linalg.inv(whole)
    return found


def _ages(decay: float, n: int) -> Array:
    """γ^(n−1−j): what is left of the j-th of n pairs."""
    return np.power(np.float32(decay), np.arange(n)[::-1], dtype=np.float32)


def _softmax(asked: Array, written: Array, spec: MemorySpec) -> Array:
    return _shares(_exp(_products(asked, written), spec))


def _window(asked: Array, written: Array, spec: MemorySpec) -> Array:
    shown = _exp(_products(asked, written), spec)
    shown[..., : max(0, written.shape[1] - spec.window)] = 0.0
    return _shares(shown)


def _taylor(asked: Array, written: Array, spec: MemorySpec) -> Array:
    return _shares(_polynomial(_products(asked, written), spec))


def _based(asked: Array, written: Array, spec: MemorySpec) -> Array:
    """In the window exp, its polynomial for what is older, under one sum."""
    products = _products(asked, written)
    old = max(0, written.shape[1] - spec.window)
    far, near = products[..., :old], products[..., old:]
    # Both over exp(β), which the largest score has.
    scaled = _polynomial(far, spec) * np.exp(np.float32(-spec.beta))
    return _shares(np.concatenate([scaled, _exp(near, spec)], -1))


def _elu(asked: Array, written: Array, spec: MemorySpec) -> Array:
    scale = np.float32(spec.beta**0.5)

    def features(keys: Array) -> Array:
        x = keys * scale
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    return _shares(_products(features(asked), features(written)))


def _favor(asked: Array, written: Array, spec: MemorySpec) -> Array:
    """exp(ω·x − |x|²/2) for orthogonal blocks of random directions ω as long as Gaussian ones."""
    directions = orthogonal(spec)

    def features(keys: Array) -> Array:
        x = keys * np.float32(spec.beta**0.5)
        return np.exp(x @ directions - np.float32(spec.beta / 2))

    return _shares(_products(features(asked), features(written)))


def orthogonal(spec: MemorySpec) -> Array:
    """(draws, d, n_features) directions of FAVOR+, new ones for each draw."""
    generator = np.random.default_rng([spec.seed, 7])
    blocks = -(-spec.n_features // spec.dim)
    shape = (spec.n_draws, blocks, spec.dim, spec.dim)
    turned, _ = np.linalg.qr(generator.standard_normal(shape))
    lengths = np.linalg.norm(generator.standard_normal(shape), axis=-1)
    rows = (turned.swapaxes(-1, -2) * lengths[..., None]).reshape(spec.n_draws, -1, spec.dim)
    return np.ascontiguousarray(rows[:, : spec.n_features].swapaxes(-1, -2), dtype=np.float32)


def _exp(products: Array, spec: MemorySpec) -> Array:
    """Over exp(β), the most that unit keys reach; in the place of the products."""
    products -= 1
    products *= np.float32(spec.beta)
    return np.exp(products, out=products)


def _polynomial(products: Array, spec: MemorySpec) -> Array:
    """1 + x + x²/2 as (x/2 + 1) x + 1."""
    x = np.float32(spec.beta) * products
    found = x / 2
    found += 1
    found *= x
    found += 1
    return found


def _shares(shown: Array) -> Array:
    shown /= shown.sum(-1, keepdims=True)
    return shown


_FORMS: dict[str, Callable[[Array, Array, MemorySpec], Array]] = {
    "softmax": _softmax,
    "window": _window,
    "based": _based,
    "taylor": _taylor,
    LINEAR: _linear,
    "elu": _elu,
    "favor": _favor,
    "gate": _gate,
    "delta": _delta,
    "gated-delta": _gated_delta,
}
