"""One head of two runs on aligned rows: both maps, their signed difference, its largest cell.

Also all heads at once: how much of its weight each puts elsewhere. No torch.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.inspection.align import Alignment, AlignmentError
from core.inspection.fold import fold_visible
from core.inspection.heads import Head, head_name
from core.inspection.sinks import fold_without_first, others_visible
from core.inspection.traced import Array, AttentionTrace, contribution

QUANTITIES = ("weight", "contribution")
Visible = NDArray[np.bool_]
Traces = tuple[AttentionTrace, AttentionTrace]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Maps (groups, groups) of one head each; `visible` says where both may look.

    `no_first`: the first token is none of the keys, and weights are renormalised over the others.
    """

    labels: tuple[str, ...]
    quantity: str
    first: Array
    second: Array
    visible: Visible
    no_first: bool = False

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
    traces: Traces,
    alignment: Alignment,
    heads: tuple[Head, Head],
    quantity: str = "weight",
    *,
    no_first: bool = False,
) -> Comparison:
    """One head of each of two traces, folded to the groups of an alignment.

    With `no_first` weights are those without the first token; contributions stay what they are, at
    the other keys. Raises ValueError for a quantity that is not known, AlignmentError (one, too)
    for heads of layers of two kinds.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity {quantity!r}; allowed: {', '.join(QUANTITIES)}")
    kinds = [trace.kind(layer) for trace, (layer, _) in zip(traces, heads, strict=True)]
    if kinds[0] != kinds[1]:
        names = [head_name(*head) for head in heads]
        raise AlignmentError(
            f"{names[0]} is a head of kind {kinds[0]!r} and {names[1]} of kind {kinds[1]!r}: they "
            "look from and at other tokens"
        )
    maps = [
        _head_map(trace, alignment, side, head, quantity, no_first=no_first)
        for side, (trace, head) in enumerate(zip(traces, heads, strict=True))
    ]
    visible = [
        _visible(trace, alignment, side, layer, no_first=no_first)
        for side, (trace, (layer, _)) in enumerate(zip(traces, heads, strict=True))
    ]
    return Comparison(
        labels=alignment.labels,
        quantity=quantity,
        first=maps[0],
        second=maps[1],
        visible=visible[0] & visible[1],
        no_first=no_first,
    )


def distances(
    traces: Traces, alignment: Alignment, *, no_first: bool = False
) -> NDArray[np.float64]:
    """(n_layers, n_heads): how much of its weight each head puts elsewhere, the mean over rows.

    0 for the same rows, 1 for rows that look at none of the same keys; with `no_first` of the
    weights without the first token, over the rows that are left in both, 0 if none is; nan for a
    head that is not recorded on both sides. Raises ValueError where the two models have other
    numbers of heads. Cost: passes over all weights.
    """
    shapes = [trace.weights.shape[:2] for trace in traces]
    if shapes[0] != shapes[1]:
        (layers, heads), (other_layers, other_heads) = shapes
        raise ValueError(
            f"{layers} layers of {heads} heads here, {other_layers} of {other_heads} there: head "
            "by head there is nothing to compare"
        )
    found = np.empty(shapes[0])
    for layer in range(len(found)):
        first, second = (
            _weights(trace, alignment, side, layer, no_first=no_first)
            for side, trace in enumerate(traces)
        )
        found[layer] = _distance(first, second)
    found[traces[0].not_recorded | traces[1].not_recorded] = np.nan
    return found


def _head_map(
    trace: AttentionTrace,
    alignment: Alignment,
    side: int,
    head: Head,
    quantity: str,
    *,
    no_first: bool,
) -> Array:
    layer, number = head
    if quantity == "weight":
        return _weights(trace, alignment, side, layer, number, no_first=no_first)
    brought = contribution(trace.weights[head], trace.value_norm[head])
    if no_first:
        brought[:, trace.columns(layer)[0]] = 0
    return alignment.fold(brought, side)


def _weights(
    trace: AttentionTrace,
    alignment: Alignment,
    side: int,
    layer: int,
    head: int | None = None,
    *,
    no_first: bool,
) -> Array:
    """Folded weights of one head (groups, groups), or of all of a layer (n_heads, …)."""
    weights = trace.weights[layer] if head is None else trace.weights[layer, head]
    if not no_first:
        return alignment.fold(weights, side)
    starts = alignment.starts[side]
    n = len(starts)
    return fold_without_first(weights[..., :n, :n], starts, trace.columns(layer)[0])


def _distance(first: Array, second: Array) -> NDArray[np.float64]:
    apart = np.abs(second.astype(np.float64) - first.astype(np.float64)).sum(-1)
    rows = (np.abs(first).sum(-1) > 0) & (np.abs(second).sum(-1) > 0)  # where something stands
    return (apart * rows).sum(-1) / np.maximum(rows.sum(-1), 1) / 2


def _visible(
    trace: AttentionTrace, alignment: Alignment, side: int, layer: int, *, no_first: bool
) -> Visible:
    starts, visible = alignment.starts[side], trace.visible[layer]
    if no_first:
        visible = others_visible(visible, trace.columns(layer)[0])
    return fold_visible(visible[: len(starts), : len(starts)], starts)
