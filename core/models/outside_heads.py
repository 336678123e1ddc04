"""The heads of a model that transformers runs, as its attention function is called with them.

Query and key come after their rotation, keys and values once for all the query heads that share
them. Beside the scaled product, families know a soft cap of the scores, biases by position and
learned sinks; each is an argument of the call, so nothing here knows a family.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from core.attention.softmax import widened
from core.models.heads import DotHeads

# Query, key, value and mask to the output (B, rows, H, d) by the family's own function.
Own = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideHeads(DotHeads):
    """scores = softcap(q · k · scaling) + bias, of which a mask takes some away; then softmax, in
    which each head's `sink` (H,) is one key more, whose value is zero.

    few_keys, few_values (B, H_kv, columns, d): what query heads share. mask (B or 1, 1 or H, rows,
    all columns): added to the scores; of a run that goes on from an earlier one it reaches over the
    columns of both. `bias` likewise.
    """

    few_keys: Tensor
    few_values: Tensor
    mask: Tensor | None
    bias: Tensor | None
    scaling: float
    softcap: float | None
    sink: Tensor | None
    own: Own

    @property
    def masked(self) -> Tensor:
        """(rows, columns): what a row may not look at, in whatever batch and head."""
        if self.mask is None:
            sizes = len(self.rows), len(self.columns)
            return torch.zeros(sizes, dtype=torch.bool, device=self.value.device)
        return _hidden(self._of_columns(self.mask)).all(0).all(0)

    def scores(self) -> Tensor:
        scores = widened(self.query) @ widened(self.key).transpose(-2, -1) * self.scaling
        if self.softcap is not None:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        if self.bias is not None:
            scores = scores + self._of_columns(self.bias)
        if self.mask is None:
            return scores
        mask = self._of_columns(self.mask)
        return (scores + mask).masked_fill(_hidden(mask), -torch.inf)

    def weights(self, scores: Tensor) -> Tensor:
        """Softmax over the keys; with a sink their sum is 1 less the sink's share."""
        if self.sink is None:
            return torch.softmax(scores, -1)
        sink = self.sink.to(scores.dtype).reshape(1, -1, 1, 1).expand(*scores.shape[:-1], 1)
        return torch.softmax(torch.cat([scores, sink], -1), -1)[..., :-1]

    def sink_share(self) -> Tensor | None:
        """exp(sink) / (exp(sink) + Σ exp(scores))."""
        if self.sink is None:
            return None
        scores = self.scores()
        keys, sink = torch.logsumexp(scores, -1), self.sink.to(scores.dtype)[:, None]
        return torch.sigmoid(sink - keys)

    def output(self) -> Tensor:
        """By the function that the family itself would have called."""
        mask = None if self.mask is None else self._of_columns(self.mask)
        return self.own(self.query, self.few_keys, self.few_values, mask).transpose(1, 2)

    def after(self, past: Self) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        few_keys = torch.cat([past.few_keys, self.few_keys], 2)
        few_values = torch.cat([past.few_values, self.few_values], 2)
        n_heads = self.query.shape[1]
        return replace(
            self,
            few_keys=few_keys,
            few_values=few_values,
            key=for_each_head(few_keys, n_heads),
            value=for_each_head(few_values, n_heads),
            columns=torch.cat([past.columns, self.columns]),
        )

    def _of_columns(self, pairs: Tensor) -> Tensor:
        """The last columns, which are those at hand."""
        return pairs[..., -len(self.columns) :]


def for_each_head(few: Tensor, n_heads: int) -> Tensor:
    """(B, H_kv, L, d) to (B, H, L, d): runs of query heads share one of keys and values."""
    return few.repeat_interleave(n_heads // few.shape[1], 1)


def _hidden(mask: Tensor) -> Tensor:
    """Masked pairs have the least number of their type, or minus infinity."""
    return mask <= torch.finfo(mask.dtype).min / 2
