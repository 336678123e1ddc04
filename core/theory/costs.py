"""What attention costs by formula: operations of its matrix products, and memory.

A multiplication with its addition counts as 2 operations. Elementwise work is left out, though for
feature maps it can take as long: measured times say how much. Memory is what exists beside query,
key, value and output at the worst moment of a forward pass that keeps nothing for a gradient.

L tokens, d numbers a head, r features, chunks of C tokens, n rows worked on at a time; each head:

                  operations                                    numbers
    explicit      4·L²·d                                        2·L²
    sdpa          the same                                      L
    linear        4·L·r·d, and the map                          2·n·r + (n + r)·(d + 1) + L
    … causal      4·L·r·d + 2·L·C·(r + d) + 2·L·r, the map      n·C and 2·(n / C)·r·d more
    linformer     8·L·k·d                                       2·k·d + 2·L·k
    bigbird       4·L·s·b·d, not causal 4·g·b·L·d more          L·s·(2·d + 3·b)
    nystrom       12·L·m·d + 4·m²·d + 8·m³ an iteration         2·L·m
    perceiver     8·L·m·d                                       4·L·m
    synthesizer   2·L²·d, dense 4·L²·d                          2·L²
    delta         10·L·C·d + L·C² + 6·L·d²                      L·d + n·(3·C + 4·d + 2·d²/C)
    … gated       2·L·C² more                                   2·n·C more
    gate          4·L·C·d + 2·L·C² + 4·L·d²                     L·d + n·(2·C + 4·d + d²/C)
    window        4·L·(2·b + s)·d                               5·L·(2·b + s)
    based         8·L·b·d + 4·L·r·(d + 1)                       12·L·b + 3·b·r

b is the larger of the window and 16 tokens (based: 64), s the number of sinks.

FAVOR+'s map takes 4·L·d·m operations, and its causal normaliser 2·L·r more. Elu+1 and Taylor, whose
states do not fade, take 2·r·(d + 1) more for each pair of up to 48 chunks that are worked on at
once. The 2·L·C² are sums of gates, which are not formed by a product in chunks of more than 64
tokens. Derivations of the counts stand with the mechanisms.
"""

import math
from dataclasses import dataclass

from core.catalogue import FEATURE_MAPS, METHODS, ONLY_CAUSAL, WITHOUT_CAUSAL_FORM

# Linear attention works on so many bytes of features at a time, but on no fewer rows than these.
BLOCK_BYTES, FEWEST_ROWS = 2**20, 64
LEAST_BLOCK = 16  # tokens of a window's blocks
SUMMED_BY_PRODUCT = 64  # in chunks of so many tokens at most
FEW_CHUNKS = 48  # whose states are summed by a product where nothing fades


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The tokens that attend to each other, in n_heads heads of each text of a batch."""

    seq_len: int
    head_dim: int
    n_heads: int = 8
    batch: int = 1
    bytes_a_number: int = 4

    def __post_init__(self) -> None:
        for name in ("seq_len", "head_dim", "n_heads", "batch", "bytes_a_number"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")

    @property
    def heads(self) -> int:
        return self.n_heads * self.batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large the approximations are; each method reads its own."""

    n_features: int = 128
    n_terms: int = 3
    symmetric: bool = True
    chunk: int = 64
    n_mixed: int = 64
    n_landmarks: int = 32
    n_iterations: int = 6
    n_latents: int = 64
    block_size: int = 64
    n_global: int = 1
    n_window: int = 3
    n_random: int = 3
    window: int = 64
    n_sinks: int = 4
    dense: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Operations of the matrix products, and bytes beside the inputs and the output."""

    operations: int
    extra_bytes: int


def predict(method: str, shape: Shape, *, causal: bool = False, sizes: Sizes | None = None) -> Cost:
    """The cost of one forward pass. Raises ValueError for a form that does not exist."""
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; methods: {', '.join(METHODS)}")
    if causal and method in WITHOUT_CAUSAL_FORM:
        raise ValueError(f"{method} has no causal form")
    if not causal and method in ONLY_CAUSAL:
        raise ValueError(f"{method} has only a causal form")
    chosen = sizes or Sizes()
    if method in FEATURE_MAPS:
        operations, numbers = _linear(method, shape, chosen, causal=causal)
    elif method == "bigbird":
        operations, numbers = _bigbird(shape, chosen, causal=causal)
    elif method in ONLY_CAUSAL:
        operations, numbers = _in_order(method, shape, chosen)
    else:
        operations, numbers = _others(method, shape, chosen)
    return Cost(
        operations=shape.heads * operations,
        extra_bytes=shape.heads * numbers * shape.bytes_a_number,
    )


def taylor_features(head_dim: int, n_terms: int, *, symmetric: bool = False) -> int:
    """How many dimensions φ needs for K terms of the exponential.

    Full: 1, 1 + D, 1 + D + D², …, so Σ_{k<K} D^k, and not D^(K−1). Symmetric, with each product of
    coordinates once: C(D + K − 1, K − 1).
    """
    if n_terms < 1:
        raise ValueError(f"{n_terms} terms of the Taylor series; at least 1 is needed")
    if symmetric:
        return math.comb(head_dim + n_terms - 1, n_terms - 1)
    return sum(head_dim**k for k in range(n_terms))


def perceiver_ratio(n_layers: int, n_latents: int, n_tokens: int) -> float:
    """Pairs of N layers with a bottleneck over those without: ((N − 2)·m² + 2·ℓ·m) / (N·ℓ²)."""
    if n_layers < 2:
        raise ValueError(f"{n_layers} layers; a Perceiver needs one down and one up")
    pairs = (n_layers - 2) * n_latents**2 + 2 * n_tokens * n_latents
    return pairs / (n_layers * n_tokens**2)


def crossover_length(method: str, head_dim: int, *, sizes: Sizes | None = None) -> float:
    """The L from which a linear map needs fewer operations than softmax; about r.

    Not causal: 4·L²·d against an amount that each token adds.
    """
    if method not in FEATURE_MAPS:
        raise ValueError(f"{method!r} has no feature map; maps: {', '.join(FEATURE_MAPS)}")
    one = predict(method, Shape(seq_len=1, head_dim=head_dim, n_heads=1), sizes=sizes)
    return one.operations / (4 * head_dim)


def floor_seconds(
    shape: Shape,
    *,
    causal: bool = False,
    backward: bool = False,
    bytes_per_second: float,
    operations_per_second: float,
) -> tuple[float, float]:
    """Below what no pass can be: moving its inputs and outputs once, and the products of softmax.

    Backwards their gradients are moved too, and there are twice as many products; a causal form
    can do without half of them.
    """
    numbers = shape.heads * shape.seq_len * shape.head_dim
    moved = (8 if backward else 4) * numbers * shape.bytes_a_number
    operations = predict("explicit", shape).operations * (3 if backward else 1)
    return moved / bytes_per_second, operations / (2 if causal else 1) / operations_per_second


def _linear(method: str, shape: Shape, sizes: Sizes, *, causal: bool) -> tuple[int, int]:
    length, d, chunk = shape.seq_len, shape.head_dim, sizes.chunk
    r, mapping = d, 0
    if method == "favor":
        r, mapping = sizes.n_features, 4 * length * d * sizes.n_features
    elif method == "taylor":
        r = taylor_features(d, sizes.n_terms, symmetric=sizes.symmetric)
    rows = max(FEWEST_ROWS, BLOCK_BYTES // (shape.heads * r * shape.bytes_a_number))
    rows = min(length, rows)
    numbers = 2 * rows * r + (rows + r) * (d + 1) + length
    if not causal:
        return mapping + 4 * length * r * d, numbers
    whole, rest = divmod(length, chunk)
    pairs = whole * chunk**2 + rest**2
    normaliser = (4 if method == "favor" else 2) * length * r
    operations = mapping + 4 * length * r * d + 2 * pairs * (r + d) + normaliser
    if method != "favor":  # of features without a scale: their state does not fade
        operations += 2 * _summed(whole, max(1, rows // chunk)) * r * (d + 1)
    states = 2 * max(1, rows // chunk) * r * (d + 1)
    return operations, numbers + rows * min(chunk, length) + states


def _summed(n_chunks: int, at_once: int) -> int:
    """Pairs of chunks whose states are summed by one product, so many chunks at once."""
    groups, left = divmod(n_chunks, at_once)
    return sum(n * one**2 for n, one in ((groups, at_once), (1, left)) if 1 < one <= FEW_CHUNKS)


def _bigbird(shape: Shape, sizes: Sizes, *, causal: bool) -> tuple[int, int]:
    """As if every block of queries saw all its blocks; near the ends some see fewer."""
    d, block = shape.head_dim, sizes.block_size
    n_blocks = -(-shape.seq_len // block)
    length = n_blocks * block
    seen = min(n_blocks, sizes.n_global + sizes.n_window + sizes.n_random)
    wide = 0 if causal else min(sizes.n_global * block, shape.seq_len) * shape.seq_len
    operations = 4 * length * seen * block * d + 4 * wide * d
    return operations, length * seen * (2 * d + 3 * block) + 2 * wide


def _in_order(method: str, shape: Shape, sizes: Sizes) -> tuple[int, int]:
    """As the blocks are filled up: the last one counts as a whole one."""
    length, d, s = shape.seq_len, shape.head_dim, min(sizes.n_sinks, shape.seq_len)
    least = {"window": LEAST_BLOCK, "based": FEWEST_ROWS}
    wide = max(sizes.window, least[method]) if method in least else sizes.chunk
    b = min(wide, length)
    n_blocks = -(-length // b)
    n = n_blocks * b
    r = taylor_features(d, 3, symmetric=True)
    far = 4 * max(0, n_blocks - 2) * b * r * (d + 1)
    at_once = BLOCK_BYTES // (4 * shape.heads * d * shape.bytes_a_number)
    rows = min(n, max(FEWEST_ROWS, at_once) // b * b or b)
    outputs = n * d if n > rows else 0
    states = -(-rows * d**2 // b)
    gates = 2 * n * b**2 if b <= SUMMED_BY_PRODUCT else 0
    replaced = 10 * n * b * d + n * b**2 + 6 * n * d**2
    counts = {
        "delta": (replaced, outputs + rows * (3 * b + 4 * d) + 2 * states),
        "gated-delta": (replaced + gates, outputs + rows * (5 * b + 4 * d) + 2 * states),
        "gate": (4 * n * b * d + gates + 4 * n * d**2, outputs + rows * (2 * b + 4 * d) + states),
        "window": (8 * n * b * d + 2 * (n + length) * s * d, n * 5 * (2 * b + s)),
        "based": (4 * n * b * (2 * d + 1) + far, n * 12 * b + 3 * b * r),
    }
    return counts[method]


def _others(method: str, shape: Shape, sizes: Sizes) -> tuple[int, int]:
    length, d = shape.seq_len, shape.head_dim
    k, m, latents = sizes.n_mixed, sizes.n_landmarks, sizes.n_latents
    nystrom = 12 * length * m * d + 4 * m**2 * d + 8 * m**3 * sizes.n_iterations
    synthesizer = (4 if sizes.dense else 2) * length**2 * d
    counts = {
        "explicit": (4 * length**2 * d, 2 * length**2),
        "sdpa": (4 * length**2 * d, length),
        "linformer": (8 * length * k * d, 2 * k * d + 2 * length * k),
        "nystrom": (nystrom, 2 * length * m),
        "perceiver": (8 * length * latents * d, 4 * length * latents),
        "synthesizer": (synthesizer, 2 * length**2),
    }
    return counts[method]
