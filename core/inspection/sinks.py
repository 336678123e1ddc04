"""Maps without their first token, on which many heads rest when they have nothing to look at.

The first token is the first key of a layer: BOS, [CLS], or whatever a text begins with. What it
gets, together with the share of a learned sink, is the sink share of a row; where a head looks
beside it is told by its rows renormalised over the other keys. No torch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.inspection.fold import fold
from core.inspection.traced import Array, AttentionTrace

LEAST_LEFT = 1e-6  # of a row: float32 knows its share of 1 no better
WITHOUT_FIRST = "without the first token, renormalised"


def without_first(weights: NDArray[np.floating[Any]], first: int = 0) -> NDArray[Any]:
    """(…, L, L) renormalised over the other keys: w_ij / Σ_{k ≠ first} w_ik, and 0 at `first`.

    A row is none (zero) where it leaves less than a millionth to other keys, so that only rounding
    would be seen, and where a weight is negative: linear attention's are no shares of 1. Of a
    model with a learned sink the rows, which sum to less than 1, then sum to 1, too. Cost: a copy.
    """
    others = weights.copy()
    take_first_away(others, first)
    return others


def take_first_away(weights: NDArray[np.floating[Any]], first: int = 0) -> None:
    """The same in place, for maps that are a copy already."""
    weights[..., first] = 0
    left = weights.sum(-1, dtype=np.float64)
    is_row = left >= LEAST_LEFT
    if weights.min(initial=0) < 0:
        is_row &= weights.min(-1) >= 0
    scale = np.divide(1, left, out=np.zeros_like(left), where=is_row)
    weights *= scale.astype(weights.dtype)[..., None]


def others_visible(visible: NDArray[np.bool_], first: int = 0) -> NDArray[np.bool_]:
    """What a row may look at beside the first token, (…, L, L)."""
    others = visible.copy()
    others[..., first] = False
    return others


def fold_without_first(weights: Array, starts: Sequence[bool], first: int = 0) -> Array:
    """The same folded to words (…, words, words); a word's row is the mean of its rows that are
    left, so that it sums to 1.
    """
    folded = fold(without_first(weights, first), starts)
    sums = folded.sum(-1, keepdims=True)
    return np.divide(folded, sums, out=np.zeros_like(folded), where=sums > 0)


def sink_shares(trace: AttentionTrace, at: tuple[int, int]) -> NDArray[np.float64]:
    """(L,): what the first token and a learned sink get of each row of a head."""
    first = trace.columns(at[0])[0]
    shares = trace.weights[at][:, first].astype(np.float64)
    return shares if trace.sink is None else shares + trace.sink[at]


def learned_share(weights: NDArray[np.floating[Any]]) -> NDArray[np.float64] | None:
    """(…, L): what the rows of softmax lack from 1, which a learned sink takes; None where nothing
    is lacking but rounding. A row without any weight is none and lacks nothing.
    """
    sums = weights.sum(-1, dtype=np.float64)
    lacking = np.where(sums > 0, 1 - sums, 0.0)
    return lacking if (lacking > 1e-4).any() else None


def sinks_apart(trace: AttentionTrace) -> bool:
    """Whether a head of this trace is never named by its first token.

    So it is of models that were trained on text at large: they say of which kind their layers are,
    or have learned sinks. Our own, trained on questions, do none of it.
    """
    return bool(trace.kinds or trace.sink is not None)


def first_stays(trace: AttentionTrace) -> str:
    """Why the first token of a trace cannot be left out; empty where it can."""
    if trace.latent_positions:
        return "Nothing to leave out: the keys of most layers are latents, not tokens."
    if not trace.is_normalised:
        return "Nothing to leave out: rows need not sum to 1, so no weight is a share."
    if trace.has_effective_weights and float(trace.weights.min()) < 0:
        return "Nothing to leave out: some effective weights are negative, so none is a share of 1."
    return ""
