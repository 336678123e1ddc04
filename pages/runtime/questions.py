"""The exercise's questions, each with the numbers that answer it."""

import math
from typing import TYPE_CHECKING

import streamlit as st

from core import paths
from core.catalogue import ONLY_CAUSAL, label
from core.checkpoints.shelf import list_checkpoints
from core.data.biographies import biographies
from core.figures.approximation import spectrum_chart
from core.memory.generation import bytes_text
from core.theory.costs import (
    Shape,
    Sizes,
    crossover_length,
    perceiver_ratio,
    predict,
    taylor_features,
)
from core.theory.steps import kept_bytes, same_bytes_length, step_operations
from pages.runtime import words
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import plain

if TYPE_CHECKING:
    from core.inspection.spectrum import Spectra

LENGTHS, HEAD_DIMS = (128, 512, 1024, 2048, 4096, 8192, 16384), (16, 32, 64, 128)
N_TERMS = (1, 2, 3, 4, 5)
DEFAULT = "notable-pretrained"
ROWS, SHARE = (16, 32, 64), 0.9  # Linformer's numbers of rows; of the sum of all values


def show_questions() -> None:
    """Sizes on top; then what they answer, in two columns."""
    first, second, _ = st.columns([1, 1, 2])
    with first:
        head_dim = int(bound.selectbox("Head size D", list(map(str, HEAD_DIMS)), 1, key="rt-qd"))
    with second:
        seq_len = int(bound.selectbox("Tokens L", list(map(str, LENGTHS)), 3, key="rt-ql"))
    left, right = st.columns(2, gap="medium")
    with left:
        _quadratic(head_dim, seq_len)
        _dimensions(head_dim)
        _bigbird(head_dim, seq_len)
        _states(head_dim, seq_len)
    with right:
        _linear(head_dim, seq_len)
        _perceiver(seq_len)
        _low_rank()


def _quadratic(head_dim: int, seq_len: int) -> None:
    one, two = (_cost(head_dim, n) for n in (seq_len, 2 * seq_len))
    st.markdown("##### Why is softmax attention quadratic?")
    st.markdown(
        "Softmax is taken of every pair of query and key before the values are summed, so all "
        f"L × L scores have to be formed. One head at L = {seq_len:,}: 4·L²·D = "
        f"{count(one[0])} operations, and {words.memory(one[1])} for scores and weights. "
        f"Twice as long: {count(two[0])} operations and {words.memory(two[1])}, four times "
        "as much."
    )


def _linear(head_dim: int, seq_len: int) -> None:
    st.markdown("##### Why is the form with φ linear in L?")
    st.latex(r"D^{-1}\,\Phi(Q)\,\bigl(\Phi(K)^\top V\bigr)")
    softmax, _ = _cost(head_dim, seq_len)
    shape = Shape(seq_len=seq_len, head_dim=head_dim, n_heads=1)
    elu, taylor = (predict(m, shape).operations for m in ("elu", "taylor"))
    st.markdown(
        "A product of matrices may be bracketed as one likes. From the left, Φ(Q)Φ(K)ᵀ is L × L; "
        "from the right, Φ(K)ᵀV is r × D and no L × L matrix ever exists; the diagonal D⁻¹ divides "
        f"by Φ(Q)(Φ(K)ᵀ1) in the same way. 4·L·r·D operations at L = {seq_len:,}: "
        f"{count(elu)} with elu+1 (r = D), {count(taylor)} with three Taylor terms, "
        f"against {count(softmax)}. By operations alone softmax is dearer from L ≈ r on: "
        f"{_from('elu', head_dim)} tokens with elu+1, {_from('favor', head_dim)} with FAVOR+ and "
        f"{_from('taylor', head_dim)} with Taylor. Measured crossovers lie elsewhere: a fused "
        "kernel is fast, and forming φ is not free."
    )


def _dimensions(head_dim: int) -> None:
    st.markdown("##### How many dimensions does φ need for K terms of exp?")
    rows = [
        f"| {k} | {taylor_features(head_dim, k):,} | "
        f"{taylor_features(head_dim, k, symmetric=True):,} | {_slip(head_dim, k):,} |"
        for k in N_TERMS
    ]
    head = ["| K | Σ D^k, k < K | each product once | the slip, D^(K−1) |", "|--:|--:|--:|--:|"]
    st.markdown("\n".join([*head, *rows]))
    st.markdown(
        "The terms 1, s, s²/2, … each need features of their own: 1, 1 + D, 1 + D + D², … and not "
        "the last power alone. Equal products need to be kept only once, C(D + K − 1, K − 1) of "
        "them: the attention is the same."
    )


def _perceiver(seq_len: int) -> None:
    st.markdown("##### What does a Perceiver's bottleneck save?")
    first, second = st.columns(2)
    with first:
        n_layers = bound.number_input("Layers N", 2, 96, 8, key="rt-layers")
    with second:
        n_latents = bound.number_input("Latents m", 1, 4096, 64, key="rt-latents")
    ratio = perceiver_ratio(n_layers, n_latents, seq_len)
    st.markdown(
        "N layers look at ℓ² pairs each. With a bottleneck the first and the last look at ℓ·m, "
        "and those between at m²: ((N−2)m² + 2ℓm) / (Nℓ²)"
        f" = **{ratio:.3g}** of the pairs at ℓ = {seq_len:,}."
    )


def _bigbird(head_dim: int, seq_len: int) -> None:
    st.markdown("##### Why does BigBird need its global tokens?")
    sizes = Sizes()
    shape = Shape(seq_len=seq_len, head_dim=head_dim, n_heads=1)
    sparse = predict("bigbird", shape, sizes=sizes).operations
    softmax, _ = _cost(head_dim, seq_len)
    st.markdown(
        "With a window and a few random blocks alone, two tokens may be many steps apart. A global "
        "block makes the graph a star: everything is two steps from everything, and on that star "
        "rest the proofs that such a model is a universal approximator and Turing complete "
        f"(Zaheer et al. 2020). Blocks of {sizes.block_size}, {sizes.n_global} global, "
        f"{sizes.n_window} in the window, {sizes.n_random} random: {count(sparse)} "
        f"operations against {count(softmax)}."
    )


def _states(head_dim: int, seq_len: int) -> None:
    """One head, one token behind L others."""
    shape = Shape(seq_len=seq_len, head_dim=head_dim, n_heads=1)
    st.markdown("##### What does a state of fixed size save?")
    head = ["| one head | kept | operations | a cache is larger from |", "|--|--:|--:|--:|"]
    rows = [
        f"| {name} | {_unbroken(bytes_text(kept_bytes(method, shape)))} | "
        f"{step_operations(method, shape):,} | {larger} |"
        for method, name, larger in [
            *((m, label(m), _larger_from(m, shape)) for m in ONLY_CAUSAL),
            ("sdpa", "keys and values", ""),
        ]
    ]
    st.markdown("\n".join([*head, *rows]))
    names = ", ".join(label(method) for method in ONLY_CAUSAL)
    st.markdown(
        f"Behind L = {seq_len:,} tokens. **Causal only** are {names}: what is kept is "
        "written in the order of the tokens, so a text that is read from both sides has no such "
        "form. Over a whole text each token costs the same, so that time is linear in L; a window "
        f"has {Sizes().window} tokens and {Sizes().n_sinks} sinks. What a state of fixed size "
        "forgets is on the page Memory."
    )


def _larger_from(method: str, shape: Shape) -> str:
    return f"{math.ceil(same_bytes_length(method, shape)):,} tokens"


def _unbroken(text: str) -> str:
    """A number and its unit on one line."""
    return text.replace(" ", "\u00a0")


def _low_rank() -> None:
    """How quickly a checkpoint's heads' values fall over a text as long as it reads."""
    st.markdown("##### Is attention low-rank?")
    names = list_checkpoints(paths.CHECKPOINTS)
    if not names:
        st.caption("There is no checkpoint whose heads could be looked at.")
        return
    usual = names.index(DEFAULT) if DEFAULT in names else 0
    name = bound.selectbox("Heads of", names, usual, key="rt-heads-of", follows=True)
    from pages.shared.loading import checkpoint_digest  # noqa: PLC0415 - loads torch

    try:
        found = _spectra(name, checkpoint_digest(name, None))
    except ValueError as error:
        st.text(str(error))
        return
    ranks = found.rank_for(SHARE)
    title = (
        f"{SHARE:.0%} of the sum takes {ranks.min()} to {ranks.max()} of {found.n_tokens} values"
    )
    shown = [k for k in ROWS if k < found.n_tokens]
    chart = spectrum_chart(found.cumulative, shown, title=title, height=240)
    show_chart(chart, alt=f"{title}; a line for each head of {name}")
    st.markdown(
        f"Each line is a head of {plain(name)} over {found.n_tokens} tokens of biographies. "
        "Linformer's map has rank k at most (orange lines): a head whose line is flat at the top "
        "before k could be replaced, one that rises slowly could not. A causal map always has full "
        "rank, and Linformer has no causal form: its rows mix all positions."
    )


@st.cache_resource(max_entries=8, show_spinner="Looking at the heads")
def _spectra(name: str, digest: str) -> "Spectra":
    from core.inspection.spectrum import spectra  # noqa: PLC0415 - loads torch
    from pages.shared.loading import load_model, people  # noqa: PLC0415

    stored = load_model(name, None, digest)
    lines = biographies(people()[:60], n_sentences=1, seed=0)
    text = " ".join(line.text for line in lines)
    return spectra(stored, text)


def _cost(head_dim: int, seq_len: int) -> tuple[int, int]:
    """Operations and bytes of explicit softmax in one head."""
    cost = predict("explicit", Shape(seq_len=seq_len, head_dim=head_dim, n_heads=1))
    return cost.operations, cost.extra_bytes


def _from(method: str, head_dim: int) -> str:
    return f"{crossover_length(method, head_dim):,.0f}"


def _slip(head_dim: int, n_terms: int) -> int:
    """What remains if only the last degree is counted."""
    before = taylor_features(head_dim, n_terms - 1) if n_terms > 1 else 0
    return taylor_features(head_dim, n_terms) - before


def count(number: float) -> str:
    """Operations as they are said: 537 million."""
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if number >= size:
            return f"{number / size:.3g} {name}"
    return f"{number:,.0f}"
