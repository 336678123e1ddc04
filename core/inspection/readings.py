"""Head scores, patterns and contributions, of one example or averaged over a split.

One example rarely matches the whole, so both come in the same form and can stand side by side.
No torch: a trace from a file is read, too. core.inspection.split_readings records whole splits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.inspection.head_rows import Scores
from core.inspection.patterns import (
    PATTERNS,
    Numbers,
    Places,
    caption,
    pattern_masks,
    pattern_scores,
    places_of,
    uniform_pattern_scores,
)
from core.inspection.scores import HeadScores, head_scores, uniform_over
from core.inspection.traced import AttentionTrace, contribution

SCORES = tuple(field.name for field in fields(HeadScores))


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Means over `n_questions`, beside heads that attend uniformly to all they can see.

    scores: (n_layers, n_heads) each, uniform_scores (n_layers, 1). patterns (n_layers, n_heads,
    len(PATTERNS)), uniform_patterns (n_layers, len(PATTERNS)). contribution (n_layers, n_heads):
    Σ ‖weight · value · W_O‖ over the tokens of the name, in the row that writes the first token of
    the answer. nan where there is nothing to average: no name, or a layer that looks at latents.
    """

    n_questions: int
    scores: HeadScores
    uniform_scores: HeadScores
    patterns: Numbers
    uniform_patterns: Numbers
    contribution: Numbers

    @property
    def weight_on_name(self) -> Numbers:
        """(n_layers, n_heads): in the row that writes the first token of the answer."""
        return self.patterns[..., PATTERNS.index("name")]

    def caption(self, layer: int, head: int) -> str:
        """The clearest pattern of a head, or that there is none."""
        return caption(self.patterns[layer, head], self.uniform_patterns[layer])


def named_scores(readings: Readings) -> Scores:
    """The scores by name, as tables and pages keep them."""
    heads = {name: readings.patterns[..., index] for index, name in enumerate(PATTERNS)}
    uniform = {name: readings.uniform_patterns[..., index] for index, name in enumerate(PATTERNS)}
    for name in ("normalised_entropy", "distance"):
        heads[name] = getattr(readings.scores, name)
        uniform[name] = getattr(readings.uniform_scores, name)[:, 0]
    heads["contribution"] = readings.contribution
    uniform["contribution"] = np.full(len(readings.contribution), np.nan)
    return Scores(heads=heads, uniform=uniform)


class Maps(NamedTuple):
    """Recorded maps of questions with the same places: (B, n_layers, n_heads, L, L) and norms."""

    weights: NDArray[np.float32]
    value_norm: NDArray[np.float32]  # (B, n_layers, n_heads, L)
    rows: list[tuple[int, ...]]  # one of each a layer
    columns: list[tuple[int, ...]]
    places: Places
    latents_seen: list[bool]


def read_trace(trace: AttentionTrace) -> Readings:
    """The readings of the example at hand. Cost: numpy passes over its maps."""
    layers = range(trace.n_layers)
    maps = Maps(
        trace.weights[None],
        trace.value_norm[None],
        [trace.rows(layer) for layer in layers],
        [trace.columns(layer) for layer in layers],
        places_of(trace),
        [trace.latents_seen(layer) for layer in layers],
    )
    return averaged(iter([maps]))


def averaged(recorded: Iterator[Maps]) -> Readings:
    """The mean over all questions of each number that a question has."""
    sums: dict[str, Numbers] = {}
    counts: dict[str, Numbers] = {}
    n_questions = 0
    for maps in recorded:
        n_questions += len(maps.weights)
        for name, values in _each(maps).items():
            there = ~np.isnan(values)
            sums[name] = sums.get(name, 0.0) + np.where(there, values, 0.0).sum(0)
            counts[name] = counts.get(name, 0.0) + there.sum(0)
    none = {name: np.full_like(total, np.nan) for name, total in sums.items()}
    means = {
        name: np.divide(total, counts[name], out=none[name], where=counts[name] > 0)
        for name, total in sums.items()
    }
    return Readings(
        n_questions=n_questions,
        scores=HeadScores(**{name: means[name] for name in SCORES}),
        uniform_scores=HeadScores(**{name: means[f"uniform {name}"] for name in SCORES}),
        patterns=means["patterns"],
        uniform_patterns=means["uniform patterns"],
        contribution=means["contribution"],
    )


def _each(maps: Maps) -> dict[str, Numbers]:
    """Every number of each question, (B, …); nan where a question or a layer has none."""
    n, _, _, n_tokens, _ = maps.weights.shape
    visible = np.stack(
        [_visible(rows, columns, n_tokens) for rows, columns in _looks(maps)]
    )  # (n_layers, L, L)
    masks = [
        pattern_masks(maps.places, rows, columns, n_tokens, of_tokens=not latents)
        for (rows, columns), latents in zip(_looks(maps), maps.latents_seen, strict=True)
    ]
    by_layer = zip(maps.weights.swapaxes(0, 1), masks, strict=True)
    patterns = np.stack([pattern_scores(weights, mask) for weights, mask in by_layer], 1)
    expected = zip(visible, masks, strict=True)
    uniform = np.stack([uniform_pattern_scores(seen, mask) for seen, mask in expected])
    scores = head_scores(maps.weights, maps.places.name, visible[:, None])
    baseline = uniform_over(visible[:, None], maps.places.name)
    return {
        "patterns": patterns,
        "uniform patterns": np.broadcast_to(uniform, (n, *uniform.shape)),
        "contribution": _brought(maps),
        **{name: getattr(scores, name) for name in SCORES},
        **{f"uniform {name}": np.stack([getattr(baseline, name)] * n) for name in SCORES},
    }


def _brought(maps: Maps) -> Numbers:
    """(B, n_layers, n_heads): what each head brings of the name to the first written token."""
    found = np.full(maps.weights.shape[:3], np.nan)
    name = list(maps.places.name)
    for layer, (rows, _) in enumerate(_looks(maps)):
        if name and not maps.latents_seen[layer]:
            row = max(row for row in rows if row <= maps.places.mark)
            weights = maps.weights[:, layer, :, row, name].astype(np.float64)  # (name, B, H)
            found[:, layer] = contribution(weights, maps.value_norm[:, layer, :, name]).sum(0)
    return found


def _looks(maps: Maps) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """What looks at what, a pair of positions a layer."""
    return list(zip(maps.rows, maps.columns, strict=True))


def _visible(rows: Sequence[int], columns: Sequence[int], n_tokens: int) -> NDArray[np.bool_]:
    """(L, L): whether something stands at a row that may look at what stands at a column."""
    row, column = np.isin(np.arange(n_tokens), rows), np.isin(np.arange(n_tokens), columns)
    return np.tri(n_tokens, dtype=np.bool_) & row[:, None] & column
