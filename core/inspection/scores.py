"""Head scores, read against what a head would score that attends uniformly to all it may see.

Of a decoder scores average over the query rows from its third on: the first two have nearly no
choice. Rows of an encoder and of cross-attention all have one. Rows without any weight are left
out: no latent of a Perceiver stands there, or nothing is left without the first token.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.inspection.sinks import take_first_away
from core.inspection.traced import AttentionTrace, contribution

FIRST_ROW = 2
CELLS_AT_ONCE = 1 << 18  # of maps in float64
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the maps of a layer are read: `kind` as in a trace, `first` the position of the first
    key. With `no_first` its rows are renormalised over the other keys.
    """

    kind: str = "decoder"
    first: int = 0
    no_first: bool = False

    @property
    def first_row(self) -> int:
        """The first row that counts."""
        return self.first + FIRST_ROW if self.kind == "decoder" else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadScores:
    """One number a head: each array has the leading shape of the weights, e.g. (layers, heads).

    previous_token, next_token, first_token, name: mean weight there; entropy in nats;
    normalised_entropy is the mean of entropy / log(keys to choose from), 1 for uniform; distance in
    tokens, |i − j|. sink_share: mean of what the first token and a learned sink get, of the rows as
    they are. nan is what cannot be: a next token of a decoder, neighbours and distances in
    cross-attention, the first token and rows where nothing is left without it.
    """

    previous_token: Numbers
    next_token: Numbers
    first_token: Numbers
    name: Numbers
    entropy: Numbers
    normalised_entropy: Numbers
    distance: Numbers
    sink_share: Numbers


SCORES = tuple(field.name for field in fields(HeadScores))


class _Seen(NamedTuple):
    """What rows may look at, (maps, L) each: how many keys, the token before, the next."""

    n_keys: NDArray[np.int64]
    previous: NDArray[np.bool_]
    following: NDArray[np.bool_]

    def cut(self, maps: slice) -> "_Seen":
        """Those of some maps."""
        return _Seen(self.n_keys[maps], self.previous[maps], self.following[maps])


def head_scores(
    weights: NDArray[np.floating[Any]],
    name_positions: Sequence[int] = (),
    visible: NDArray[np.bool_] | None = None,
    look: Look | None = None,
    sink: NDArray[np.floating[Any]] | None = None,
) -> HeadScores:
    """Scores of weights (..., L, L). Raises ValueError for fewer than 3 tokens of a decoder.

    `visible` (..., L, L) says what a row may look at: unless told all of its past, or all of an
    encoder's text. `sink` (..., L) is the share that a learned sink takes of each row; entropy is
    then that of the rest. Cost: a few passes in float64 over some maps at a time.
    """
    look, n_tokens = look or Look(), weights.shape[-1]
    if n_tokens <= look.first_row:
        n = n_tokens - look.first_row + FIRST_ROW
        raise ValueError(f"{n} tokens: head scores need at least {FIRST_ROW + 1}")
    shape, maps = weights.shape[:-2], weights.reshape(-1, n_tokens, n_tokens)
    seen = _seen(visible, shape, n_tokens, look)
    learned = None if sink is None else sink.reshape(-1, n_tokens)
    step = max(1, CELLS_AT_ONCE // n_tokens**2)
    parts = [
        _scores(
            maps[start : start + step],
            list(name_positions),
            seen.cut(slice(start, start + step)),
            None if learned is None else learned[start : start + step],
            look,
        )
        for start in range(0, len(maps), step)
    ]
    return HeadScores(
        **{name: np.concatenate([part[name] for part in parts]).reshape(shape) for name in SCORES}
    )


def uniform_over(
    visible: NDArray[np.bool_], name_positions: Sequence[int] = (), look: Look | None = None
) -> HeadScores:
    """The same scores of a head that attends uniformly to what each row may look at (..., L, L)."""
    weights = visible / np.maximum(visible.sum(-1, keepdims=True), 1)
    return head_scores(weights, name_positions, visible, look)


def name_to_answer(trace: AttentionTrace) -> tuple[Numbers, Numbers]:
    """(n_layers, n_heads) each: what a head brings of the name to the first written token, as a
    sum of contributions, and what it would bring with uniform weights.

    nan where nothing is written, no name is known, or a layer does not look from the one at the
    other.
    """
    brought = np.full(trace.weights.shape[:2], np.nan)
    uniform, visible = brought.copy(), trace.visible
    for layer in range(trace.n_layers if trace.steps else 0):
        row, name = trace.steps[0].row, named_columns(trace, layer)
        if name and row in trace.rows(layer):
            norms = trace.value_norm[layer][:, name]
            brought[layer] = contribution(trace.weights[layer][:, row, name], norms).sum(-1)
            uniform[layer] = norms.sum(-1) / max(int(visible[layer, row].sum()), 1)
    return brought, uniform


def named_columns(trace: AttentionTrace, layer: int) -> list[int]:
    """Positions of the name among the keys of a layer."""
    columns = {*trace.columns(layer)}
    return [position for position in trace.name_positions if position in columns]


def row_entropy(weights: NDArray[np.floating[Any]]) -> Numbers:
    """Entropy in nats of each row (the last axis); 0·log 0 is 0.

    Effective weights that are negative count by their size, as a share of all sizes of their row.
    """
    tiny = np.finfo(weights.dtype).tiny
    if weights.min(initial=0) < 0:
        sizes = np.abs(weights)
        weights = sizes / np.maximum(sizes.sum(-1, keepdims=True), tiny)
    logs = np.maximum(weights, tiny)
    np.log(logs, out=logs)
    return -np.einsum("...j,...j->...", weights, logs)


def _scores(
    maps: NDArray[np.floating[Any]],
    name: list[int],
    seen: _Seen,
    sink: NDArray[np.floating[Any]] | None,
    look: Look,
) -> dict[str, Numbers]:
    """The scores of a few maps (n, L, L), (n,) each."""
    start, first, n_tokens = look.first_row, look.first, maps.shape[-1]
    used = maps[:, start:].astype(np.float64)
    sums = used.sum(-1)
    share = used[..., first] if sink is None else used[..., first] + sink[:, start:] * (sums > 0)
    sink_share = share.sum(-1) / np.maximum((sums > 0).sum(-1), 1)
    if look.no_first:
        take_first_away(used, first)
        sums = used.sum(-1)
    rows = np.arange(start, n_tokens, dtype=np.int64)
    there = sums > 0
    n_rows = np.maximum(there.sum(-1), 1).astype(np.float64)
    if look.no_first:
        n_rows[~there.any(-1)] = np.nan
    keys = used if sink is None else _divided(used, sums[..., None])
    entropy = row_entropy(keys)
    # A row without a choice has no entropy to divide.
    most = np.log(np.maximum(seen.n_keys[:, start:], 2))
    back = np.abs(rows[:, None] - np.arange(n_tokens, dtype=np.int64)).astype(np.float64)
    distance = used.reshape(len(used), -1) @ back.ravel() / n_rows
    previous, following = _neighbours(used, there, seen, look)
    none = np.full_like(n_rows, np.nan)
    return {
        "previous_token": previous,
        "next_token": following,
        "first_token": none if look.no_first else used[..., first].sum(-1) / n_rows,
        "name": used[..., name].sum(-1).sum(-1) / n_rows,
        "entropy": entropy.sum(-1) / n_rows,
        "normalised_entropy": (entropy / most).sum(-1) / n_rows,
        "distance": none if look.kind == "cross" else distance,
        "sink_share": sink_share,
    }


def _neighbours(
    used: Numbers, there: NDArray[np.bool_], seen: _Seen, look: Look
) -> tuple[Numbers, Numbers]:
    """Mean weight on the token before and on the next, of rows that may look there; a decoder's
    rows all count.
    """
    start, n_tokens = look.first_row, used.shape[-1]
    nan = np.full(len(used), np.nan)
    if look.kind == "cross":
        return nan, nan
    later = np.arange(max(start, 1), n_tokens, dtype=np.int64)
    before = used[:, later - start, later - 1].sum(-1)
    if look.kind == "decoder":
        n_rows = np.maximum(there.sum(-1), 1).astype(np.float64)
        n_rows[~there.any(-1) & look.no_first] = np.nan
        return before / n_rows, nan
    earlier = later - 1
    after = used[:, earlier, later].sum(-1)
    n_before = (there[:, later] & seen.previous[:, later]).sum(-1)
    n_after = (there[:, earlier] & seen.following[:, earlier]).sum(-1)
    return _divided(before, n_before, np.nan), _divided(after, n_after, np.nan)


def _seen(
    visible: NDArray[np.bool_] | None, shape: tuple[int, ...], n_tokens: int, look: Look
) -> _Seen:
    """Counted once for all maps, whose masks may differ from layer to layer."""
    if visible is None:
        full = look.kind != "decoder"
        visible = np.ones((n_tokens, n_tokens), np.bool_) if full else np.tri(n_tokens, dtype=bool)
    n_keys = visible.sum(-1, dtype=np.int64)
    if look.no_first:
        n_keys -= visible[..., look.first]
    previous = np.zeros(n_keys.shape, dtype=np.bool_)
    following = previous.copy()
    previous[..., 1:] = np.diagonal(visible, -1, -2, -1)
    following[..., :-1] = np.diagonal(visible, 1, -2, -1)
    if look.no_first and look.first + 1 < n_tokens:
        previous[..., look.first + 1] = False
    return _Seen(_for_each(n_keys, shape), _for_each(previous, shape), _for_each(following, shape))


def _for_each(rows: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Numbers of rows (…, L), broadcast to all maps of a shape: (maps, L)."""
    n_tokens = rows.shape[-1]
    return np.broadcast_to(rows, (*shape, n_tokens)).reshape(-1, n_tokens)


def _divided(values: Numbers, by: NDArray[Any], else_: float = 0.0) -> Numbers:
    """Of values and divisors the quotient, and `else_` where there is nothing to divide by."""
    fill = np.full(np.broadcast_shapes(values.shape, by.shape), else_)
    return np.divide(values, by, out=fill, where=by > 0)
