"""What the proof of a trace can be asked again without its model. No torch here.

A trace from a file is a claim of whoever wrote it. That logits were replayed needs the model; that
rows sum to 1, that nothing masked has weight, and that outputs are weights times values does not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.inspection.heads import Head, head_name
from core.inspection.traced import AttentionTrace

# What storing a number changes at most: a share of it, and below a size this much.
ROUNDING = {"float32": (2**-24, 0.0), "float16": (2**-11, 2**-25), "JSON": (5e-6, 0.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """Over all recorded heads: how far row sums (with a sink's share) are from 1, whether all that
    is masked has no weight, and how far weights times values are from the outputs (None without
    values, and for heads that are off).
    """

    row_sum_max_error: float
    masked_exactly_zero: bool
    output_max_difference: float | None


def recompute(trace: AttentionTrace) -> Recomputed:
    """Cost: a pass over the weights of every recorded head, and L²·d products with values."""
    apart = [
        float(np.abs(_output(trace, head) - trace.output[head]).max())
        for head in trace.heads
        if trace.value.shape[-1] and head not in trace.ablated
    ]
    return Recomputed(
        row_sum_max_error=max(float(error.max(initial=0)) for _, error, _ in _row_sums(trace)),
        masked_exactly_zero=not any(
            bool(trace.weights[layer, head][~trace.visible[layer]].any())
            for layer, head in trace.heads
        ),
        output_max_difference=max(apart, default=None),
    )


def refuse_contradictions(trace: AttentionTrace, found: Recomputed, precision: str) -> None:
    """Raise ValueError for weights that are no weights, and where the proof says something else.

    What storing in `precision` and a sum in float32 may change is allowed.
    """
    if trace.proof.future_exactly_zero and not found.masked_exactly_zero:
        raise ValueError("its proof says that nothing masked has weight, but something has")
    for head, error, size in _row_sums(trace):
        if not trace.has_effective_weights and bool((trace.weights[head] < 0).any()):
            raise ValueError(f"{head_name(*head)} has negative weights; {trace.mechanism} has none")
        share, least = ROUNDING[precision]
        allowed = trace.proof.row_sum_max_error + size * (share + trace.n_tokens * 2**-24)
        worst = error - (allowed + least * trace.n_tokens)
        if bool((worst > 0).any()):
            raise ValueError(
                f"a row of {head_name(*head)} sums to 1 within {error[worst.argmax()]:.2g}; its "
                f"proof says {trace.proof.row_sum_max_error:.2g}"
            )


def _row_sums(
    trace: AttentionTrace,
) -> Iterator[tuple[Head, NDArray[np.float64], NDArray[np.float64]]]:
    """Of each head, for the rows that look at something: how far from 1, and Σ |weight|."""
    for layer, head in trace.heads:
        looks = trace.visible[layer].any(-1)
        weights = trace.weights[layer, head][looks].astype(np.float64)
        sink = 0.0 if trace.sink is None else trace.sink[layer, head][looks].astype(np.float64)
        yield (layer, head), np.abs(weights.sum(-1) + sink - 1), np.abs(weights).sum(-1)


def _output(trace: AttentionTrace, head: Head) -> NDArray[np.float32]:
    return trace.weights[head] @ trace.value[head]
