"""The measures of every head for the one question at hand, to stand beside those of a split."""

from dataclasses import dataclass

import numpy as np

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.generation.greedy import Answer
from core.inspection.ablate import Head, HeadMeans, Mode
from core.inspection.answered import answered
from core.inspection.attribution import attribution, writes_directly
from core.inspection.effects import effects, every_head
from core.inspection.head_rows import Numbers, Scores
from core.inspection.readings import named_scores, read_trace
from core.inspection.record import AttentionTrace
from core.models.gpt import GPT


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadExample:
    """attribution, log_probability_lost: (n_layers, n_heads), nan where there is none.

    `answers` are those that are written with each head alone off, layer by layer.
    """

    scores: Scores
    attribution: Numbers
    log_probability_lost: Numbers
    answers: tuple[Answer, ...]
    changed: tuple[bool, ...]

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
        return [None if np.isnan(value) else float(value) for value in values.ravel()]


def head_example(
    model: GPT,
    vocabulary: Vocabulary,
    trace: AttentionTrace,
    *,
    mode: Mode = "zero",
    means: HeadMeans | None = None,
) -> HeadExample:
    """Of a traced question. Cost: a pass for each head, and the answers that change.

    Raises ValueError for what `ablation` refuses.
    """
    known = answered(model, vocabulary, [Question(trace.question, None, "")])
    heads = every_head(model.config)
    found = list(effects(model, vocabulary, known, [[h] for h in heads], mode=mode, means=means))
    shape = (trace.n_layers, trace.n_heads)
    lost = np.array([-float(effect.answer_change[0]) for effect in found]).reshape(shape)
    added = attribution(model, vocabulary, trace.question, relative=True).heads.astype(np.float64)
    for layer in range(trace.n_layers):
        if not writes_directly(model.config, layer):
            added[layer] = np.nan
    return HeadExample(
        scores=named_scores(read_trace(trace)),
        attribution=added,
        log_probability_lost=lost,
        answers=tuple(effect.answers[0] for effect in found),
        changed=tuple(bool(effect.changed[0]) for effect in found),
    )
