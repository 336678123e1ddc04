"""One trace as a chosen view: tokens, words or latents on the axes, one head, one row.

Nothing is made of all heads at once: of a long text that would be a copy of gigabytes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.data.characters import SPACE_GLYPH
from core.figures.thumbnails import thumbnail, thumbnails
from core.inspection.blocks import seen_in, spans, written_rows
from core.inspection.fold import fold, fold_visible, word_index, word_labels, written_words
from core.inspection.heads import Head
from core.inspection.scores import HeadScores, name_to_answer
from core.inspection.sinks import fold_without_first, without_first
from core.inspection.traced import Array, AttentionTrace, Step, contribution

MAP, ARCS, PARTS, SPACE = "map", "arcs", "q·k parts", "3D"
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
    "name": "mean weight on the name",
    "answer": "what the name brings to the first written piece",
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
    `within` are the positions that a map of this layer has. `step_rows` is the row of each of the
    view's steps: where latents look, the last that its row sees.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    within: tuple[range, range]
    row_labels: list[str]
    column_labels: list[str]
    latents_look: bool
    latents_seen: bool
    is_cross: bool
    step_rows: list[int]
    visible: NDArray[np.bool_]

    @property
    def sides(self) -> tuple[str, str]:
        """Titles of the two axes."""
        if self.is_cross:
            return "target (looks)", "source (looked at)"
        return (
            "query: latent (looks)" if self.latents_look else "query (looks)",
            "key: latent (looked at)" if self.latents_seen else "key (looked at)",
        )

    def seen(self, row: int) -> list[int]:
        """The keys that a row may look at."""
        return np.flatnonzero(self.visible[row]).tolist()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A trace as it is drawn, folded to words or not, and the axes of each layer.

    With `no_first` weights are renormalised over the keys without the first. `first_tokens` is the
    first token of each row, `steps` are the written pieces, or words. `digest` stands for the trace
    in keys of caches.
    """

    trace: AttentionTrace
    folded: bool
    no_first: bool = False
    axes: list[Axes]
    first_tokens: list[int]
    steps: list[Step]
    digest: str

    @property
    def n_rows(self) -> int:
        return len(self.first_tokens)

    def row_of(self, token: int) -> int:
        """The row that a token stands in."""
        return int(np.searchsorted(self.first_tokens, token, side="right")) - 1

    def n_pieces(self, row: int) -> int:
        """How many tokens a row stands for."""
        ends = [*self.first_tokens, self.trace.n_tokens]
        return ends[row + 1] - ends[row]

    def weights(self, at: Head) -> Array:
        """(rows, columns) of one head."""
        weights, starts = self.trace.weights[at], self.trace.word_starts
        if not self.no_first:
            return fold(weights, starts) if self.folded else weights
        first = self.trace.columns(at[0])[0]
        if self.folded:
            return fold_without_first(weights, starts, first)
        return without_first(weights, first)

    def contribution(self, at: Head) -> Array:
        """(rows, columns) of one head; summed norms where words are folded."""
        brought = contribution(self.trace.weights[at], self.trace.value_norm[at])
        if self.no_first:
            brought[:, self.trace.columns(at[0])[0]] = 0
        return fold(brought, self.trace.word_starts) if self.folded else brought

    def scores(self, at: Head) -> Array | None:
        """(rows, columns) of one head; none of words, nor where they were too many to keep."""
        merged = self.n_rows < self.trace.n_tokens
        if merged or not self.trace.scores.size:
            return None
        return self.trace.scores[at]


def make_view(trace: AttentionTrace, *, folded: bool) -> View:
    """The trace over its positions, or folded to words (columns summed, rows averaged)."""
    make = _word_axes if folded else token_axes
    starts = [position for position, starts in enumerate(trace.word_starts) if starts]
    return View(
        trace=trace,
        folded=folded,
        axes=[make(trace, layer) for layer in range(trace.n_layers)],
        first_tokens=starts if folded else list(range(trace.n_tokens)),
        steps=_written(trace) if folded else list(trace.steps),
        digest=digest(trace),
    )


def digest(trace: AttentionTrace) -> str:
    """What tells a trace from others without reading all of it: its tokens, what every key can
    bring to every head, and of each head the weights of the last row and of the first key.
    """
    parts = (trace.value_norm, trace.weights[..., -1, :], trace.weights[..., 0])
    named = (trace.labels, trace.ablated, trace.mode, trace.kinds, trace.n_source, trace.steps)
    found = hashlib.blake2b(repr(named).encode(), digest_size=16)
    for part in parts:
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


def why_not_folded(trace: AttentionTrace) -> str:
    """Why there are no words to fold to; empty where there are."""
    if trace.latent_positions:
        return "Nothing to fold: rows or columns of each layer are latents, and no words."
    if trace.n_source:
        return "Nothing to fold: rows and columns are of two texts, source and target."
    return "" if trace.word_starts[0] else "Nothing to fold: the text begins inside a word."


def scores_offered(
    trace: AttentionTrace, layers: Sequence[int], *, no_first: bool = False
) -> list[str]:
    """Those that mean something: without a name none is of it, and a Perceiver's row that writes
    the answer looks at latents, not at the name. Only encoders look ahead; two texts have no
    distance.
    """
    kinds = {trace.kind(layer) for layer in layers}
    lacking = {"name": not trace.name_positions, "first_token": no_first}
    lacking["next_token"] = "encoder" not in kinds
    lacking["answer"] = lacking["name"] or bool(trace.latent_positions) or not trace.steps
    if trace.n_source:
        lacking["name"] = lacking["name"] or kinds == {"decoder"}
        lacking["answer"] = True
    lacking["previous_token"] = lacking["distance"] = kinds == {"cross"}
    return [name for name in SCORES if not lacking.get(name)]


def grid_scores(
    view: View, both: tuple[HeadScores, HeadScores], score: str, layers: Sequence[int]
) -> tuple[NDArray[np.float64], str]:
    """The chosen score of every head, and what uniform attention would score in some layers, as
    text.

    `both` are the trace's scores and those of uniform attention. Weight on the name is no number in
    layers whose columns are latents.
    """
    if score == "answer":
        brought, uniform = name_to_answer(view.trace)
        return brought, f"{np.nanmean(uniform):.2g}"
    values, baseline = (getattr(scores, score).copy() for scores in both)
    if score == "name" and view.trace.latent_positions:
        values[1:], baseline[1:] = np.nan, np.nan
    known = baseline[list(layers)]
    if np.isnan(known).all():
        return values, "none here"
    ends = f"{np.nanmin(known):.2g}", f"{np.nanmax(known):.2g}"
    return values, " to ".join(dict.fromkeys(ends))


def pictures(view: View, layer: int, most: int) -> list[str]:
    """Data URIs of one layer's heads, at most so many cells a side; grey without numbers."""
    axes = view.axes[layer]
    block = tuple(slice(side.start, side.stop) for side in axes.within)
    heads = (view.weights((layer, head))[block] for head in range(view.trace.n_heads))
    visible = axes.visible[block]
    drawn = thumbnails(heads, visible, most)
    lacking = view.trace.not_recorded[layer]
    grey = thumbnail(np.zeros(visible.shape, np.float32), np.zeros_like(visible), most)
    return [grey if no else picture for picture, no in zip(drawn, lacking, strict=True)]


def token_axes(trace: AttentionTrace, layer: int) -> Axes:
    """The axes of one layer over the trace's positions."""
    latents_look, latents_seen = trace.latents_look(layer), trace.latents_seen(layer)
    latents = _latent_labels(trace.latent_positions, trace.n_tokens)
    return Axes(
        rows=trace.rows(layer),
        columns=trace.columns(layer),
        within=spans(trace, layer),
        row_labels=latents if latents_look else list(trace.labels),
        column_labels=latents if latents_seen else list(trace.labels),
        latents_look=latents_look,
        latents_seen=latents_seen,
        is_cross=trace.kind(layer) == "cross",
        step_rows=written_rows(trace, layer),
        visible=seen_in(trace, layer),
    )


def _word_axes(trace: AttentionTrace, layer: int) -> Axes:
    """A word sees what any of its tokens sees."""
    words = word_index(trace.word_starts)
    labels = word_labels(trace.labels, trace.word_starts, SPACE_GLYPH)
    standing = range(len(labels))
    return Axes(
        rows=tuple(standing),
        columns=tuple(standing),
        within=(standing, standing),
        row_labels=labels,
        column_labels=labels,
        latents_look=False,
        latents_seen=False,
        is_cross=False,
        step_rows=[int(words[step.row]) for step in _written(trace)],
        visible=fold_visible(seen_in(trace, layer), trace.word_starts),
    )


def _written(trace: AttentionTrace) -> list[Step]:
    return written_words(trace.steps, trace.word_starts, SPACE_GLYPH)


def _latent_labels(positions: Sequence[int], n_tokens: int) -> list[str]:
    """z0, z1, … at their positions, nothing between them."""
    names = {position: f"z{number}" for number, position in enumerate(positions)}
    return [names.get(position, "") for position in range(n_tokens)]
