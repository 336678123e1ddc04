"""Self-attention on three tokens: with identity matrices, and with matrices made for the task."""

from functools import partial

import streamlit as st

from core.figures import by_hand as figures
from core.figures.planes import reach_map
from core.theory.by_hand.design import DesignedExample, designed_example, error_curves
from core.theory.by_hand.identity import IdentityExample, distance_map, identity_example
from core.theory.by_hand.notation import read_matrix, spell_matrix, spell_vector
from core.theory.by_hand.tokens import SelfAttention
from pages.attention_by_hand.parts import (
    Lines,
    show,
    slider,
    tex,
    tex_row,
    typed,
    wait_for_inputs,
)

LEAST_BETA, MOST_BETA, MOST_ADDED = 0.5, 5.0, 3.0
MAP_WIDTH = 290  # pixels: s and t on one scale, in a column of a small screen
NOTE = (
    "A sum of outer products: bb - cc is (u_b u_bᵀ - u_c u_cᵀ)/β², I is the identity. "
    "Numbers may stand before a pair: 0.5 da."
)
MATRICES = (("V", "bb - cc"), ("K", "I"), ("Q", "da + cd"))


def show_identity() -> None:
    """K = Q = V = I: try to make c₂ into u_b by adding u_c and u_d to x₂."""
    with st.sidebar:
        beta = slider("β, norm of each u", LEAST_BETA, MOST_BETA, 2.0, 0.1, "hand-identity-beta")
        add_c = slider("s: times u_c added to x₂", -MOST_ADDED, MOST_ADDED, 0.0, 0.1, "hand-add-c")
        add_d = slider("t: times u_d added to x₂", -MOST_ADDED, MOST_ADDED, 0.0, 0.1, "hand-add-d")
    found = identity_example(beta, add_c=add_c, add_d=add_d)
    reach = found.reach
    show(
        "A token copies itself: with any $s$, $t$ the output $c_2$ stays at least "
        f"{reach.distance:.3g} β from $u_b$ (nearest: s = {reach.add_c:.2g}, "
        f"t = {reach.add_d:.2g}).",
        _identity_formulas(found),
        reach_map(
            *distance_map(beta, MOST_ADDED),
            (add_c, add_d),
            (reach.add_c, reach.add_d),
            title="How far c₂ stays from u_b, in β",
        ),
        found.checks,
        alt_text="Distance of c2 from u_b over all s and t, with the chosen and the nearest point",
        note="The weight missing on $u_b$ is the one of x₂ on itself, whose score (1+s²+t²)β² "
        "exceeds the others by at least ¾β².",
        width=MAP_WIDTH,
    )


def show_design() -> None:
    """Matrices that give c₁ ≈ u_b − u_c and c₂ ≈ u_b; change one and see which condition breaks."""
    with st.sidebar:
        beta = slider("β, norm of each u", LEAST_BETA, MOST_BETA, 2.5, 0.1, "hand-design-beta")
        fields = [
            typed(
                f"Matrix {name}",
                default,
                f"hand-{name.lower()}",
                partial(read_matrix, name=f"matrix {name}"),
                note=NOTE,
            )
            for name, default in MATRICES
        ]
    given = [matrix for matrix in fields if matrix is not None]
    if len(given) < len(MATRICES):
        wait_for_inputs()
        return
    value, key, query = given
    found = designed_example(beta, value, key, query)
    betas, errors = error_curves(LEAST_BETA, MOST_BETA, value, key, query)
    show(
        _verdict(found, beta),
        (
            _inputs("u_a"),
            [
                f"{name} = {spell_matrix(matrix)}"
                for (name, _), matrix in zip(MATRICES, given, strict=True)
            ],
            *(_token(found.attention, i) for i in range(3)),
        ),
        figures.error_curves(
            betas,
            [("c₁", errors[:, 0]), ("c₂", errors[:, 1])],
            beta,
            title="Error of the two outputs",
        ),
        found.checks,
        alt_text="Errors of c1 and c2 against the norm of the vectors",
        note="Errors are in multiples of ‖u‖ = β. No mask and no 1/√d.",
    )


def _inputs(second: str) -> tuple[str, ...]:
    return ("x_1 = u_d + u_b", f"x_2 = {second}", "x_3 = u_c + u_b", r"\lVert u\rVert = \beta")


def _identity_formulas(found: IdentityExample) -> Lines:
    attention = found.attention
    weights = tex_row(attention.weights[1])
    return (
        ("K = Q = V = I", *_inputs(r"u_a + s\,u_c + t\,u_d")),
        (
            f"x_2 = {spell_vector(attention.keys[1])}",
            rf"\alpha_2 = \mathrm{{softmax}}\,\beta^2(t,\; 1+s^2+t^2,\; s) = {weights}",
        ),
        (
            rf"c_2 \approx {spell_vector(attention.outputs[1])}",
            rf"\lVert c_2 - u_b\rVert = {tex(found.distance)}\,\beta",
        ),
    )


def _token(attention: SelfAttention, i: int) -> tuple[str, ...]:
    n = i + 1
    return (
        f"q_{n} = {spell_vector(attention.queries[i])}",
        f"k_{n} = {spell_vector(attention.keys[i])}",
        f"v_{n} = {spell_vector(attention.values[i])}",
        rf"\alpha_{n} = {tex_row(attention.weights[i])}",
        rf"c_{n} \approx {spell_vector(attention.outputs[i])}",
    )


def _verdict(found: DesignedExample, beta: float) -> str:
    if found.broken:
        so = " Yet both outputs come right: another design." if found.reaches else ""
        return f"Broken. {'; '.join(found.broken)}.{so}"
    first, second = map(tex, found.errors)
    return (
        f"Every condition holds: at β = {beta:g}, $c_1$ misses $u_b - u_c$ by ${first}\\,\\beta$ "
        f"and $c_2$ misses $u_b$ by ${second}\\,\\beta$."
    )
