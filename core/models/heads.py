"""What the heads of one layer work on, and how it becomes weights and output.

Axes as everywhere: (batch, head, position, head_dim). `rows` and `columns` are the positions of
what looks and of what is looked at; in self-attention without a past they are the same tensor.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor

from core.attention import sdpa, softmax, synthesizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads(ABC):
    """One layer's heads, positions already in them."""

    value: Tensor
    rows: Tensor
    columns: Tensor
    kept: ClassVar[tuple[str, ...]] = ("value",)

    @abstractmethod
    def scores(self) -> Tensor:
        """What softmax is taken of: (B, H, rows, columns), at least float32, the future hidden."""

    def output(self) -> Tensor:
        """Weights times value (B, H, rows, d)."""
        return softmax.weights(self.scores()).to(self.value.dtype) @ self.value

    def after(self, past: Self) -> Self:
        """The same rows looking at the columns of the past too: a step with a key-value cache."""
        grown = {
            name: torch.cat([getattr(past, name), getattr(self, name)], dim=2) for name in self.kept
        }
        return replace(self, columns=torch.cat([past.columns, self.columns]), **grown)


@dataclass(frozen=True, slots=True, kw_only=True)
class DotHeads(Heads):
    """Softmax over query · key; the output is fused."""

    query: Tensor
    key: Tensor
    kept: ClassVar[tuple[str, ...]] = ("key", "value")

    def scores(self) -> Tensor:
        return softmax.scores(self.query, self.key, hidden=softmax.future(self.rows, self.columns))

    def output(self) -> Tensor:
        return sdpa.attend(self.query, self.key, self.value, self.rows, self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesizerHeads(Heads):
    """Softmax over scores that each row writes alone; there is no query and no key."""

    hidden: Tensor
    second: Tensor
    offset: Tensor

    def scores(self) -> Tensor:
        return synthesizer.scores(self.hidden, self.second, self.offset, self.rows, self.columns)
