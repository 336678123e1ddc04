"""What writing one token costs by formula, behind a past of L tokens: operations, and what is kept.

d numbers a head, r features, a window of w tokens and s sinks; each head:

                  operations                    numbers kept
    softmax       4·(L + 1)·d                   2·L·d
    feature maps  4·r·(d + 1), and the map      r·(d + 1) + 1
    delta, gated  6·d²                          d²
    gate          4·d²                          d²
    window        4·(w + s)·d                   2·(w + s)·d
    based         2·w·(2·d + 1) + 4·r·(d + 1)   2·w·d + r·(d + 1), r = (d + 1)·(d + 2) / 2

Keys and values are kept as they come, sums and matrices with 4 bytes a number at least. A window
has room for all its tokens from the first one on. FAVOR+'s map takes 4·d·m operations; the one more
that a map keeps is the scale of its sums. What is read is about what is kept: a step moves more
than it computes. Counts of positions are left out, a few bytes a token in all heads together.
"""

from dataclasses import replace

from core.catalogue import FEATURE_MAPS, MECHANISMS, METHODS
from core.theory.costs import Shape, Sizes, taylor_features

BASED_TERMS = 3
WIDE = 4  # bytes of a number in a sum, at least


def step_operations(method: str, shape: Shape, *, sizes: Sizes | None = None) -> int:
    """Of the products of one token behind `shape.seq_len` others. Raises ValueError."""
    _check(method)
    chosen, d = sizes or Sizes(), shape.head_dim
    r = _features(method, d, chosen)
    mapping = 4 * d * chosen.n_features if method == "favor" else 0
    if method in FEATURE_MAPS:
        return shape.heads * (mapping + 4 * r * (d + 1))
    counts = {
        "delta": 6 * d**2,
        "gated-delta": 6 * d**2,
        "gate": 4 * d**2,
        "window": 4 * (chosen.window + chosen.n_sinks) * d,
        "based": 2 * chosen.window * (2 * d + 1) + 4 * r * (d + 1),
    }
    return shape.heads * counts.get(method, 4 * (shape.seq_len + 1) * d)


def kept_bytes(method: str, shape: Shape, *, sizes: Sizes | None = None) -> int:
    """Of the cache or the state behind `shape.seq_len` tokens. Raises ValueError."""
    cached, summed = kept_numbers(method, shape, sizes=sizes)
    wide = max(WIDE, shape.bytes_a_number)
    return shape.heads * (cached * shape.bytes_a_number + summed * wide)


def kept_numbers(method: str, shape: Shape, *, sizes: Sizes | None = None) -> tuple[int, int]:
    """Of one head: numbers of keys and values, and numbers of sums. Raises ValueError."""
    _check(method)
    chosen, d = sizes or Sizes(), shape.head_dim
    if method in FEATURE_MAPS:
        return 0, _features(method, d, chosen) * (d + 1) + 1
    kept = {
        "delta": (0, d**2),
        "gated-delta": (0, d**2),
        "gate": (0, d**2),
        "window": (2 * (chosen.window + chosen.n_sinks) * d, 0),
        "based": (2 * chosen.window * d, _features(method, d, chosen) * (d + 1)),
    }
    return kept.get(method, (2 * shape.seq_len * d, 0))


def same_bytes_length(method: str, shape: Shape, *, sizes: Sizes | None = None) -> float:
    """The L from which a cache of keys and values is larger than what the method keeps, which must
    not grow. Raises ValueError.
    """
    one = replace(shape, seq_len=1)
    return kept_bytes(method, one, sizes=sizes) / kept_bytes("sdpa", one, sizes=sizes)


def _features(method: str, head_dim: int, sizes: Sizes) -> int:
    if method == "favor":
        return sizes.n_features
    if method == "taylor":
        return taylor_features(head_dim, sizes.n_terms, symmetric=sizes.symmetric)
    return taylor_features(head_dim, BASED_TERMS, symmetric=True) if method == "based" else head_dim


def _check(method: str) -> None:
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; methods: {', '.join(METHODS)}")
    if why := MECHANISMS[method].no_step:
        raise ValueError(f"{method} does not write token by token: {why}")
