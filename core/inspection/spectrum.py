"""Is attention low-rank? Singular values of the heads' maps over one long text.

Linformer mixes the keys of all positions into k rows, so its map has rank k at most; it can be near
softmax only where a map's singular values fall quickly (Wang et al. 2020, figure 1: their
normalised cumulative sums). A causal map is a triangle with a positive diagonal and has full rank:
how quickly its values fall is the question, never whether they end.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from core.checkpoints.store import Checkpoint
from core.inspection.trace import record_layers

FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectra:
    """Singular values (n_layers, n_heads, n), descending, of maps over n_tokens tokens.

    A layer of a Perceiver has fewer rows or columns; its missing values are 0.
    """

    n_tokens: int
    values: NDArray[np.float64]

    @property
    def cumulative(self) -> NDArray[np.float64]:
        """(n_layers, n_heads, n): the share of the first 1, 2, … values in their sum."""
        sums = np.cumsum(self.values, axis=-1)
        return sums / sums[..., -1:]

    def rank_for(self, share: float) -> NDArray[np.int64]:
        """(n_layers, n_heads): how many values make up a share of the sum."""
        return (self.cumulative < share).sum(-1) + 1


@torch.inference_mode()
def spectra(checkpoint: Checkpoint, text: str) -> Spectra:
    """Of a text's first tokens, as many as the model reads. Cost: one pass and L³ a head.

    Raises ValueError for fewer than two tokens and for a character that the vocabulary lacks.
    """
    model = checkpoint.model
    ids = checkpoint.vocabulary.encode(text)[: model.shape.longest_input]
    if len(ids) < FEWEST:
        raise ValueError(f"{len(ids)} tokens: a map needs at least {FEWEST}")
    layers = record_layers(model, torch.tensor([ids], device=model.device))
    values = np.zeros((len(layers), model.shape.n_heads, len(ids)))
    for index, layer in enumerate(layers):
        found = np.linalg.svd(layer.weights[0].cpu().double().numpy(), compute_uv=False)
        values[index, :, : found.shape[-1]] = found
    return Spectra(n_tokens=len(ids), values=values)
