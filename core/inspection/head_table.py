"""Measure every head of a model: what each looks at, brings, adds and is worth.

Over a split in a table, or for one question, to stand beside the averages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.checkpoints.progress import Counted
from core.checkpoints.store import Checkpoint
from core.data.people import Question
from core.data.question_set import of_subject
from core.generation.greedy import Answer
from core.inspection.ablate import Effect, effect, head_means
from core.inspection.answered import Answered, answered
from core.inspection.attribution import attribution, mean_attribution
from core.inspection.head_rows import (
    HeadRow,
    HeadTable,
    Numbers,
    Scores,
    Together,
    known,
    n_together,
    ranked,
)
from core.inspection.heads import EVERY_HEAD_ON, Head, HeadMeans, HeadsOff, Mode, every_head
from core.inspection.readings import Readings, named_scores, read_trace
from core.inspection.split_readings import read_split
from core.inspection.traced import Array, AttentionTrace
from core.models.seam import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a table needs besides the ablations: the answers, the readings, the attribution
    (n_layers, n_heads), nan where a head does not add to the tokens' own stream.

    `apart`: captions are decided without the first token. `of_task`: they speak of a name, else of
    the subject of a set's prompt.
    """

    before: Answered
    accuracy: float
    readings: Readings
    attributed: Array
    of_task: bool = True
    apart: bool = False

    @property
    def scores(self) -> Scores:
        return named_scores(self.readings, apart=self.apart)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadExample:
    """The measures of every head for one question.

    attribution, log_probability_lost: (n_layers, n_heads), nan where there is none.
    `answers` are those that are written with each head alone off, layer by layer.
    """

    scores: Scores
    attribution: Numbers
    log_probability_lost: Numbers
    answers: tuple[Answer, ...]
    changed: tuple[bool, ...]

    @property
    def without_first(self) -> "HeadExample":
        """The same with the scores without the first token."""
        return replace(self, scores=self.scores.without_first or self.scores)

    @property
    def by_importance(self) -> tuple[Head, ...]:
        """The head first whose loss makes this answer least likely."""
        order = np.argsort(-self.log_probability_lost, axis=None, kind="stable")
        layers, heads = np.unravel_index(order, self.log_probability_lost.shape)
        return tuple((int(layer), int(head)) for layer, head in zip(layers, heads, strict=True))

    def values(self, measure: str) -> list[float | None]:
        """A measure or a score by name, head by head; of an accuracy one question has none."""
        names = {"weight_on_name": "name"}
        if measure in ("attribution", "log_probability_lost"):
            values: Numbers = getattr(self, measure)
        elif measure == "accuracy_lost":
            values = np.full_like(self.attribution, np.nan)
        else:
            values = self.scores.heads[names.get(measure, measure)]
        return [known(value) for value in values.ravel()]


def prepare(checkpoint: Checkpoint, questions: Sequence[Question]) -> Prepared:
    """Cost: the answers, and two passes over each question. ValueError without known answers.

    No head of a model without a task, which was trained on text at large, is named by its first
    token.
    """
    before = answered(checkpoint, questions)
    return Prepared(
        before=before,
        accuracy=before.accuracy,
        readings=read_split(checkpoint, before),
        attributed=_attributed(checkpoint.model, before),
        of_task=checkpoint.asked is None,
        apart=checkpoint.task is None,
    )


def _attributed(model: Model, before: Answered) -> Array:
    """Not a number in layers that do not write to tokens, and for a model without parts."""
    shape = model.shape
    if model.cannot("attribution"):
        return np.full((shape.n_layers, shape.n_heads), np.nan, dtype=np.float32)
    found = mean_attribution(model, before)
    found[[not model.writes_to_tokens(layer) for layer in range(shape.n_layers)]] = np.nan
    return found


def head_tables(
    checkpoint: Checkpoint,
    questions: Sequence[Question],
    dev: Sequence[Question],
    *,
    progress: Counted | None = None,
) -> tuple[dict[Mode, HeadTable], HeadMeans]:
    """The table in both modes, and the means over the dev questions. Cost: that of two tables."""
    prepared = prepare(checkpoint, questions)
    same = list(questions) == list(dev)
    before = prepared.before if same else answered(checkpoint, dev)
    means = head_means(checkpoint.model, before)
    modes = (HeadsOff(), HeadsOff(mode="mean", means=means))
    tables: dict[Mode, HeadTable] = {
        off.mode: measure_heads(checkpoint, prepared, off, progress) for off in modes
    }
    return tables, means


def measure_heads(
    checkpoint: Checkpoint,
    prepared: Prepared,
    off: HeadsOff = EVERY_HEAD_ON,
    progress: Counted | None = None,
    *,
    heads: Sequence[Head] | None = None,
) -> HeadTable:
    """Every head, or each of some, off alone; then those that matter most and least off together.

    `off` says what takes a head's place, `progress` is told (heads done, heads) after each of them.
    Cost: n_layers · n_heads passes over each question, and the answers that change. Raises
    ValueError for what `checked_off` refuses.
    """
    heads = every_head(checkpoint.model.shape) if heads is None else heads
    rows = list[HeadRow]()
    for head in heads:
        found = effect(checkpoint, prepared.before, replace(off, heads=(head,)))
        rows.append(head_row(prepared, found))
        if progress is not None:
            progress(len(rows), len(heads))
    return finish_table(checkpoint, prepared, rows, off)


def finish_table(
    checkpoint: Checkpoint,
    prepared: Prepared,
    rows: Sequence[HeadRow],
    off: HeadsOff = EVERY_HEAD_ON,
) -> HeadTable:
    """The table of measured rows, with the heads that matter most and least off together.

    Cost: two passes over each question.
    """

    def together(chosen: Sequence[HeadRow]) -> Together:
        heads = tuple(row.at for row in chosen)
        found = effect(checkpoint, prepared.before, replace(off, heads=heads))
        return Together(heads=heads, accuracy_without=found.accuracy)

    order, n = ranked(rows), n_together(len(rows))
    return HeadTable(
        mode=off.mode,
        total=len(prepared.before.questions),
        accuracy=prepared.accuracy,
        rows=tuple(rows),
        most=together(order[:n]),
        least=together(order[::-1][:n]),
        scores=prepared.scores,
    )


def head_row(prepared: Prepared, found: Effect) -> HeadRow:
    """The row of the one head that was off."""
    ((layer, head),) = found.heads
    return HeadRow(
        **read_head(prepared, layer, head),
        accuracy_without=found.accuracy,
        log_probability_change=float(found.answer_change.mean()),
    )


def read_head(prepared: Prepared, layer: int, head: int) -> dict[str, Any]:
    """What is known of a head that was not switched off, by the names of a row."""
    caption = prepared.scores.caption(layer, head)
    return {
        "layer": layer,
        "head": head,
        "caption": caption if prepared.of_task else of_subject(caption),
        "weight_on_name": known(prepared.readings.weight_on_name[layer, head]),
        "contribution": known(prepared.readings.contribution[layer, head]),
        "attribution": known(prepared.attributed[layer, head]),
    }


def head_example(
    checkpoint: Checkpoint,
    trace: AttentionTrace,
    off: HeadsOff = EVERY_HEAD_ON,
    *,
    progress: Counted | None = None,
) -> HeadExample:
    """Every head off alone for a traced question; `off` says what takes its place, `progress` is
    told (heads done, heads) after each of them.

    Cost: a pass for each head, and the answers that change. Raises ValueError for what
    `checked_off` refuses.
    """
    model, before = checkpoint.model, answered(checkpoint, [Question(trace.question, None, "")])
    heads, found = every_head(model.shape), list[Effect]()
    for head in heads:
        found.append(effect(checkpoint, before, replace(off, heads=(head,))))
        if progress is not None:
            progress(len(found), len(heads))
    shape = (trace.n_layers, trace.n_heads)
    lost = np.array([-float(effect.answer_change[0]) for effect in found]).reshape(shape)
    added = np.full(shape, np.nan)
    if not model.cannot("attribution"):
        added = attribution(checkpoint, trace.question, relative=True).heads.astype(np.float64)
        added[[not model.writes_to_tokens(layer) for layer in range(trace.n_layers)]] = np.nan
    return HeadExample(
        scores=named_scores(read_trace(trace)),
        attribution=added,
        log_probability_lost=lost,
        answers=tuple(effect.answers[0] for effect in found),
        changed=tuple(bool(effect.changed[0]) for effect in found),
    )
