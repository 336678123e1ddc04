"""Matrices made for the task: c₁ ≈ u_b − u_c and c₂ ≈ u_b, and the condition that an edit breaks.

    V = (u_b u_bᵀ − u_c u_cᵀ)/β²,  K = I,  Q = (u_d u_aᵀ + u_c u_dᵀ)/β²

V must give v₁ = u_b and v₃ = u_b − u_c; K and Q must let q₁ lean on k₃ and q₂ on k₁, that is the
score there exceeds the others of its row (the margin). With the design each margin is β².
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.theory.by_hand.check import ROUNDING, Check, distance
from core.theory.by_hand.notation import spell_vector
from core.theory.by_hand.tokens import (
    INPUTS,
    UNIT_A,
    UNIT_B,
    UNIT_C,
    UNIT_D,
    SelfAttention,
    self_attention,
    weight_elsewhere,
)
from core.theory.by_hand.weights import limit_weights

Array = NDArray[np.float64]
DESIGNED_VALUE = np.outer(UNIT_B, UNIT_B) - np.outer(UNIT_C, UNIT_C)
DESIGNED_KEY = np.eye(4)
DESIGNED_QUERY = np.outer(UNIT_D, UNIT_A) + np.outer(UNIT_C, UNIT_D)
WANTED = np.array([UNIT_B - UNIT_C, UNIT_B])
VALUES = ((0, WANTED[1]), (2, WANTED[0]))
LEANS = ((0, 2), (1, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignedExample:
    """The example under three matrices; `errors` are ‖c₁ − (u_b − u_c)‖/β and ‖c₂ − u_b‖/β.

    `reaches` says whether both tend to 0 as β grows; `broken` names each condition that fails and
    the matrix that breaks it (Markdown with $…$).
    """

    attention: SelfAttention
    errors: tuple[float, float]
    reaches: bool
    broken: tuple[str, ...]
    checks: tuple[Check, ...]


def designed_example(
    beta: float,
    value: Array = DESIGNED_VALUE,
    key: Array = DESIGNED_KEY,
    query: Array = DESIGNED_QUERY,
) -> DesignedExample:
    """Attention under V, K, Q (4, 4), each condition and each error as a check."""
    attention = self_attention(beta, value, key, query)
    errors = output_errors(attention.outputs)
    limits = output_errors(limit_weights(attention.scores) @ attention.values)
    conditions = [
        *(_value_condition(attention.values, *each) for each in VALUES),
        *(_lean_condition(attention, key, query, *each) for each in LEANS),
    ]
    designed = (DESIGNED_VALUE, DESIGNED_KEY, DESIGNED_QUERY)
    is_design = all(map(np.array_equal, (value, key, query), designed))
    return DesignedExample(
        attention=attention,
        errors=errors,
        reaches=max(limits) <= ROUNDING,
        broken=tuple(reason for check, reason in conditions if not check.holds),
        checks=(
            *(check for check, _ in conditions),
            *_error_checks(errors, limits),
            *(_closed_forms(beta, errors) if is_design else ()),
        ),
    )


def output_errors(outputs: Array) -> tuple[float, float]:
    """‖c₁ − (u_b − u_c)‖/β and ‖c₂ − u_b‖/β of outputs (3, 4)."""
    return distance(outputs[0], WANTED[0]), distance(outputs[1], WANTED[1])


def error_curves(
    least_beta: float, most_beta: float, value: Array, key: Array, query: Array
) -> tuple[Array, Array]:
    """46 values of β and both errors (46, 2); the design's are √5 and √2 over e^{β²} + 2."""
    betas = np.linspace(least_beta, most_beta, 46)
    outputs = (self_attention(float(beta), value, key, query).outputs for beta in betas)
    return betas, np.array([output_errors(each) for each in outputs])


def _value_condition(values: Array, token: int, wanted: Array) -> tuple[Check, str]:
    """A value that V must give, and what to say if it does not."""
    claim = rf"$v_{token + 1} = {spell_vector(wanted)}$"
    reason = f"$V$ breaks {claim}: it gives $v_{token + 1} = {spell_vector(values[token])}$"
    return Check(rf"{claim}: distance$/\beta$", distance(values[token], wanted), 0.0), reason


def _lean_condition(
    attention: SelfAttention, key: Array, query: Array, row: int, column: int
) -> tuple[Check, str]:
    """A key that K and Q must let a query lean on, and what to say if they do not."""
    check = _lean_check(attention.scores, row, column)
    reason = (
        f"{_culprit(key, query, row, column)}: $q_{row + 1} = "
        f"{spell_vector(attention.queries[row])}$ must lean on $k_{column + 1} = "
        rf"{spell_vector(attention.keys[column])}$, but its margin is ${check.value:.3g}\,\beta^2$"
    )
    return check, reason


def _lean_check(scores: Array, row: int, column: int) -> Check:
    others = np.delete(scores[row], column)
    return Check(
        rf"$q_{row + 1}$ leans on $k_{column + 1}$: margin$/\beta^2 > 0$",
        float(scores[row, column] - others.max()),
        0.0,
        relation=">",
        scale=max(1.0, float(np.abs(scores[row]).max())),
    )


def _culprit(key: Array, query: Array, row: int, column: int) -> str:
    """Which of K and Q to put back: the one whose designed form mends the margin."""
    by_key = _lean_check(INPUTS @ query.T @ DESIGNED_KEY @ INPUTS.T, row, column).holds
    by_query = _lean_check(INPUTS @ DESIGNED_QUERY.T @ key @ INPUTS.T, row, column).holds
    if by_key and by_query:
        return "$K$ and $Q$ do not fit (either put back mends it)"
    if by_key:
        return "$K$ breaks it"
    return "$Q$ breaks it" if by_query else "$K$ and $Q$ both break it"


def _error_checks(errors: tuple[float, float], limits: tuple[float, float]) -> tuple[Check, ...]:
    return tuple(
        Check(
            rf"$\lVert c_{row + 1}-{wanted}\rVert/\beta \to 0$",
            errors[row],
            0.0,
            relation="→",
            limit=limits[row],
        )
        for row, wanted in enumerate(("(u_b-u_c)", "u_b"))
    )


def _closed_forms(beta: float, errors: tuple[float, float]) -> tuple[Check, ...]:
    small = weight_elsewhere(beta)
    return tuple(
        Check(
            rf"exactly $\sqrt{square}/(e^{{\beta^2}}+2)$ for $c_{row + 1}$",
            errors[row],
            float(np.sqrt(square)) * small,
        )
        for row, square in enumerate((5, 2))
    )
