"""Switch heads off: what a head gives is replaced where it enters the output projection.

The projection's bias stays, and so does every other head's part: the attention block's output is
bias + Σ_h W_O[h] · output_h, and only the terms of the heads that are off change. The model itself
is never touched; the replacement is a function that its forward pass is given.
"""

import numpy as np
import torch
from torch import Tensor

from core.inspection.answered import Answered, ChangeAt, attending, in_batches
from core.inspection.heads import HeadMeans, HeadsOff
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
        torch.from_numpy(values[layer, chosen])[:, None]
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
    for batch in in_batches(known.prompts, known.answers):

        def add(layer: int, heads: Heads, output: Tensor, mark: int = batch.mark) -> Tensor:
            for kind, rows in enumerate((heads.rows < mark, heads.rows >= mark)):
                sums[kind, layer] += output[:, :, rows].double().sum((0, 2)).numpy()
                counts[kind, layer] += len(output) * int(rows.sum())
            return output

        model.run(batch.ids, attending(add))
    none = counts == 0
    means = np.where(none, sums[::-1], sums) / np.maximum(np.where(none, counts[::-1], counts), 1)
    reading, writing = means.astype(np.float32)
    return HeadMeans(reading=reading, writing=writing)
