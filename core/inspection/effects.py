"""What heads are worth: answers, log-probabilities and accuracy when they are switched off.

A whole split under one ablation costs one pass over each question with its answer, which gives the
log-probabilities and says which answers stay; only those that change are written anew.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from core.checkpoints.store import Checkpoint
from core.generation.greedy import Answer, answer
from core.inspection.ablate import switched_off
from core.inspection.answered import Answered, count_right, written_again
from core.inspection.heads import Head, HeadsOff, checked_off
from core.inspection.record import Array


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
    logs, same = written_again(model, before.prompts, before.answers, change)
    answers = [
        replace(given, probability=float(np.exp(np.nansum(log))))
        for given, log in zip(before.answers, logs, strict=True)
    ]
    others = [index for index, kept in enumerate(same) if not kept]
    texts = [before.questions[index].text for index in others]
    for index, given in zip(others, answer(checkpoint, texts, change=change), strict=True):
        answers[index] = given
    return Effect(before=before, heads=off.heads, answers=tuple(answers), log_probabilities=logs)
