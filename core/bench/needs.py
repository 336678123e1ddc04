"""How much memory a case will need, and whether that much is free: asked before it is tried.

By formula (core.theory.costs) for a forward pass; a backward pass keeps the weights or features and
forms their gradients, which is held to three times as much. A case may take 60 % of what is free.
"""

import psutil

from core.bench.spec import BenchSpec
from core.theory.costs import Method, predict

SHARE = 0.6
BACKWARD = 3
FLOAT64 = 8


def needed_bytes(spec: BenchSpec, method: Method, seq_len: int) -> int:
    """Of one case: inputs and outputs, what a pass takes beside them, and a Synthesizer's table."""
    shape = spec.shape(seq_len)
    rows = shape.heads * seq_len * spec.head_dim * shape.bytes_a_number
    tables = 0
    if method == "synthesizer":
        width = spec.head_dim if spec.sizes.dense else seq_len
        tables = spec.n_heads * width * seq_len * shape.bytes_a_number
    extra = predict(method, shape, causal=spec.causal, sizes=spec.sizes).extra_bytes
    passes = BACKWARD if spec.backward else 1
    return tables + passes * (4 * rows + extra)


def input_bytes(spec: BenchSpec, seq_len: int) -> int:
    """Of the inputs of a length, and of their copies in float64 that outputs are compared with."""
    shape = spec.shape(seq_len)
    numbers = 3 * shape.heads * seq_len * spec.head_dim
    return numbers * (shape.bytes_a_number + FLOAT64)


def free_bytes() -> int:
    """Of the processor's memory."""
    return int(psutil.virtual_memory().available)


def refusal(needed: int, free: int) -> str:
    """Why a case is not tried; empty if it is."""
    allowed = SHARE * free
    if needed <= allowed:
        return ""
    return f"needs about {_size(needed)}, and {SHARE:.0%} of what is free is {_size(allowed)}"


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.2g} MB"
