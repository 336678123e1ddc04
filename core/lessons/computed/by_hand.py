"""Figures of the examples that can be followed by hand."""

import numpy as np

from core.lessons.computed.once import Once
from core.theory.by_hand.averaging import average
from core.theory.by_hand.copying import beta_needed
from core.theory.by_hand.design import designed_example
from core.theory.by_hand.identity import nearest_reach
from core.theory.by_hand.weights import MOST_KEYS, categorical


def softmax_weight(_: Once, *, scores: tuple[float, ...], beta: float, key: int) -> float:
    """α_key of softmax(β · scores), keys from 1 on."""
    if not 1 <= key <= len(scores):
        raise ValueError(f"key {key}: there are keys 1 to {len(scores)}")
    return float(categorical(np.array(scores), beta).weights[key - 1])


def softmax_effective_keys(_: Once, *, scores: tuple[float, ...], beta: float) -> float:
    """exp(entropy)."""
    return categorical(np.array(scores), beta).effective_keys


def copying_beta(_: Once, *, keys: int) -> float:
    """Orthonormal keys: the chosen one scores 1, every other 0."""
    if not 2 <= keys <= MOST_KEYS:
        raise ValueError(f"{keys} keys; 2 to {MOST_KEYS} are allowed")
    return beta_needed(np.ones(keys - 1))


def averaging_weight(
    _: Once,
    *,
    query: str,
    key: str,
    beta: float,
    norm_a: float = 1.0,
    norm_b: float = 1.0,
    cosine: float = 0.0,
    keys: int = 6,
) -> float:
    """The plain query is β(k_a + k_b); the balanced one weighs each key by the other's length²."""
    found = average(beta, norm_a=norm_a, norm_b=norm_b, cosine=cosine, n_keys=keys)
    of_query = {"plain": found.plain_weights, "balanced": found.balanced_weights}
    if query not in of_query or key not in ("a", "b"):
        raise ValueError(f"query {query!r}, key {key!r}: plain or balanced, a or b are allowed")
    return float(of_query[query]["ab".index(key)])


def identity_reach(_: Once, *, beta: float) -> float:
    """Over all that can be added to x₂."""
    return nearest_reach(beta).distance


def design_error(_: Once, *, beta: float, output: int) -> float:
    """‖c₁ − (u_b − u_c)‖/β or ‖c₂ − u_b‖/β."""
    errors = dict(enumerate(designed_example(beta).errors, 1))
    if output not in errors:
        raise ValueError(f"output {output}: 1 or 2 is allowed")
    return errors[output]
