"""The layers of a trace by kind, block by block: rows and columns that belong together, the heads
that share keys and values, scores of every head. No torch.

Everything goes layer by layer: all heads of a long text at once would be copies of gigabytes.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.inspection.heads import Head
from core.inspection.scores import FIRST_ROW, HeadScores, head_scores, uniform_over
from core.inspection.traced import AttentionTrace, contribution

KINDS = ("encoder", "decoder", "cross")
SCORES = ("previous_token", "first_token", "name", "normalised_entropy", "distance")
CROSS_SCORES = ("first_token", "name", "normalised_entropy")  # two texts have no distance
Cell = TypeVar("Cell", np.float32, np.bool_)
Numbers = dict[str, NDArray[np.float64]]


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


def strongest_of(trace: AttentionTrace, layers: Sequence[int]) -> Head:
    """The head of these layers that brings most of the name to the row that is looked at first.

    Measured by contribution, the sum of ‖weight · value · W_O‖. Where no name is known, everything
    that the row sees counts. Of a Perceiver only the first layer looks at tokens.
    """
    best, most = (layers[0], 0), -1.0
    for layer in [0] if trace.latent_positions else layers:
        row = first_row(trace, layer)
        keys = _name_in(trace, layer) or np.flatnonzero(seen_in(trace, layer)[row]).tolist()
        weights, norms = trace.weights[layer, :, row], trace.value_norm[layer]
        brought = contribution(weights[:, keys], norms[:, keys]).sum(-1)
        if brought.max() > most:
            best, most = (layer, int(brought.argmax())), float(brought.max())
    return best


def layer_scores(trace: AttentionTrace, layer: int) -> tuple[Numbers, Numbers]:
    """Every score of one layer's heads, (n_heads,) each, and what uniform attention would have.

    Not a number where a score means nothing: two tokens have no pattern, and rows and columns of
    two texts have no distance.
    """
    down, across = spans(trace, layer)
    weights = trace.weights[layer, :, down.start : down.stop, across.start : across.stop]
    visible = seen_in(trace, layer)[down.start : down.stop, across.start : across.stop]
    name = [position - across.start for position in _name_in(trace, layer)]
    kept = SCORES
    if trace.kind(layer) == "cross":
        weights, visible = _below_empty_rows(weights), _below_empty_rows(visible)
        kept = CROSS_SCORES
    if weights.shape[-1] <= FIRST_ROW:
        kept = ()
    if not name:
        kept = tuple(score for score in kept if score != "name")
    nothing = {score: np.full(trace.n_heads, np.nan) for score in SCORES}
    if not kept:
        return nothing, dict(nothing)
    found = head_scores(weights, name, visible)
    uniform = uniform_over(visible, name)
    return nothing | _taken(found, kept, trace), nothing | _taken(uniform, kept, trace)


def _taken(scores: HeadScores, names: Sequence[str], trace: AttentionTrace) -> Numbers:
    return {name: np.broadcast_to(getattr(scores, name), trace.n_heads) for name in names}


def _name_in(trace: AttentionTrace, layer: int) -> list[int]:
    """The positions of the name that one layer may look at as tokens."""
    if trace.latents_seen(layer):
        return []
    across = spans(trace, layer)[1]
    return [position for position in trace.name_positions if position in across]


def _below_empty_rows(values: NDArray[Cell]) -> NDArray[Cell]:
    """(…, rows, columns) as a square that begins with the rows that scores leave out."""
    *leading, rows, columns = values.shape
    n = max(rows + FIRST_ROW, columns)
    square = np.zeros((*leading, n, n), dtype=values.dtype)
    square[..., FIRST_ROW : FIRST_ROW + rows, :columns] = values
    return square
