"""Which share of asked keys a model answers with their own values, by the number of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from core.checkpoints.store import Checkpoint
from core.data.pairs import UNASKED, Asked, held_back

N_ASKED = 2048  # of each number of pairs
ROWS = 64  # texts in one pass


@dataclass(frozen=True, slots=True)
class Recalled:
    """Right answers, and how many keys were asked."""

    correct: int
    total: int


@torch.inference_mode()
def recalled(
    stored: Checkpoint, split: str, pairs: Sequence[int], *, n_asked: int = N_ASKED
) -> dict[int, Recalled]:
    """By the number of pairs, greedily. One pass gives all answers of a text, for no answer is
    written into it.
    """
    return {n: _recalled(stored, held_back(split, n, n_asked)) for n in pairs}


def _recalled(stored: Checkpoint, asked: Asked) -> Recalled:
    model, n_right = stored.model, 0
    inputs, targets = torch.from_numpy(asked.inputs), torch.from_numpy(asked.targets)
    for start in range(0, len(inputs), ROWS):
        ids, right = inputs[start : start + ROWS], targets[start : start + ROWS]
        x = model.run(ids.to(model.device), lambda _, heads: heads.output())
        best = model.logits(x).argmax(-1).cpu()
        n_right += int(((best == right) & (right != UNASKED)).sum())
    return Recalled(n_right, int((targets != UNASKED).sum()))
