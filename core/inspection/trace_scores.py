"""The scores of every head of a trace, layer by layer, so that a long text needs little memory."""

from collections.abc import Callable, Sequence

import numpy as np

from core.inspection.scores import (
    SCORES,
    HeadScores,
    Look,
    Numbers,
    head_scores,
    named_columns,
    uniform_over,
)
from core.inspection.traced import AttentionTrace


def look_of(trace: AttentionTrace, layer: int, *, no_first: bool = False) -> Look:
    """How the maps of a traced layer are read."""
    return Look(kind=trace.kind(layer), first=trace.columns(layer)[0], no_first=no_first)


def trace_scores(trace: AttentionTrace, *, no_first: bool = False) -> HeadScores:
    """The scores of every head of a trace, (n_layers, n_heads) each.

    nan in layers of fewer tokens than scores need, and on a name that no key of a layer is of.
    """
    visible = trace.visible

    def scores(layer: int, name: Sequence[int], look: Look) -> HeadScores:
        sink = None if trace.sink is None else trace.sink[layer]
        return head_scores(trace.weights[layer], name, visible[layer], look, sink)

    return _by_layer(trace, scores, trace.n_heads, no_first=no_first)


def trace_baseline(trace: AttentionTrace, *, no_first: bool = False) -> HeadScores:
    """The same of heads that attend uniformly to all they may see, (n_layers, 1) each."""
    visible = trace.visible

    def scores(layer: int, name: Sequence[int], look: Look) -> HeadScores:
        return uniform_over(visible[layer][None], name, look)

    return _by_layer(trace, scores, 1, no_first=no_first)


def _by_layer(
    trace: AttentionTrace,
    scores: Callable[[int, Sequence[int], Look], HeadScores],
    n_heads: int,
    *,
    no_first: bool,
) -> HeadScores:
    """Scores (n_heads,) of each layer, one layer under the other."""
    found: dict[str, list[Numbers]] = {name: [] for name in SCORES}
    for layer in range(trace.n_layers):
        look = look_of(trace, layer, no_first=no_first)
        name = named_columns(trace, layer)
        enough = trace.n_tokens > look.first_row
        one = scores(layer, name, look) if enough else None
        for score in SCORES:
            values = np.full(n_heads, np.nan) if one is None else getattr(one, score)
            lost = score == "name" and trace.name_positions and not name
            found[score].append(np.full(n_heads, np.nan) if lost else values)
    return HeadScores(**{score: np.stack(values) for score, values in found.items()})
