"""One trace as a chosen view: tokens, words or latents on the axes, one head, one row."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.data.characters import SPACE_GLYPH
from core.figures.thumbnails import thumbnail
from core.inspection.fold import fold, word_index, word_labels
from core.inspection.scores import name_to_answer
from core.inspection.trace_scores import trace_baseline, trace_scores
from core.inspection.traced import Array, AttentionTrace

MAP, ARCS, PARTS = "map", "arcs", "q·k parts"
MOST_ARC_TOKENS = 40
SCORES = {
    "name": "weight on name",
    "answer": "name to answer",
    "previous_token": "previous token",
    "next_token": "next token",
    "first_token": "first token",
    "normalised_entropy": "entropy",
    "distance": "distance",
    "sink_share": "sink share",
}
MEANINGS = {
    "name": "mean weight on the tokens of the name",
    "answer": "contribution of the name's tokens to the first written piece",
    "previous_token": "mean weight on the token before",
    "next_token": "mean weight on the token behind, in encoders",
    "first_token": "mean weight on the first token",
    "normalised_entropy": "entropy of the rows, 1 is uniform",
    "distance": "mean distance looked back, in tokens",
    "sink_share": "mean share of the first token and of a learned sink, of rows with both",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Who looks and who is looked at in one layer.

    `rows` and `columns` are the positions where something stands; labels are empty elsewhere.
    `step_rows` is the row of each written piece: where latents look, the last that its row sees.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    row_labels: list[str]
    column_labels: list[str]
    latents_look: bool
    latents_seen: bool
    step_rows: list[int]
    visible: NDArray[np.bool_]

    @property
    def sides(self) -> tuple[str, str]:
        """Titles of the two axes."""
        return (
            "query: latent (looks)" if self.latents_look else "query (looks)",
            "key: latent (looked at)" if self.latents_seen else "key (looked at)",
        )

    def seen(self, row: int) -> list[int]:
        """The keys that a row may look at."""
        return np.flatnonzero(self.visible[row]).tolist()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Arrays as they are drawn, and the axes of each layer; folded to words or not.

    `first_tokens` is the first token of each row.
    """

    axes: list[Axes]
    weights: Array
    contribution: Array
    scores: Array | None
    first_tokens: list[int]

    @property
    def n_rows(self) -> int:
        return self.weights.shape[-1]


def make_view(trace: AttentionTrace, *, folded: bool) -> View:
    """The trace over its positions, or folded to words (columns summed, rows averaged)."""
    if not folded:
        return View(
            axes=[_axes(trace, layer) for layer in range(trace.n_layers)],
            weights=trace.weights,
            contribution=trace.contribution,
            scores=trace.scores,
            first_tokens=list(range(trace.n_tokens)),
        )
    words = word_index(trace.word_starts)
    labels = word_labels(trace.labels, trace.word_starts, SPACE_GLYPH)
    standing = tuple(range(len(labels)))
    axes = Axes(
        rows=standing,
        columns=standing,
        row_labels=labels,
        column_labels=labels,
        latents_look=False,
        latents_seen=False,
        step_rows=[int(words[step.row]) for step in trace.steps],
        visible=np.tri(len(labels), dtype=np.bool_),
    )
    return View(
        axes=[axes] * trace.n_layers,
        weights=fold(trace.weights, trace.word_starts),
        contribution=fold(trace.contribution, trace.word_starts),
        scores=None,
        first_tokens=[i for i, starts in enumerate(trace.word_starts) if starts],
    )


def scores_offered(trace: AttentionTrace, *, no_first: bool = False) -> list[str]:
    """Those that mean something: without a name none is of it, and a Perceiver's row that writes
    the answer looks at latents, not at the name. Only encoders look ahead.
    """
    lacking = {"name": not trace.name_positions, "first_token": no_first}
    lacking["next_token"] = not trace.layers_of("encoder")
    lacking["answer"] = lacking["name"] or bool(trace.latent_positions) or not trace.steps
    return [name for name in SCORES if not lacking.get(name)]


def grid_scores(
    trace: AttentionTrace, score: str, *, no_first: bool = False
) -> tuple[NDArray[np.float64], str]:
    """The chosen score of every head, and what uniform attention would score, as text.

    Weight on the name is no number in layers whose columns are latents.
    """
    if score == "answer":
        brought, uniform = name_to_answer(trace)
        return brought, f"{np.nanmean(uniform):.2g}"
    values = getattr(trace_scores(trace, no_first=no_first), score).copy()
    baseline = getattr(trace_baseline(trace, no_first=no_first), score).copy()
    if score == "name" and trace.latent_positions:
        values[1:], baseline[1:] = np.nan, np.nan
    if np.isnan(baseline).all():
        return values, "none here"
    ends = f"{np.nanmin(baseline):.2g}", f"{np.nanmax(baseline):.2g}"
    return values, " to ".join(dict.fromkeys(ends))


def thumbnails(view: View) -> list[list[str]]:
    """Data URIs [layer][head]."""
    return [
        [thumbnail(head, axes.visible) for head in layer]
        for layer, axes in zip(view.weights, view.axes, strict=True)
    ]


def _axes(trace: AttentionTrace, layer: int) -> Axes:
    latents_look, latents_seen = trace.latents_look(layer), trace.latents_seen(layer)
    latents = _latent_labels(trace.latent_positions, trace.n_tokens)
    return Axes(
        rows=trace.rows(layer),
        columns=trace.columns(layer),
        row_labels=latents if latents_look else list(trace.labels),
        column_labels=latents if latents_seen else list(trace.labels),
        latents_look=latents_look,
        latents_seen=latents_seen,
        step_rows=[trace.last_row(layer, step.row) for step in trace.steps],
        visible=trace.visible[layer],
    )


def _latent_labels(positions: Sequence[int], n_tokens: int) -> list[str]:
    """z0, z1, … at their positions, nothing between them."""
    names = {position: f"z{number}" for number, position in enumerate(positions)}
    return [names.get(position, "") for position in range(n_tokens)]
