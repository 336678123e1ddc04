"""All heads of a model in one table, as values: free of torch, so that a page can show it at once.

The columns disagree, and that is the lesson: a weight is not a contribution, a contribution need
not reach the answer, and what one head does another can do too. Spearman's rank correlation says
how far they agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.inspection.heads import Head, Mode, OneHead, head_name
from core.inspection.patterns import PATTERNS, caption, caption_sentence

COMPARED = {
    "weight_on_name": "weight_on_name",
    "contribution": "contribution",
    "effect": "accuracy_lost",
}
# What a head is measured by; a loss is positive where the head helps.
MEASURES = (
    "weight_on_name",
    "contribution",
    "attribution",
    "accuracy_lost",
    "log_probability_lost",
)
# Scores of a head beside those of the patterns.
OTHER_SCORES = ("contribution", "normalised_entropy", "distance", "sink_share")
MOST_TOGETHER = 5
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadRow(OneHead):
    """One head over all questions of a split.

    weight_on_name, contribution: in the row that writes the first token of the answer, on and from
    the name; None where a layer looks at latents or no question has a name. attribution: what it
    adds directly to that token's logit above the mean of all tokens; None in a layer that does not
    write into the tokens' own stream. accuracy_without, log_probability_change: with this head
    alone off; the latter is that of the whole answer given before.
    """

    caption: str
    weight_on_name: float | None
    contribution: float | None
    attribution: float | None
    accuracy_without: float
    log_probability_change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Several heads off at once, and the accuracy that is left."""

    heads: tuple[Head, ...]
    accuracy_without: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores by name, each (n_layers, n_heads), and what uniform attention would score, each
    (n_layers,). Names: PATTERNS and OTHER_SCORES (contribution has no baseline). nan: none.

    `without_first`: the same of rows `renormalised` over the keys but the first, None in a record
    of before there were any. `apart`: captions are decided on those, so that no head is named by
    what a sink causes.
    """

    heads: dict[str, Numbers]
    uniform: dict[str, Numbers]
    without_first: "Scores | None" = None
    apart: bool = False
    renormalised: bool = False

    def caption(self, layer: int, head: int) -> str:
        """The clearest pattern of a head, or that there is none."""
        return caption(*self._judged(layer, head))

    def sentence(self, layer: int, head: int) -> str:
        """What a head does, with its numbers."""
        return caption_sentence(head_name(layer, head), *self._judged(layer, head))

    def _judged(self, layer: int, head: int) -> tuple[Numbers, Numbers, float | None]:
        """What a caption is decided on: patterns, baselines, and the sink share where set apart."""
        other = self.without_first if self.apart else None
        chosen, share = other or self, float(self.heads["sink_share"][layer, head])
        scores = np.array([chosen.heads[name][layer, head] for name in PATTERNS])
        uniform = np.array([chosen.uniform[name][layer] for name in PATTERNS])
        return scores, uniform, share if chosen.renormalised else None


def score_dict(scores: Scores, layer: int, head: int) -> dict[str, Any]:
    """One head for JSON: its sink share, and its scores with and without the first token, which is
    None in a record of before there were any. What is no number is None.
    """

    def values(of: Scores) -> dict[str, float | None]:
        names = [name for name in of.heads if name not in ("sink_share", "contribution")]
        return {name.replace(" ", "_"): known(of.heads[name][layer, head]) for name in names}

    other = scores.without_first
    return {
        "sink_share": known(scores.heads["sink_share"][layer, head]),
        "scores": values(scores),
        "scores_without_first": None if other is None else values(other),
    }


def known(value: float) -> float | None:
    """A number, None where there is none."""
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadTable:
    """Every head, layer by layer; `scores` are those behind the captions.

    `most`, `least`: the heads that matter most and least, off together.
    """

    mode: Mode
    total: int
    accuracy: float
    rows: tuple[HeadRow, ...]
    most: Together
    least: Together
    scores: Scores

    @property
    def by_importance(self) -> tuple[HeadRow, ...]:
        """The head first whose loss costs the answers the most log-probability."""
        return ranked(self.rows)

    @property
    def agreement(self) -> dict[str, float | None]:
        """Spearman's correlation over heads of each pair of weight on the name, contribution, and
        effect: the accuracy that is lost without the head. None where it is not defined.
        """
        columns = {name: self.values(measure) for name, measure in COMPARED.items()}
        pairs = combinations(COMPARED, 2)
        return {f"{a}, {b}": rank_agreement(columns[a], columns[b]) for a, b in pairs}

    @property
    def without_first(self) -> "HeadTable | None":
        """The same with captions, scores and weights on the name without the first token; None
        where these were not measured.
        """
        scores = self.scores.without_first
        if scores is None:
            return None
        rows = tuple(
            replace(
                row,
                caption=scores.caption(*row.at),
                weight_on_name=known(scores.heads["name"][row.at]),
            )
            for row in self.rows
        )
        return replace(self, rows=rows, scores=scores)

    def values(self, measure: str) -> list[float | None]:
        """One of MEASURES, or of the scores by name, head by head."""
        if measure == "accuracy_lost":
            return [self.accuracy - row.accuracy_without for row in self.rows]
        if measure == "log_probability_lost":
            return [-row.log_probability_change for row in self.rows]
        if measure in MEASURES:
            return [getattr(row, measure) for row in self.rows]
        return [known(value) for value in self.scores.heads[measure].ravel()]

    def sorted_by(self, measure: str) -> list[HeadRow]:
        """The rows with the largest value first; those without one last."""
        pairs = list(zip(self.values(measure), self.rows, strict=True))
        known = [(value, row) for value, row in pairs if value is not None]
        known.sort(key=lambda pair: -pair[0])
        return [row for _, row in known] + [row for value, row in pairs if value is None]


def ranked(rows: Sequence[HeadRow]) -> tuple[HeadRow, ...]:
    """The head first whose loss costs the answers the most log-probability."""
    return tuple(sorted(rows, key=lambda row: row.log_probability_change))


def n_together(n_heads: int) -> int:
    """How many heads go off together: five, but never all of a small model."""
    return max(1, min(MOST_TOGETHER, n_heads - 1))


def rank_agreement(one: Sequence[float | None], other: Sequence[float | None]) -> float | None:
    """Spearman's rank correlation of what both have, −1 to 1; ties share their mean rank.

    None for fewer than three pairs, and where one side does not vary: there is no order then.
    """
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if len(pairs) < 3:
        return None
    ranks = [mean_ranks(side) - (len(pairs) - 1) / 2 for side in zip(*pairs, strict=True)]
    spread = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum() / spread) if spread > 0 else None


def mean_ranks(values: Sequence[float]) -> Numbers:
    """Ranks from 0; equal values share the mean of theirs."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[place]
