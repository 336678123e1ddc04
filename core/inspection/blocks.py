"""The layers of a trace by kind, block by block: rows and columns that belong together, and the
heads that share keys and values. No torch.
"""

import numpy as np
from numpy.typing import NDArray

from core.inspection.traced import AttentionTrace

KINDS = ("encoder", "decoder", "cross")


def kinds_of(trace: AttentionTrace) -> list[str]:
    """The kinds of layers that there are."""
    return [kind for kind in KINDS if trace.layers_of(kind)]


def block_name(trace: AttentionTrace, layer: int) -> str:
    """Which block a layer belongs to, counted from 0 in its own half: L7 of a model with an encoder
    may be the cross-attention of the decoder's block 0.
    """
    kind = trace.kind(layer)
    number = trace.layers_of(kind).index(layer)
    if kind == "cross":
        return f"L{layer} is the cross-attention of the decoder's block {number}"
    attention = "self-attention of the " if trace.n_source else "attention of the "
    return f"L{layer} is the {attention}{kind}'s block {number}"


def group_size(trace: AttentionTrace) -> int:
    """How many query heads share one head of keys and values; 1 where each has its own."""
    return trace.n_heads // trace.n_kv_heads if trace.n_kv_heads else 1


def sharing(trace: AttentionTrace, head: int) -> list[int]:
    """The other query heads that have the keys and values of this one."""
    size = group_size(trace)
    first = head // size * size
    return [other for other in range(first, first + size) if other != head]


def seen_in(trace: AttentionTrace, layer: int) -> NDArray[np.bool_]:
    """(L, L): what the rows of one layer may look at; `trace.visible` without the other layers."""
    if trace.seen is not None and not trace.scores.size:
        return trace.seen[layer]
    return np.isfinite(trace.scores[layer, 0])


def spans(trace: AttentionTrace, layer: int) -> tuple[range, range]:
    """The positions from the first to the last that a layer's rows, and its columns, may have."""
    if not trace.n_source:
        return range(trace.n_tokens), range(trace.n_tokens)
    source, target = range(trace.n_source), range(trace.n_source, trace.n_tokens)
    kind = trace.kind(layer)
    return source if kind == "encoder" else target, target if kind == "decoder" else source


def written_rows(trace: AttentionTrace, layer: int) -> list[int]:
    """The row of each written token in one layer: its own, or that of the last latent it sees.

    None in an encoder that stands beside a decoder: nothing is written there.
    """
    if trace.n_source and trace.kind(layer) == "encoder":
        return []
    return [trace.last_row(layer, step.row) for step in trace.steps]


def first_row(trace: AttentionTrace, layer: int) -> int:
    """The row that is looked at first: the one that writes first; else of an encoder the first, of
    a decoder the last.
    """
    written = written_rows(trace, layer)
    if written:
        return written[0]
    return trace.rows(layer)[0 if trace.kind(layer) == "encoder" else -1]
