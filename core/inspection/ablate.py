"""Switch heads off: what a head gives is replaced where it enters the output projection.

The projection's bias stays, and so does every other head's part: the attention block's output is
bias + Σ_h W_O[h] · output_h, and only the terms of the heads that are off change. The model itself
is never touched; the replacement is a function that its forward pass is given.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import get_args

import numpy as np
import torch
from torch import Tensor

from core.inspection.answered import Answered, attending, in_batches
from core.inspection.captions import head_name
from core.inspection.off import Head, HeadMeans, Mode
from core.models.config import GPTConfig
from core.models.gpt import GPT, Change
from core.models.heads import Heads


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """Heads to switch off and what takes their place. Made by `ablation`, which checks it."""

    heads: tuple[Head, ...]
    mode: Mode
    means: HeadMeans | None

    def at(self, mark: int) -> Change:
        """The change for prompts whose ⁇ stands at position `mark`."""
        off: dict[int, list[int]] = {}
        for layer, head in self.heads:
            off.setdefault(layer, []).append(head)

        def change(layer: int, heads: Heads, output: Tensor) -> Tensor:
            if layer not in off:
                return output
            chosen, kept = off[layer], output.clone()
            kept[:, chosen] = self._instead(layer, chosen, heads.rows >= mark).to(kept.dtype)
            return kept

        return change

    def _instead(self, layer: int, chosen: list[int], writing: Tensor) -> Tensor:
        """What stands in the place of the chosen heads' output: a zero, or (chosen, rows, d)."""
        if self.means is None or self.mode == "zero":
            return torch.zeros(())
        read, written = (
            torch.from_numpy(values[layer, chosen])[:, None]
            for values in (self.means.reading, self.means.writing)
        )
        return torch.where(writing[:, None], written, read)


def ablation(
    config: GPTConfig,
    heads: Collection[Head],
    mode: Mode = "zero",
    means: HeadMeans | None = None,
) -> Ablation:
    """Raises ValueError for a head that is not there, a mode that is not known, and for the mode
    `mean` without means of this model's shape.
    """
    n_layers, n_heads = config.n_layers, config.n_heads
    for layer, head in heads:
        if not (0 <= layer < n_layers and 0 <= head < n_heads):
            raise ValueError(
                f"{head_name(layer, head)} is not a head of this model: layers are 0 to "
                f"{n_layers - 1}, heads 0 to {n_heads - 1}"
            )
    if mode not in get_args(Mode):
        raise ValueError(f"mode {mode!r}; allowed: {', '.join(get_args(Mode))}")
    if mode == "mean":
        _check_means(config, means)
    return Ablation(heads=tuple(sorted(set(heads))), mode=mode, means=means)


@torch.inference_mode()
def head_means(model: GPT, known: Answered) -> HeadMeans:
    """What each head gives on average over all rows of questions and their answers.

    Where no row of a kind stands (a Perceiver's latents may end before ⁇), the mean over the
    other kind stands for it. Cost: one pass over each question.
    """
    shape = (2, model.config.n_layers, model.config.n_heads, model.config.head_dim)
    sums, counts = np.zeros(shape), np.zeros((2, model.config.n_layers, 1, 1))
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


def _check_means(config: GPTConfig, means: HeadMeans | None) -> None:
    if means is None:
        raise ValueError("mode 'mean' needs the heads' means over the dev questions (head_means)")
    shape = (config.n_layers, config.n_heads, config.head_dim)
    for values in (means.reading, means.writing):
        if values.shape != shape:
            raise ValueError(f"means of shape {values.shape}; this model's heads need {shape}")
