"""Heads with a state of fixed size in the place of the past, and those that see a window of it.

In generation keys and values of the past are gone, but for a window's: the state is all that is
left of them, and with them go scores and weights.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from core.attention import window as windowed  # a field of the heads is called window
from core.models.heads import DotHeads

# Query, key, value and a state (none at the start of a text) to the output and the next state. The
# state is that of a mechanism in core.attention: whoever carries it looks at nothing in it.
Resume = Callable[[Tensor, Tensor, Tensor, Any], tuple[Tensor, Any]]
Pairs = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateHeads(DotHeads):
    """A mechanism of core.attention with a state, as three functions that know its rates: `resume`
    reads a text or goes on with it; `products` of queries and keys are what pairs are weighed by,
    (B, H, rows, columns); `effective` are the weights.
    """

    resume: Resume
    products: Pairs
    effective: Pairs
    state: Any = None
    kept: ClassVar[tuple[str, ...]] = ()
    carried: ClassVar[tuple[str, ...]] = ("state",)

    def scores(self) -> Tensor:
        """There are no logits: what each pair would be weighed by alone."""
        return self.products(self.query, self.key).masked_fill(self.masked, -torch.inf)

    def weights(self, scores: Tensor) -> Tensor:
        """Effective weights, which can be negative and need not sum to 1: formed anew, for they
        are no function of the scores.
        """
        return self.effective(self.query, self.key).masked_fill(torch.isneginf(scores), 0.0)

    def output(self) -> Tensor:
        return self.step()[0]

    def step(self) -> tuple[Tensor, Self]:
        """By the state, at a cost that does not grow with what came before."""
        output, state = self.resume(self.query, self.key, self.value, self.state)
        return output, replace(self, state=state)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowHeads(DotHeads):
    """Softmax over the last tokens and the first few."""

    window: int
    n_sinks: int
    state: windowed.State | None = None
    kept: ClassVar[tuple[str, ...]] = ()
    carried: ClassVar[tuple[str, ...]] = ("state",)

    @property
    def masked(self) -> Tensor:
        """(rows, columns): the future, and what is neither in the window nor a sink."""
        return windowed.hidden_by(self.rows, self.columns, self.window, self.n_sinks)

    def output(self) -> Tensor:
        return self.step()[0]

    def step(self) -> tuple[Tensor, Self]:
        """By the window's own keys and values, at a cost that does not grow."""
        sizes = {"window": self.window, "n_sinks": self.n_sinks}
        output, state = windowed.resume(self.query, self.key, self.value, self.state, **sizes)
        return output, replace(self, state=state)
