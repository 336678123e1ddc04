"""A query that grows along one key copies its value, unless another key is alike.

q = β k_j:   α_j → 1 if and only if k_jᵀk_j > k_iᵀk_j for every other key i
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.theory.by_hand.check import Check, check_range, distance
from core.theory.by_hand.weights import MOST_BETA, MOST_KEYS, limit_weights, log_weights

Array = NDArray[np.float64]
NEARLY_ALL = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Copying:
    """Scores k_iᵀk_j and weights (n,) of the query β k_j; `limit` is α_j for β → ∞.

    `twin` is the key that was pulled; `beta_needed` the least β with α_j ≥ 0.99, None if no β does.
    """

    scores: Array
    weights: Array
    limit: float
    twin: int
    beta_needed: float | None
    checks: tuple[Check, ...]


def copying(keys: Array, chosen: int, beta: float, *, pull: float = 0.0) -> Copying:
    """Copy the value of key `chosen` of keys (n, d); values are orthonormal.

    `pull` in [0, 1] moves the next key towards the chosen one; at 1 the two are alike.
    """
    _check_settings(keys, chosen, beta, pull)
    twin = (chosen + 1) % len(keys)
    moved = keys.copy()
    moved[twin] += pull * (keys[chosen] - keys[twin])
    scores = moved @ keys[chosen]
    limit = limit_weights(scores)
    gaps = np.delete(scores[chosen] - scores, chosen)
    return Copying(
        scores=scores,
        weights=np.exp(log_weights(beta * scores)),
        limit=float(limit[chosen]),
        twin=twin,
        beta_needed=beta_needed(gaps) if limit[chosen] == 1 else None,
        checks=_checks(scores, limit, beta, chosen, twin),
    )


def beta_needed(gaps: Array) -> float:
    """The least β with α_j ≥ 0.99: Σ_i exp(−β gap_i) = 1/99 by bisection.

    `gaps` (n − 1,) are s_j − s_i, all positive. For orthonormal keys it is ln(99 (n − 1)).
    """
    odds = 1 / NEARLY_ALL - 1
    low, high = 0.0, float(np.log(len(gaps) / odds) / gaps.min())
    for _ in range(100):
        middle = (low + high) / 2
        enough = np.exp(-middle * gaps).sum() <= odds
        low, high = (low, middle) if enough else (middle, high)
    return high


def _check_settings(keys: Array, chosen: int, beta: float, pull: float) -> None:
    check_range("β", beta, 0, MOST_BETA)
    check_range("number of keys", len(keys), 2, MOST_KEYS)
    check_range("pull", pull, 0, 1)
    if not 0 <= chosen < len(keys):
        raise ValueError(f"key {chosen + 1}: there are keys 1 to {len(keys)}")
    if not keys[chosen].any():
        raise ValueError(f"key {chosen + 1} is 0: no query points along it")


def _checks(scores: Array, limit: Array, beta: float, chosen: int, twin: int) -> tuple[Check, ...]:
    logs, one_hot = log_weights(beta * scores), np.eye(len(scores))[chosen]
    weights, share, size = np.exp(logs), float(limit[chosen]), float(np.abs(scores).max())
    weight, rival = float(weights[chosen]), float(np.delete(scores, chosen).max())
    j, t = chosen + 1, twin + 1
    checks = [
        Check(
            rf"condition: $k_{{{j}}}^\top k_{{{j}}} > \max_{{i\ne {j}}} k_i^\top k_{{{j}}}$",
            float(scores[chosen]),
            rival,
            relation=">",
            scale=size,
        ),
        Check(
            rf"$\ln(\alpha_{{{j}}}/\alpha_{{{t}}}) = \beta\,(k_{{{j}}}-k_{{{t}}})^\top k_{{{j}}}$",
            float(logs[chosen] - logs[twin]),
            beta * float(scores[chosen] - scores[twin]),
            scale=max(1.0, beta * size),
        ),
        Check(rf"copied: $\alpha_{{{j}}} \to 1$", weight, 1.0, relation="→", limit=share),
        Check(
            rf"$\lVert c - v_{{{j}}}\rVert \to 0$",
            distance(weights, one_hot),
            0.0,
            relation="→",
            limit=distance(limit, one_hot),
        ),
    ]
    if share < 1:
        claim = rf"instead: $\alpha_{{{j}}} \to {share:.3g}$ as $\beta$ grows"
        checks.append(Check(claim, weight, share, relation="→"))
    return tuple(checks)
