"""One trace as a chosen view: whole tokens or words, one head, one row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.data.vocabulary import SPACE_GLYPH
from core.figures.thumbnails import thumbnail
from core.inspection.fold import fold, word_index, word_labels
from core.inspection.record import Array, AttentionTrace
from core.inspection.scores import HeadScores, head_scores, name_to_answer, uniform_scores

MAP, ARCS, PARTS = "map", "arcs", "q·k parts"
MOST_ARC_TOKENS = 40
SCORES = {
    "name": "weight on name",
    "answer": "name to answer",
    "previous_token": "previous token",
    "first_token": "first token",
    "normalised_entropy": "entropy",
    "distance": "distance",
}
MEANINGS = {
    "name": "mean weight on the tokens of the name",
    "answer": "contribution of the name's tokens to the first written piece",
    "previous_token": "mean weight on the token before",
    "first_token": "mean weight on the first token",
    "normalised_entropy": "entropy of the rows, 1 is uniform",
    "distance": "mean distance looked back, in tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Arrays as they are drawn; folded to words or not. Rows are those of the drawn labels.

    `step_rows` is the row that wrote each piece, `first_tokens` the first token of each row.
    """

    labels: list[str]
    weights: Array
    contribution: Array
    scores: Array | None
    step_rows: list[int]
    first_tokens: list[int]


def make_view(trace: AttentionTrace, *, folded: bool) -> View:
    """The trace over tokens, or folded to words (columns summed, rows averaged)."""
    if not folded:
        return View(
            labels=list(trace.labels),
            weights=trace.weights,
            contribution=trace.contribution,
            scores=trace.scores,
            step_rows=[step.row for step in trace.steps],
            first_tokens=list(range(trace.n_tokens)),
        )
    words = word_index(trace.word_starts)
    return View(
        labels=word_labels(trace.labels, trace.word_starts, SPACE_GLYPH),
        weights=fold(trace.weights, trace.word_starts),
        contribution=fold(trace.contribution, trace.word_starts),
        scores=None,
        step_rows=[int(words[step.row]) for step in trace.steps],
        first_tokens=[i for i, starts in enumerate(trace.word_starts) if starts],
    )


def grid_scores(trace: AttentionTrace, score: str) -> tuple[NDArray[np.float64], float]:
    """The chosen score of every head, and what uniform attention would score."""
    if score == "answer":
        brought, uniform = name_to_answer(trace)
        return brought, float(uniform.mean())
    scores: HeadScores = head_scores(trace.weights, trace.name_positions)
    baseline = uniform_scores(trace.n_tokens, trace.name_positions)
    return getattr(scores, score), float(getattr(baseline, score))


def thumbnails(view: View) -> list[list[str]]:
    """Data URIs [layer][head]."""
    return [[thumbnail(head) for head in layer] for layer in view.weights]
