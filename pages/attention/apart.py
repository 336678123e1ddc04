"""The view without the first token, and what is said of a row where sinks are set apart."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.inspection.captions import row_sentence
from core.inspection.fold import fold, fold_visible
from core.inspection.heads import Head, head_name
from core.inspection.sinks import (
    fold_without_first,
    layers_without_first,
    others_visible,
    sink_shares,
    sinks_apart,
    without_first,
)
from core.inspection.traced import Array, AttentionTrace, Step, contribution
from pages.attention.view import View
from pages.shared.text import percent


def leave_out_first(trace: AttentionTrace, view: View, *, folded: bool) -> View:
    """Weights renormalised over the other keys; contributions there are what they were."""
    layers, starts = range(trace.n_layers), trace.word_starts
    firsts = [trace.columns(layer)[0] for layer in layers]
    if not folded:
        weights, brought = layers_without_first(trace), view.contribution.copy()
        for layer, first in enumerate(firsts):
            brought[layer, :, :, first] = 0
    else:
        weights = np.stack(
            [fold_without_first(trace.weights[layer], starts, firsts[layer]) for layer in layers]
        )
        brought = np.stack([_folded_others(trace, layer, firsts[layer]) for layer in layers])
    visible = trace.visible
    axes = [
        replace(one, visible=_visible(trace, visible[layer], firsts[layer], folded=folded))
        for layer, one in enumerate(view.axes)
    ]
    return replace(view, axes=axes, weights=weights, contribution=brought)


def row_said(
    trace: AttentionTrace, view: View, at: Head, row: int, step: Step | None, *, no_first: bool
) -> str:
    """What a head does in a row. Where sinks are set apart it is not named by its first token,
    whatever is drawn.
    """
    axes = view.axes[at[0]]
    weights, seen, sink = view.weights[at][row], axes.seen(row), None
    if no_first or sinks_apart(trace):
        folded, layer = view.n_rows < trace.n_tokens, at[0]
        weights = _head_without_first(trace, at, folded=folded)[row]
        first = trace.columns(layer)[0]
        others = _visible(trace, trace.visible[layer], first, folded=folded)
        seen = np.flatnonzero(others[row]).tolist()
        sink = _share(trace, view, at, row)
    return row_sentence(
        head_name(*at),
        row,
        weights,
        axes.column_labels,
        step,
        latent=axes.row_labels[row] if axes.latents_look else "",
        seen=seen,
        sink=sink,
    )


def announced(trace: AttentionTrace, at: Head) -> str:
    """What is not drawn, and what it has of this head."""
    share = float(sink_shares(trace, at)[list(trace.rows(at[0]))].mean())
    label = trace.labels[trace.columns(at[0])[0]]
    return (
        f"Without the first token “{label}”, which has {percent(share)} of this head's weight: the "
        "others are renormalised. Rows that leave them nothing stay empty."
    )


def _share(trace: AttentionTrace, view: View, at: Head, row: int) -> float:
    """The sink share of a row; of a word's that of its tokens."""
    ends = [*view.first_tokens, trace.n_tokens]
    return float(sink_shares(trace, at)[ends[row] : ends[row + 1]].mean())


def _head_without_first(trace: AttentionTrace, at: Head, *, folded: bool) -> Array:
    first = trace.columns(at[0])[0]
    if folded:
        return fold_without_first(trace.weights[at], trace.word_starts, first)
    return without_first(trace.weights[at], first)


def _folded_others(trace: AttentionTrace, layer: int, first: int) -> Array:
    brought = contribution(trace.weights[layer], trace.value_norm[layer][:, None])
    brought[..., first] = 0
    return fold(brought, trace.word_starts)


def _visible(
    trace: AttentionTrace, visible: NDArray[np.bool_], first: int, *, folded: bool
) -> NDArray[np.bool_]:
    others = others_visible(visible, first)
    return fold_visible(others, trace.word_starts) if folded else others
