"""The box that weights stay in, as long as no score strays further than the farthest draw would."""

import numpy as np
from numpy.typing import NDArray

from core.theory.normal import log_sum_exp, sigmoid

Array = NDArray[np.float64]
DEVIATIONS = (
    9.0  # beyond it lies 2.3e-19 of a normal law: nothing that a thousand million draws see
)


def weight_reach(means: Array, deviations: Array, head_shares: Array) -> tuple[Array, Array]:
    """(least, greatest) (n,) of weights averaged over the heads, with shares (H,) that sum to 1.

    Scores are normal with means and deviations (H, n). A softmax weight grows with its own score
    and falls with all others, so both ends lie at corners of the scores' box:
    σ(s_i − ln Σ_{k≠i} e^{s_k}) at s_i = mean_i ∓ 9 deviation_i, s_k = mean_k ± 9 deviation_k.
    Cost: H · n² numbers.
    """
    low, high = means - DEVIATIONS * deviations, means + DEVIATIONS * deviations
    return head_shares @ _weights(low, high), head_shares @ _weights(high, low)


def _weights(own: Array, others: Array) -> Array:
    """(H, n): the weight of each key with its own score, the other keys having theirs."""
    columns = [
        sigmoid(own[:, key] - log_sum_exp(np.delete(others, key, axis=1)))
        for key in range(own.shape[1])
    ]
    return np.stack(columns, axis=1)
