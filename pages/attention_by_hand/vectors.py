"""Four examples on single vectors: weights, copying, the average of two, taking one out."""

from functools import partial

import streamlit as st

from core.figures import by_hand as figures
from core.theory.by_hand.averaging import Average, average
from core.theory.by_hand.check import Array
from core.theory.by_hand.copying import Copying, copying
from core.theory.by_hand.notation import read_numbers, read_rows
from core.theory.by_hand.subspace import TakeOut, take_out
from core.theory.by_hand.weights import MOST_KEYS, Categorical, categorical, weight_curves
from pages.attention_by_hand.parts import (
    Lines,
    attempt,
    count,
    key_names,
    show,
    slider,
    tex,
    tex_matrix,
    tex_row,
    typed,
    wait_for_inputs,
)

SCORES, KEYS = "2, 1, 0.5, 0, -1", "1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1"
MOST_BETA = 12.0
VECTORS = (
    ("Basis a₁; a₂; …", "0.6 0.8 0 0; 0 0 1 0", "hand-basis-a", partial(read_rows, name="a")),
    ("Basis b₁; b₂; …", "-0.8 0.6 0 0; 0 0 0 1", "hand-basis-b", partial(read_rows, name="b")),
    ("v_a along its basis", "2, 1", "hand-along-a", partial(read_numbers, name="v_a")),
    ("v_b along its basis", "1, -1", "hand-along-b", partial(read_numbers, name="v_b")),
)


def show_weights() -> None:
    """α as a categorical distribution, from diffuse to peaked."""
    with st.sidebar:
        beta = slider("β, length of the query", 0.0, MOST_BETA, 1.0, 0.1, "hand-weights-beta")
        scores = typed(
            "Scores kᵢᵀq at β = 1",
            SCORES,
            "hand-scores",
            partial(read_numbers, name="scores"),
            note="One number for each key.",
        )
    if scores is None:
        wait_for_inputs()
        return
    found = categorical(scores, beta)
    names = key_names(len(scores))
    show(
        f"α is a categorical distribution, here as spread out as {found.effective_keys:.3g} equal "
        f"keys of {len(names)}. It is uniform at β = 0 and peaks as β grows.",
        _weights_formulas(found),
        figures.weight_curves(
            *weight_curves(scores, MOST_BETA),
            names,
            beta,
            chosen=int(scores.argmax()),
            title="From diffuse to peaked",
        ),
        found.checks,
        alt_text="Each weight against the length of the query",
        note="A softmax weight is never exactly 0: it only becomes too small to be seen.",
    )


def show_copying() -> None:
    """The query grows along one key; the next key can be made alike."""
    with st.sidebar:
        beta = slider("β, length of the query", 0.0, MOST_BETA, 5.0, 0.1, "hand-copy-beta")
        pull = slider("Pull the next key towards it", 0.0, 1.0, 0.0, 0.05, "hand-copy-pull")
        j = count("Key j to copy from", 1, MOST_KEYS, 1, "hand-copy-key")
        keys = typed(
            "Keys, a semicolon between two",
            KEYS,
            "hand-copy-keys",
            partial(read_rows, name="keys"),
        )
        found = None
        if keys is not None:
            found = attempt(partial(copying, keys, j - 1, beta, pull=pull))
    if found is None:
        wait_for_inputs()
        return
    show(
        _copied(found, j),
        _copying_formulas(found, j),
        figures.weight_curves(
            *weight_curves(found.scores, MOST_BETA),
            key_names(len(found.scores)),
            beta,
            chosen=j - 1,
            title=f"A query that grows along key {j}",
        ),
        found.checks,
        alt_text=f"Each weight against the length of the query along key {j}",
        note=f"Values are orthonormal. Key {found.twin + 1} is the one to pull: all the way, the "
        "two are alike and share the weight.",
    )


def show_average() -> None:
    """The average of two values, with keys of equal and of unequal length."""
    with st.sidebar:
        beta = slider("β, length of the query", 0.0, 20.0, 8.0, 0.1, "hand-average-beta")
        norm_a = slider("Length of key a", 0.2, 3.0, 1.0, 0.1, "hand-norm-a")
        norm_b = slider("Length of key b", 0.2, 3.0, 1.5, 0.1, "hand-norm-b")
        cosine = slider("Cosine between a and b", -0.9, 0.9, 0.0, 0.1, "hand-cosine")
        n_keys = count("Keys n", 2, MOST_KEYS, 6, "hand-n-keys")
    found = average(beta, norm_a=norm_a, norm_b=norm_b, cosine=cosine, n_keys=n_keys)
    plain, balanced = found.plain_weights, found.balanced_weights
    show(
        f"The plain sum puts ${tex(plain[0])}$ on a and ${tex(plain[1])}$ on b. With each key "
        f"weighed by the other's squared length it is ${tex(balanced[0])}$ and "
        f"${tex(balanced[1])}$.",
        _average_formulas(found),
        figures.bar_panels(
            [("plain", plain), ("balanced", balanced)],
            ["a", "b", *(str(i) for i in range(3, n_keys + 1))],
            found.wanted,
            of_weights=True,
            axis="weight",
        ),
        found.checks,
        alt_text="Weights under the plain and the balanced query, with one half marked on a and b",
        note="Grey: ½ on a and on b, as wanted. The balanced query is scaled so that orthogonal "
        "keys score β; keys at another angle it balances only if they are equally long.",
    )


def show_take_out() -> None:
    """Matrices that are meant to return v_a, and Aᵀ, which has the wrong shape."""
    with st.sidebar:
        stretch = slider("Stretch a₁ by", 0.5, 3.0, 1.0, 0.25, "hand-stretch")
        given = [each for field in VECTORS if (each := typed(*field)) is not None]
        found = None
        if len(given) == len(VECTORS):
            found = attempt(partial(take_out, *given, stretch=stretch))
    if found is None:
        wait_for_inputs()
        return
    show(
        _taken_out(found),
        _take_out_formulas(found),
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


def _weights_formulas(found: Categorical) -> Lines:
    entropy, most = tex(found.entropy), tex(found.most_entropy)
    return (
        (r"\alpha_i = \frac{\exp(\beta s_i)}{\sum_j \exp(\beta s_j)}", r"s_i = k_i^\top q"),
        (rf"\alpha = {tex_row(found.weights)}",),
        (rf"H(\alpha) = -\textstyle\sum_i \alpha_i \ln \alpha_i = {entropy} \le \ln n = {most}",),
    )


def _copying_formulas(found: Copying, j: int) -> Lines:
    above, below = (
        rf"\exp(\beta k_{{{j}}}^\top k_{{{j}}})",
        rf"\sum_i \exp(\beta k_i^\top k_{{{j}}})",
    )
    weight = tex(found.weights[j - 1])
    return (
        (rf"q = \beta k_{{{j}}}", rf"\alpha_{{{j}}} = \frac{{{above}}}{{{below}}} = {weight}"),
        (rf"k_i^\top k_{{{j}}} = {tex_row(found.scores)}",),
        (rf"\alpha = {tex_row(found.weights)}",),
    )


def _average_formulas(found: Average) -> Lines:
    times_a, times_b = map(tex, found.coefficients)
    query = r"q \propto \lVert k_b\rVert^2 k_a + \lVert k_a\rVert^2 k_b"
    return (
        (r"\text{plain: } q = \beta(k_a + k_b)", *_two_scores(found.plain_scores)),
        (
            rf"\text{{balanced: }} {query} = {times_a}\,k_a + {times_b}\,k_b",
            *_two_scores(found.balanced_scores),
        ),
    )


def _two_scores(scores: Array) -> tuple[str, str]:
    return rf"k_a^\top q = {tex(scores[0])}", rf"k_b^\top q = {tex(scores[1])}"


def _copied(found: Copying, j: int) -> str:
    if found.beta_needed is None:
        return (
            f"No length of the query copies $v_{{{j}}}$: another key scores at least as high along "
            rf"it, and $\alpha_{{{j}}}$ tends to {found.limit:.3g}."
        )
    return (
        f"The query along key {j} copies its value: "
        rf"$\alpha_{{{j}}} \ge 0.99$ from $\beta = {tex(found.beta_needed)}$ on."
    )


def _take_out_formulas(found: TakeOut) -> Lines:
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


def _taken_out(found: TakeOut) -> str:
    if found.broken:
        return f"Broken: {', '.join(found.broken)}. So $M = AA^\\top$ need not return $v_a$."
    m, d = found.transposed.shape
    return (
        f"$M = AA^\\top$ returns $v_a$. The common answer $M = A^\\top$ is {m}×{d}: it returns {m} "
        rf"numbers, no vector of $\mathbb{{R}}^{d}$."
    )
