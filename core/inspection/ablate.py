"""Switch heads off, and what they are worth: answers, log-probabilities and accuracy without them.

What a head gives is replaced where it enters the output projection. The projection's bias stays,
and so does every other head's part: the attention block's output is bias + Σ_h W_O[h] · output_h,
and only the terms of the heads that are off change. The model itself is never touched; the
replacement is a function that its forward pass is given.

A whole split under one ablation costs one pass over each question with its answer, which gives the
log-probabilities and says which answers stay; only those that change are written anew.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.generation.greedy import Answer, answer, attending
from core.inspection.answered import (
    Answered,
    ChangeAt,
    count_right,
    in_batches,
    written_again,
)
from core.inspection.heads import Head, HeadMeans, HeadsOff, checked_off
from core.inspection.traced import Array
from core.models.heads import Heads
from core.models.seam import Change, Model


def switched_off(off: HeadsOff) -> ChangeAt:
    """The change for prompts whose last row stands at a position, made for that position.

    That the heads are the model's own is seen to by `checked_off`.
    """
    by_layer: dict[int, list[int]] = {}
    for layer, head in off.heads:
        by_layer.setdefault(layer, []).append(head)

    def at(mark: int) -> Change:
        def change(layer: int, heads: Heads, output: Tensor) -> Tensor:
            if layer not in by_layer:
                return output
            chosen, kept = by_layer[layer], output.clone()
            kept[:, chosen] = _instead(off, layer, chosen, heads.rows >= mark).to(kept.dtype)
            return kept

        return change

    return at


def _instead(off: HeadsOff, layer: int, chosen: list[int], writing: Tensor) -> Tensor:
    """What stands in the place of the chosen heads' output: a zero, or (chosen, rows, d)."""
    if off.means is None or off.mode == "zero":
        return torch.zeros(())
    read, written = (
        torch.from_numpy(values[layer, chosen])[:, None].to(writing.device)
        for values in (off.means.reading, off.means.writing)
    )
    return torch.where(writing[:, None], written, read)


@torch.inference_mode()
def head_means(model: Model, known: Answered) -> HeadMeans:
    """What each head gives on average over all rows of questions and their answers.

    Where no row of a kind stands (a Perceiver's latents may end before ⁇), the mean over the
    other kind stands for it. Cost: one pass over each question.
    """
    shape = model.shape
    sums = np.zeros((2, shape.n_layers, shape.n_heads, shape.head_dim))
    counts = np.zeros((2, shape.n_layers, 1, 1))
    for batch in in_batches(known.readings, known.answers, model.device):

        def add(layer: int, heads: Heads, output: Tensor, mark: int = batch.mark) -> Tensor:
            for kind, rows in enumerate((heads.rows < mark, heads.rows >= mark)):
                sums[kind, layer] += output[:, :, rows].cpu().double().sum((0, 2)).numpy()
                counts[kind, layer] += len(output) * int(rows.sum())
            return output

        model.run(batch.ids, attending(add), source=batch.source)
    none = counts == 0
    means = np.where(none, sums[::-1], sums) / np.maximum(np.where(none, counts[::-1], counts), 1)
    reading, writing = means.astype(np.float32)
    return HeadMeans(reading=reading, writing=writing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The same questions with some heads off.

    log_probabilities (n_questions, longest answer): of the tokens that were written *before*, so
    that the two can be compared one by one; `answers` are those that are written now.
    """

    before: Answered
    heads: tuple[Head, ...]
    answers: tuple[Answer, ...]
    log_probabilities: Array

    @property
    def changed(self) -> NDArray[np.bool_]:
        """(n_questions,): whether another text is written."""
        pairs = zip(self.answers, self.before.answers, strict=True)
        return np.array([now.text != then.text for now, then in pairs], dtype=np.bool_)

    @property
    def token_change(self) -> Array:
        """(n_questions, longest answer): change of the log-probability of each written token."""
        return self.log_probabilities - self.before.log_probabilities

    @property
    def probabilities(self) -> tuple[Array, Array]:
        """(n_questions, longest answer) each: of the tokens written before, then and now."""
        return np.exp(self.before.log_probabilities), np.exp(self.log_probabilities)

    @property
    def former_probability(self) -> Array:
        """(n_questions,): how likely the whole answer given before is now."""
        return np.exp(np.nansum(self.log_probabilities, axis=-1))

    @property
    def answer_change(self) -> Array:
        """(n_questions,): change of the log-probability of the whole answer given before."""
        return np.nansum(self.token_change, axis=-1)

    @property
    def correct(self) -> int:
        return count_right(self.before.questions, self.answers)

    @property
    def accuracy(self) -> float:
        return self.correct / len(self.answers)


@torch.inference_mode()
def effect(checkpoint: Checkpoint, before: Answered, off: HeadsOff) -> Effect:
    """Switch off all the given heads at once.

    Cost: one pass over each question and its answer, and new answers where they change. Raises
    ValueError for what `checked_off` refuses.
    """
    model = checkpoint.model
    off = checked_off(off, model.shape)
    change = switched_off(off)
    logs, same = written_again(model, before.readings, before.answers, change)
    answers = [
        replace(given, probability=float(np.exp(np.nansum(log))))
        for given, log in zip(before.answers, logs, strict=True)
    ]
    others = [index for index, kept in enumerate(same) if not kept]
    texts = [before.questions[index].text for index in others]
    for index, given in zip(others, answer(checkpoint, texts, change=change), strict=True):
        answers[index] = given
    return Effect(before=before, heads=off.heads, answers=tuple(answers), log_probabilities=logs)
