"""Taking v_a back out of v_a + v_b."""

from functools import partial

import streamlit as st

from core.figures import by_hand as figures
from core.theory.by_hand.notation import read_numbers, read_rows
from core.theory.by_hand.subspace import TakeOut, take_out
from pages.attention_by_hand.parts import attempt, show, slider, typed, waiting
from pages.attention_by_hand.words import Lines, tex_matrix, tex_row

FIELDS = (
    ("Basis a₁; a₂; …", "0.6 0.8 0 0; 0 0 1 0", "hand-basis-a", partial(read_rows, name="a")),
    ("Basis b₁; b₂; …", "-0.8 0.6 0 0; 0 0 0 1", "hand-basis-b", partial(read_rows, name="b")),
    ("v_a along its basis", "2, 1", "hand-along-a", partial(read_numbers, name="v_a")),
    ("v_b along its basis", "1, -1", "hand-along-b", partial(read_numbers, name="v_b")),
)


def show_take_out() -> None:
    """Matrices that are meant to return v_a, and Aᵀ, which has the wrong shape."""
    with st.sidebar:
        stretch = slider("Stretch a₁ by", 0.5, 3.0, 1.0, 0.25, "hand-stretch")
        given = [each for field in FIELDS if (each := typed(*field)) is not None]
        found = None
        if len(given) == len(FIELDS):
            found = attempt(partial(take_out, *given, stretch=stretch))
    if found is None:
        waiting()
        return
    show(
        _verdict(found),
        _formulas(found),
        figures.bar_panels(
            [
                ("AAᵀ s", found.from_sum_outer),
                ("divided", found.from_denominators),
                ("Aᵀ s", found.from_transposed),
            ],
            [str(i) for i in range(1, len(found.v_a) + 1)],
            found.v_a,
            of_weights=False,
            axis="component",
        ),
        found.checks,
        alt_text="Components of what each matrix returns, with those of v_a as ticks",
        note="Grey: v_a, as wanted. Divided: each aᵢaᵢᵀ by aᵢᵀaᵢ.",
    )


def _formulas(found: TakeOut) -> Lines:
    m, d = found.transposed.shape
    divided = tex_matrix(found.with_denominators)
    elsewhere = rf" \ne \mathbb{{R}}^{{{d}}}" if m != d else ""
    return (
        (rf"v_a = {tex_row(found.v_a)}", rf"s = v_a + v_b = {tex_row(found.total)}"),
        (
            rf"AA^\top = \sum_i a_i a_i^\top = {tex_matrix(found.sum_outer)}",
            rf"\sum_i \frac{{a_i a_i^\top}}{{a_i^\top a_i}} = {divided}",
        ),
        (
            rf"A^\top = {tex_matrix(found.transposed)}",
            rf"A^\top s = {tex_row(found.from_transposed)} \in \mathbb{{R}}^{{{m}}}{elsewhere}",
        ),
    )


def _verdict(found: TakeOut) -> str:
    if found.broken:
        return f"Broken: {', '.join(found.broken)}. So $M = AA^\\top$ need not return $v_a$."
    m, d = found.transposed.shape
    return (
        f"$M = AA^\\top$ returns $v_a$. The common answer $M = A^\\top$ is {m}×{d}: it returns {m} "
        rf"numbers, no vector of $\mathbb{{R}}^{d}$."
    )
