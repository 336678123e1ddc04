"""One head of two runs on aligned rows: both maps, their signed difference, its largest cell.

Also all heads at once: how much of its weight each puts elsewhere. No torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.inspection.align import POSITIONS, TOKENS, Alignment
from core.inspection.heads import Head
from core.inspection.traced import Array, AttentionTrace

QUANTITIES = ("weight", "contribution")
Visible = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Maps (groups, groups) of one head each; `visible` says where both may look."""

    labels: tuple[str, ...]
    quantity: str
    first: Array
    second: Array
    visible: Visible

    @property
    def difference(self) -> Array:
        """The second less the first."""
        return self.second - self.first

    @property
    def largest(self) -> tuple[int, int]:
        """Row and column of the largest difference."""
        apart = np.where(self.visible, np.abs(self.difference), -1)
        row, column = np.unravel_index(int(apart.argmax()), apart.shape)
        return int(row), int(column)

    @property
    def distance(self) -> float:
        """½ Σ |difference| of a row, the mean over rows: what share of weight lies elsewhere."""
        return float(_distance(self.first, self.second))

    @property
    def top(self) -> float:
        """The largest value of both maps; 1 where there is none."""
        return float(max(self.first.max(), self.second.max())) or 1.0

    @property
    def reach(self) -> float:
        """The largest difference; 1 where there is none."""
        return float(np.abs(self.difference).max()) or 1.0


def compare_heads(
    traces: tuple[AttentionTrace, AttentionTrace],
    alignment: Alignment,
    heads: tuple[Head, Head],
    quantity: str = "weight",
) -> Comparison:
    """One head of each of two traces, folded to the groups of an alignment.

    Raises ValueError for a quantity that is not known.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity {quantity!r}; allowed: {', '.join(QUANTITIES)}")
    maps = [
        alignment.fold(trace.weights[head] if quantity == "weight" else trace.contribution[head], i)
        for i, (trace, head) in enumerate(zip(traces, heads, strict=True))
    ]
    return Comparison(
        labels=alignment.labels,
        quantity=quantity,
        first=maps[0],
        second=maps[1],
        visible=_visible(traces, alignment, [layer for layer, _ in heads]),
    )


def distances(
    traces: tuple[AttentionTrace, AttentionTrace], alignment: Alignment
) -> NDArray[np.float64]:
    """(n_layers, n_heads): how much of its weight each head puts elsewhere, the mean over rows.

    0 for the same rows, 1 for rows that look at none of the same keys, nan for a head that is not
    recorded on both sides. Raises ValueError where the
    two models have other numbers of heads.
    """
    first, second = (alignment.fold(trace.weights, i) for i, trace in enumerate(traces))
    if first.shape != second.shape:
        raise ValueError(
            f"{first.shape[0]} layers of {first.shape[1]} heads here, {second.shape[0]} of "
            f"{second.shape[1]} there: head by head there is nothing to compare"
        )
    lacking = traces[0].not_recorded | traces[1].not_recorded
    return np.where(lacking, np.nan, _distance(first, second))


def _distance(first: Array, second: Array) -> NDArray[np.float64]:
    apart = np.abs(second.astype(np.float64) - first.astype(np.float64)).sum(-1)
    rows = (np.abs(first).sum(-1) > 0) | (np.abs(second).sum(-1) > 0)  # where something stands
    return apart.sum(-1) / np.maximum(rows.sum(-1), 1) / 2


def _visible(
    traces: tuple[AttentionTrace, AttentionTrace], alignment: Alignment, layers: Sequence[int]
) -> Visible:
    n = len(alignment.labels)
    if alignment.kind not in (TOKENS, POSITIONS):
        return np.tri(n, dtype=np.bool_)
    first, second = (
        trace.visible[layer][:n, :n] for trace, layer in zip(traces, layers, strict=True)
    )
    return first & second
