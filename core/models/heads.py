"""What the heads of one layer work on, and how it becomes weights and output.

Axes as everywhere: (batch, head, position, head_dim). `rows` and `columns` are the positions of
what looks and of what is looked at; in self-attention without a past they are the same tensor.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from core.attention import linear, sdpa, softmax, synthesizer
from core.attention.feature_maps import FeatureMap


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads(ABC):
    """One layer's heads, positions already in them.

    Of a past, later rows get what is `kept` in front of their own, and what is `carried` as it is.
    """

    value: Tensor
    rows: Tensor
    columns: Tensor
    kept: ClassVar[tuple[str, ...]] = ("value",)
    carried: ClassVar[tuple[str, ...]] = ()

    @property
    def masked(self) -> Tensor:
        """(rows, columns): what a row may not look at; here what stands behind it."""
        return softmax.future(self.rows, self.columns)

    def sink_share(self) -> Tensor | None:
        """(B, H, rows): what a learned sink takes of each row; None where there is none."""
        return None

    @abstractmethod
    def scores(self) -> Tensor:
        """What the weights are made of: (B, H, rows, columns), at least float32, masked ones −∞."""

    def weights(self, scores: Tensor) -> Tensor:
        """The weights (B, H, rows, columns) that belong to these scores; rows sum to 1."""
        return softmax.weights(scores)

    def output(self) -> Tensor:
        """Weights times value (B, H, rows, d)."""
        return self.weights(self.scores()).to(self.value.dtype) @ self.value

    def step(self) -> tuple[Tensor, Self]:
        """The output, and the heads that later rows come `after`."""
        return self.output(), self

    def after(self, past: Self) -> Self:
        """The same rows looking at the columns of the past too: a step with a key-value cache."""
        grown = {
            name: torch.cat([getattr(past, name), getattr(self, name)], dim=2) for name in self.kept
        }
        carried = {name: getattr(past, name) for name in self.carried}
        columns = torch.cat([past.columns, self.columns])
        return replace(self, columns=columns, **grown, **carried)


@dataclass(frozen=True, slots=True, kw_only=True)
class DotHeads(Heads):
    """Softmax over query · key; the output is fused."""

    query: Tensor
    key: Tensor
    kept: ClassVar[tuple[str, ...]] = ("key", "value")

    def scores(self) -> Tensor:
        return softmax.scores(self.query, self.key, hidden=self.masked)

    def output(self) -> Tensor:
        return sdpa.attend(self.query, self.key, self.value, self.rows, self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenHeads(DotHeads):
    """Every row sees every column, but those of padding: hidden (B, 1, 1, columns)."""

    hidden: Tensor | None = None

    @property
    def masked(self) -> Tensor:
        """(rows, columns): nothing, as long as the batch has no padding."""
        return torch.zeros(
            len(self.rows), len(self.columns), dtype=torch.bool, device=self.value.device
        )

    def scores(self) -> Tensor:
        return softmax.scores(self.query, self.key, hidden=self.hidden)

    def output(self) -> Tensor:
        visible = None if self.hidden is None else ~self.hidden
        return F.scaled_dot_product_attention(self.query, self.key, self.value, attn_mask=visible)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearHeads(DotHeads):
    """Linear attention: a feature map in the place of the exponential, and no softmax.

    `state` is all that is left of the tokens before these rows, in generation: keys and values of
    the past are gone, and with them scores and weights.
    """

    feature_map: FeatureMap
    state: linear.State | None = None
    kept: ClassVar[tuple[str, ...]] = ()
    carried: ClassVar[tuple[str, ...]] = ("state",)

    def scores(self) -> Tensor:
        """There are no logits: φ(q)·φ(k), what exp(q·k / √d) would be."""
        return linear.scores(self.query, self.key, self.feature_map, hidden=self.masked)

    def weights(self, scores: Tensor) -> Tensor:
        """Effective weights, which a map with negative features can make negative; formed anew,
        for the scores have lost what their row's own scale would keep.
        """
        hidden = torch.isneginf(scores)
        return linear.weights(self.query, self.key, self.feature_map, hidden=hidden)

    def output(self) -> Tensor:
        return self.step()[0]

    def step(self) -> tuple[Tensor, Self]:
        """By the state, at a cost that does not grow with what came before."""
        rows, past = (self.query, self.key, self.value, self.feature_map), self.state
        past = linear.start(*rows[1:]) if past is None else past
        one = self.query.shape[2] == 1
        output, state = linear.step(*rows, past) if one else linear.resume(*rows, past)
        return output, replace(self, state=state)


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesizerHeads(Heads):
    """Softmax over scores that each row writes alone; there is no query and no key."""

    hidden: Tensor
    second: Tensor
    offset: Tensor

    def scores(self) -> Tensor:
        return synthesizer.scores(self.hidden, self.second, self.offset, self.rows, self.columns)
