"""The view without the first token, and what is said of a row where sinks are set apart."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.inspection.blocks import seen_in
from core.inspection.captions import row_sentence
from core.inspection.fold import fold_visible
from core.inspection.heads import Head, head_name
from core.inspection.sinks import others_visible, sink_shares, sinks_apart
from core.inspection.traced import AttentionTrace, Step
from pages.attention.view import View
from pages.shared.text import percent


def leave_out_first(view: View) -> View:
    """Weights renormalised over the other keys; contributions there are what they were."""
    axes = [
        replace(one, visible=_visible(view.trace, layer, folded=view.folded))
        for layer, one in enumerate(view.axes)
    ]
    return replace(view, axes=axes, no_first=True)


def row_said(
    trace: AttentionTrace, view: View, at: Head, row: int, step: Step | None, *, no_first: bool
) -> str:
    """What a head does in a row. Where sinks are set apart it is not named by its first token,
    whatever is drawn.
    """
    axes = view.axes[at[0]]
    seen, sink = axes.seen(row), None
    if no_first or sinks_apart(trace):
        view = view if view.no_first else leave_out_first(view)
        seen, sink = view.axes[at[0]].seen(row), _share(trace, view, at, row)
    weights = view.weights(at)[row]
    return row_sentence(
        head_name(*at),
        row,
        weights,
        axes.column_labels,
        step,
        latent=axes.row_labels[row] if axes.latents_look else "",
        seen=seen,
        sink=sink,
        forced=trace.teacher_forced,
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


def _visible(trace: AttentionTrace, layer: int, *, folded: bool) -> NDArray[np.bool_]:
    others = others_visible(seen_in(trace, layer), trace.columns(layer)[0])
    return fold_visible(others, trace.word_starts) if folded else others
