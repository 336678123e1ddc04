"""All heads of a model in one table: what each looks at, brings, adds and is worth.

The columns disagree, and that is the lesson: a weight is not a contribution, a contribution need
not reach the answer, and what one head does another can do too. Spearman's rank correlation says
how far they agree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.inspection.ablate import HeadMeans, Mode
from core.inspection.answered import answered
from core.inspection.attribution import mean_attribution, writes_directly
from core.inspection.effects import effects, every_head
from core.inspection.readings import Readings, read_split
from core.models.gpt import GPT

COMPARED = ("weight_on_name", "contribution", "effect")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadRow:
    """One head over all questions of a split.

    weight_on_name, contribution: in the row that writes the first token of the answer, on and from
    the name; None where a layer looks at latents or no question has a name. attribution: what it
    adds directly to that token's logit above the mean of all tokens; None in a layer that does not
    write into the tokens' own stream. accuracy_without, log_probability_change: with this head
    alone off; the latter is that of the whole answer given before.
    """

    layer: int
    head: int
    caption: str
    weight_on_name: float | None
    contribution: float | None
    attribution: float | None
    accuracy_without: float
    log_probability_change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadTable:
    """Every head, layer by layer; `readings` has the scores behind the captions."""

    mode: Mode
    total: int
    accuracy: float
    rows: tuple[HeadRow, ...]
    readings: Readings

    @property
    def by_importance(self) -> tuple[HeadRow, ...]:
        """The head first whose loss costs the answers the most log-probability."""
        return tuple(sorted(self.rows, key=lambda row: row.log_probability_change))

    @property
    def agreement(self) -> dict[str, float | None]:
        """Spearman's correlation over heads of each pair of weight on the name, contribution, and
        effect: the accuracy that is lost without the head. None where it is not defined.
        """
        columns = {name: [getattr(row, name) for row in self.rows] for name in COMPARED[:2]}
        columns["effect"] = [self.accuracy - row.accuracy_without for row in self.rows]
        pairs = [(a, b) for i, a in enumerate(COMPARED) for b in COMPARED[i + 1 :]]
        return {f"{a}, {b}": rank_agreement(columns[a], columns[b]) for a, b in pairs}


def head_table(
    model: GPT,
    vocabulary: Vocabulary,
    questions: Sequence[Question],
    *,
    mode: Mode = "zero",
    means: HeadMeans | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> HeadTable:
    """Measure every head. `progress` is told (heads done, heads) after each of them.

    Cost: n_layers · n_heads passes over each question, and the answers that change. Raises
    ValueError without answered questions and for what `ablation` refuses.
    """
    before = answered(model, vocabulary, questions)
    accuracy = before.accuracy
    readings = read_split(model, vocabulary, before)
    attributed = mean_attribution(model, before)
    heads = every_head(model.config)
    found = effects(model, vocabulary, before, [[h] for h in heads], mode=mode, means=means)
    rows: list[HeadRow] = []
    for head, effect in zip(heads, found, strict=True):
        layer = head[0]
        writes = writes_directly(model.config, layer)
        rows.append(
            HeadRow(
                layer=layer,
                head=head[1],
                caption=readings.caption(*head),
                weight_on_name=_known(readings.weight_on_name[head]),
                contribution=_known(readings.contribution[head]),
                attribution=float(attributed[head]) if writes else None,
                accuracy_without=effect.accuracy,
                log_probability_change=float(effect.answer_change.mean()),
            )
        )
        if progress is not None:
            progress(len(rows), len(heads))
    return HeadTable(
        mode=mode, total=len(questions), accuracy=accuracy, rows=tuple(rows), readings=readings
    )


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


def mean_ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Ranks from 0; equal values share the mean of theirs."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[place]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
