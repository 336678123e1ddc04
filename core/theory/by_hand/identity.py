"""K = Q = V = I: a token copies itself, and nothing of u_c or u_d added to x₂ makes c₂ into u_b.

The weight on x₂ is the one on u_a and the one missing on u_b, so ‖c₂ − u_b‖/β ≥ √2 α₂. The score
of x₂ with itself, 1 + s² + t², exceeds t and s by at least ¾, so α₂ ≥ 1/(1 + 2 exp(−¾β²)).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.theory.by_hand.check import Check, check_range, distance
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
from core.theory.by_hand.weights import log_weights

Array = NDArray[np.float64]
MOST_ADDED = 1000.0
# No point outside can be nearer than x₂ left alone: there |α₁ + α₂t| ≤ √2, α₁ ≤ 1, α₂ ≥ 1/3.
SEARCHED = 3 * (1 + float(np.sqrt(2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The nearest that c₂ comes to u_b over all x₂ = u_a + s u_c + t u_d, in multiples of ‖u‖."""

    add_c: float
    add_d: float
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityExample:
    """What is added to x₂ and what comes of it; `distance` is ‖c₂ − u_b‖/β, `reach` the least."""

    attention: SelfAttention
    distance: float
    reach: Reach
    checks: tuple[Check, ...]


def identity_example(beta: float, *, add_c: float = 0.0, add_d: float = 0.0) -> IdentityExample:
    """The three tokens with s = `add_c` times u_c and t = `add_d` times u_d added to x₂."""
    check_range("s, times u_c added,", add_c, -MOST_ADDED, MOST_ADDED)
    check_range("t, times u_d added,", add_d, -MOST_ADDED, MOST_ADDED)
    inputs = INPUTS.copy()
    inputs[1] += add_c * UNIT_C + add_d * UNIT_D
    identity = np.eye(4)
    attention = self_attention(beta, identity, identity, identity, inputs)
    alone = self_attention(beta, identity, identity, identity).outputs[1]
    here, reach = distance(attention.outputs[1], UNIT_B), nearest_reach(beta)
    return IdentityExample(
        attention=attention,
        distance=here,
        reach=reach,
        checks=_checks(beta, distance(alone, UNIT_A), here, reach.distance),
    )


def distances(beta: float, add_c: Array, add_d: Array) -> Array:
    """‖c₂ − u_b‖/β for x₂ = u_a + s u_c + t u_d under K = Q = V = I, elementwise.

    c₂ = α₂ u_a + (α₁+α₃) u_b + (α₃+α₂s) u_c + (α₁+α₂t) u_d, with scores β²(t, 1+s²+t², s).
    """
    scores = beta**2 * np.stack([add_d, 1 + add_c**2 + add_d**2, add_c], -1)
    first, second, third = np.moveaxis(np.exp(log_weights(scores)), -1, 0)
    return np.sqrt(2 * second**2 + (third + second * add_c) ** 2 + (first + second * add_d) ** 2)


def distance_map(beta: float, most: float) -> tuple[Array, Array]:
    """31 values of s and t from −most to most, and the distance (31, 31) at each [s, t]."""
    grid = np.linspace(-most, most, 31)
    add_c, add_d = np.meshgrid(grid, grid, indexing="ij")
    return grid, distances(beta, add_c, add_d)


def nearest_reach(beta: float) -> Reach:
    """The least distance over all real s and t: a grid over every place it can be, then refined."""
    best_c, best_d, step = 0.0, 0.0, SEARCHED / 100
    offsets = np.arange(-100.0, 101.0)
    for _ in range(9):
        add_c, add_d = best_c + step * offsets, best_d + step * offsets
        found = distances(beta, *np.meshgrid(add_c, add_d, indexing="ij"))
        row, column = np.unravel_index(found.argmin(), found.shape)
        best_c, best_d = float(add_c[row]), float(add_d[column])
        offsets, step = np.arange(-10.0, 11.0), step / 5
    least = float(distances(beta, np.array(best_c), np.array(best_d)))
    return Reach(add_c=best_c, add_d=best_d, distance=least)


def _checks(beta: float, miss: float, here: float, least: float) -> tuple[Check, ...]:
    bound = float(np.sqrt(2) / (1 + 2 * np.exp(-0.75 * beta**2)))
    return (
        Check(r"nothing added: $\lVert c_2 - u_a\rVert/\beta \to 0$", miss, 0.0, relation="→"),
        Check(
            r"exactly: $\ldots = \sqrt{10}/{(e^{\beta^2}+2)}$",
            miss,
            float(np.sqrt(10)) * weight_elsewhere(beta),
        ),
        Check(r"your $s, t$: $\lVert c_2 - u_b\rVert/\beta = 0$", here, 0.0),
        Check(r"best $s, t$: $\lVert c_2 - u_b\rVert/\beta = 0$", least, 0.0),
        Check(r"never below $\sqrt2/{(1+2e^{-3\beta^2/4})}$", least, bound, relation="≥"),
    )
