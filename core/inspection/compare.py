"""One head of two runs on aligned rows: both maps, their signed difference, its largest cell.

Also all heads at once: how much of its weight each puts elsewhere. No torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.inspection.align import Alignment
from core.inspection.heads import Head
from core.inspection.traced import Array, AttentionTrace, contribution

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
        alignment.fold(_values(trace, head, quantity), i)
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

    0 for the same rows, 1 for rows that look at none of the same keys. Raises ValueError where the
    two models have other numbers of heads.
    """
    first, second = traces
    if (first.n_layers, first.n_heads) != (second.n_layers, second.n_heads):
        raise ValueError(
            f"{first.n_layers} layers of {first.n_heads} heads here, {second.n_layers} of "
            f"{second.n_heads} there: head by head there is nothing to compare"
        )
    # Layer by layer: all heads of two long texts at once would be gigabytes.
    layers = [
        _distance(*(alignment.fold(trace.weights[layer], i) for i, trace in enumerate(traces)))
        for layer in range(first.n_layers)
    ]
    return np.array(layers, dtype=np.float64)


def _values(trace: AttentionTrace, head: Head, quantity: str) -> Array:
    """(L, L) of one head."""
    weights = trace.weights[head]
    return weights if quantity == "weight" else contribution(weights, trace.value_norm[head])


def _distance(first: Array, second: Array) -> NDArray[np.float64]:
    apart = np.abs(second.astype(np.float64) - first.astype(np.float64)).sum(-1)
    rows = (np.abs(first).sum(-1) > 0) | (np.abs(second).sum(-1) > 0)  # where something stands
    return apart.sum(-1) / np.maximum(rows.sum(-1), 1) / 2


def _visible(
    traces: tuple[AttentionTrace, AttentionTrace], alignment: Alignment, layers: Sequence[int]
) -> Visible:
    first, second = (
        _seen_by(trace.visible[layer], alignment, side)
        for side, (trace, layer) in enumerate(zip(traces, layers, strict=True))
    )
    return first & second


def _seen_by(visible: Visible, alignment: Alignment, side: int) -> Visible:
    """(groups, groups): a group sees what any of its tokens sees."""
    starts = alignment.starts[side]
    first = np.flatnonzero(starts)
    inside = visible[: len(starts), : len(starts)]
    return np.logical_or.reduceat(np.logical_or.reduceat(inside, first, axis=0), first, axis=1)
