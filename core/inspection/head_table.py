"""Measure every head of a model: what each looks at, brings, adds and is worth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.inspection.ablate import HeadMeans, Mode, head_means
from core.inspection.answered import Answered, answered
from core.inspection.attribution import mean_attribution, writes_directly
from core.inspection.effects import Effect, effect, every_head
from core.inspection.head_rows import (
    HeadRow,
    HeadTable,
    Scores,
    Together,
    mean_ranks,
    n_together,
    rank_agreement,
    ranked,
)
from core.inspection.readings import Readings, named_scores, read_split
from core.inspection.record import Array
from core.models.gpt import GPT

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a table needs besides the ablations: the answers, the readings, the attribution."""

    before: Answered
    accuracy: float
    readings: Readings
    attributed: Array

    @property
    def scores(self) -> Scores:
        return named_scores(self.readings)


def prepare(model: GPT, vocabulary: Vocabulary, questions: Sequence[Question]) -> Prepared:
    """Cost: the answers, and two passes over each question. ValueError without known answers."""
    before = answered(model, vocabulary, questions)
    return Prepared(
        before=before,
        accuracy=before.accuracy,
        readings=read_split(model, vocabulary, before),
        attributed=mean_attribution(model, before),
    )


def head_table(
    model: GPT,
    vocabulary: Vocabulary,
    questions: Sequence[Question],
    *,
    mode: Mode = "zero",
    means: HeadMeans | None = None,
    progress: Progress | None = None,
) -> HeadTable:
    """Measure every head. `progress` is told (heads done, heads) after each of them.

    Cost: n_layers · n_heads passes over each question, and the answers that change. Raises
    ValueError without answered questions and for what `ablation` refuses.
    """
    prepared = prepare(model, vocabulary, questions)
    return measure(model, vocabulary, prepared, mode=mode, means=means, progress=progress)


def head_tables(
    model: GPT,
    vocabulary: Vocabulary,
    questions: Sequence[Question],
    dev: Sequence[Question],
    *,
    progress: Progress | None = None,
) -> tuple[dict[Mode, HeadTable], HeadMeans]:
    """The table in both modes, and the means over the dev questions. Cost: that of two tables."""
    prepared = prepare(model, vocabulary, questions)
    same = list(questions) == list(dev)
    known = prepared.before if same else answered(model, vocabulary, dev)
    means = head_means(model, known)
    tables: dict[Mode, HeadTable] = {
        "zero": measure(model, vocabulary, prepared, progress=progress),
        "mean": measure(model, vocabulary, prepared, mode="mean", means=means, progress=progress),
    }
    return tables, means


def measure(
    model: GPT,
    vocabulary: Vocabulary,
    prepared: Prepared,
    *,
    mode: Mode = "zero",
    means: HeadMeans | None = None,
    progress: Progress | None = None,
) -> HeadTable:
    """Every head off alone, then those that matter most and least off together."""
    heads, rows = every_head(model.config), list[HeadRow]()
    for head in heads:
        found = effect(model, vocabulary, prepared.before, [head], mode=mode, means=means)
        rows.append(head_row(model, prepared, found))
        if progress is not None:
            progress(len(rows), len(heads))
    return finish_table(model, vocabulary, prepared, rows, mode=mode, means=means)


def finish_table(
    model: GPT,
    vocabulary: Vocabulary,
    prepared: Prepared,
    rows: Sequence[HeadRow],
    *,
    mode: Mode = "zero",
    means: HeadMeans | None = None,
) -> HeadTable:
    """The table of measured rows, with the heads that matter most and least off together.

    Cost: two passes over each question.
    """

    def together(chosen: Sequence[HeadRow]) -> Together:
        off = [row.at for row in chosen]
        found = effect(model, vocabulary, prepared.before, off, mode=mode, means=means)
        return Together(heads=tuple(off), accuracy_without=found.accuracy)

    order, n = ranked(rows), n_together(len(rows))
    return HeadTable(
        mode=mode,
        total=len(prepared.before.questions),
        accuracy=prepared.accuracy,
        rows=tuple(rows),
        most=together(order[:n]),
        least=together(order[::-1][:n]),
        scores=prepared.scores,
    )


def head_row(model: GPT, prepared: Prepared, found: Effect) -> HeadRow:
    """The row of the one head that was off."""
    ((layer, head),) = found.heads
    writes = writes_directly(model.config, layer)
    return HeadRow(
        layer=layer,
        head=head,
        caption=prepared.readings.caption(layer, head),
        weight_on_name=_known(prepared.readings.weight_on_name[layer, head]),
        contribution=_known(prepared.readings.contribution[layer, head]),
        attribution=float(prepared.attributed[layer, head]) if writes else None,
        accuracy_without=found.accuracy,
        log_probability_change=float(found.answer_change.mean()),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


__all__ = [
    "HeadRow",
    "HeadTable",
    "Prepared",
    "Progress",
    "finish_table",
    "head_row",
    "head_table",
    "head_tables",
    "mean_ranks",
    "measure",
    "prepare",
    "rank_agreement",
]
