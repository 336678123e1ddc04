"""What a model of our own is to whoever trains, stores and loads it."""

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from core.models.seam import Readout


class Config(Protocol):
    """The frozen description that shapes its parameters."""

    def to_dict(self) -> dict[str, Any]:
        """For config.json."""
        ...


C = TypeVar("C", bound=Config)


class Trained(nn.Module, ABC, Generic[C]):
    """A model with its description; everything that is stored of it is in its state dict."""

    config: C

    @property
    @abstractmethod
    def matrices(self) -> list[nn.Parameter]:
        """The matrices inside its blocks, in the model's order: what Muon can update."""

    @property
    @abstractmethod
    def head_matrix(self) -> Tensor:
        """(vocabulary, width): what reads logits from the stream under the last norm."""

    @property
    def n_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def device(self) -> torch.device:
        return self.head_matrix.device


def readout(
    norm: nn.LayerNorm, head: Tensor, final: Tensor, tokens: Tensor, *, relative: bool
) -> Readout:
    """LN(x) · w_t = Σ_parts (part − mean part) · (γ ∘ w_t) / σ + β · w_t, σ = √(var x + ε).

    head: (vocabulary, width), without a bias.
    """
    rows = head[tokens]
    direction = rows - head.mean(0) if relative else rows
    scale = (final.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    scaled = norm.weight * direction / scale
    vector = scaled - scaled.mean(-1, keepdim=True)
    return Readout(vector, (direction * norm.bias).sum(-1))
