"""Head scores, read against what a head would score that attends uniformly to its past.

All scores average over the query rows from 2 on: rows 0 and 1 have nearly no choice. Rows without
any weight are left out: no latent of a Perceiver stands there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.inspection.traced import AttentionTrace, contribution

FIRST_ROW = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadScores:
    """One number a head: each array has the leading shape of the weights, e.g. (layers, heads).

    previous_token, first_token, name: mean weight there; entropy in nats; normalised_entropy is
    the mean of entropy / log(keys to choose from), 1 for uniform; distance in tokens back.
    """

    previous_token: NDArray[np.float64]
    first_token: NDArray[np.float64]
    name: NDArray[np.float64]
    entropy: NDArray[np.float64]
    normalised_entropy: NDArray[np.float64]
    distance: NDArray[np.float64]


def head_scores(
    weights: NDArray[np.floating],
    name_positions: Sequence[int] = (),
    visible: NDArray[np.bool_] | None = None,
) -> HeadScores:
    """Scores of causal weights (..., L, L). Raises ValueError for fewer than 3 tokens.

    `visible` (..., L, L) says what a row may look at: all of its past unless told.
    """
    n_tokens = weights.shape[-1]
    if n_tokens <= FIRST_ROW:
        raise ValueError(f"{n_tokens} tokens: head scores need at least {FIRST_ROW + 1}")
    rows = np.arange(FIRST_ROW, n_tokens, dtype=np.int64)
    used = weights[..., FIRST_ROW:, :].astype(np.float64)
    n_rows = np.maximum((used.sum(-1) > 0).sum(-1), 1)
    entropy = row_entropy(used)
    n_seen = rows + 1 if visible is None else visible[..., FIRST_ROW:, :].sum(-1)
    most = np.log(np.maximum(n_seen, 2))  # a row without a choice has no entropy to divide
    back = np.maximum(rows[:, None] - np.arange(n_tokens, dtype=np.int64), 0)
    return HeadScores(
        previous_token=used[..., rows - FIRST_ROW, rows - 1].sum(-1) / n_rows,
        first_token=used[..., 0].sum(-1) / n_rows,
        name=used[..., list(name_positions)].sum(-1).sum(-1) / n_rows,
        entropy=entropy.sum(-1) / n_rows,
        normalised_entropy=(entropy / most).sum(-1) / n_rows,
        distance=(used * back).sum(-1).sum(-1) / n_rows,
    )


def uniform_over(visible: NDArray[np.bool_], name_positions: Sequence[int] = ()) -> HeadScores:
    """The same scores of a head that attends uniformly to what each row may look at (..., L, L)."""
    weights = visible / np.maximum(visible.sum(-1, keepdims=True), 1)
    return head_scores(weights, name_positions, visible)


def name_to_answer(trace: AttentionTrace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n_layers, n_heads) each: what a head brings of the name to the first written token, as a
    sum of contributions, and what it would bring with uniform weights.
    """
    row, name = trace.steps[0].row, list(trace.name_positions)
    brought = contribution(trace.weights[:, :, row, name], trace.value_norm[:, :, name]).sum(-1)
    uniform = trace.value_norm[:, :, name].sum(-1) / (row + 1)
    return brought.astype(np.float64), uniform.astype(np.float64)


def row_entropy(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Entropy in nats of each row (the last axis); 0·log 0 is 0.

    Effective weights that are negative count by their size, as a share of all sizes of their row.
    """
    if (weights < 0).any():
        sizes = np.abs(weights)
        weights = sizes / np.maximum(sizes.sum(-1, keepdims=True), np.finfo(sizes.dtype).tiny)
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log(safe)).sum(-1)
