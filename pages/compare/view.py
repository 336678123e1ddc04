"""What is shown of a pair: which head of each, weight or contribution, rows and scale."""

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.inspection.align import Alignment
from core.inspection.captions import strongest_head
from core.inspection.compare import QUANTITIES
from core.inspection.heads import Head, head_name, parse_head
from core.inspection.traced import AttentionTrace
from pages.compare.controls import MOMENTS, PREFIX, Pair
from pages.shared import bound, present
from pages.shared.no_first import choose_no_first, why_not

HEAD_KEY, OTHER_KEY = f"{PREFIX}head", f"{PREFIX}head-b"
Traces = tuple[AttentionTrace, AttentionTrace]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Heads of A and of B; `own_scale`: the largest value is fully coloured; `no_first`: weights
    are those without the first token.
    """

    heads: tuple[Head, Head]
    alignment: Alignment
    quantity: str
    own_scale: bool
    no_first: bool = False


def choose_view(pair: Pair, traces: Traces, found: dict[str, Alignment]) -> View:
    """A row of controls above the maps."""
    places = _places(pair)
    with places[0]:
        first = _choose_head("Head" if pair.same_heads else "Head of A", traces[0], HEAD_KEY)
    second = first
    if not pair.same_heads:
        with places[1]:
            second = _choose_head("Head of B", traces[1], OTHER_KEY)
    with places[-3]:
        quantity = bound.selectbox("Shown", QUANTITIES, key=f"{PREFIX}quantity")
    with places[-2]:
        kind = bound.selectbox(
            "Rows aligned",
            list(found),
            key=f"{PREFIX}align",
            help="Which row of A is laid beside which row of B.",
        )
    with places[-1]:
        own = bound.toggle(
            "Own scale",
            key=f"{PREFIX}own",
            help="Off: full colour is a weight of 1 and a difference of 1. Contributions always "
            "have a scale of their own.",
        )
    with st.sidebar:
        no_first = choose_no_first(f"{PREFIX}no-first", why_not(traces))
    return View(
        heads=(first, second),
        alignment=found[kind],
        quantity=quantity,
        own_scale=own,
        no_first=no_first,
    )


def _places(pair: Pair) -> list[DeltaGenerator]:
    """A place for each control; two rows beside the curve of a training."""
    if pair.what == MOMENTS:
        rows = [st.columns([1, 1.2], vertical_alignment="bottom") for _ in range(2)]
        return [*rows[0], *rows[1]]
    widths = [1, 1.3, 1.5, 1.1] if pair.same_heads else [1, 1, 1.2, 1.5, 1.1]
    return st.columns(widths, vertical_alignment="bottom")


def _choose_head(label: str, trace: AttentionTrace, key: str) -> Head:
    names = [head_name(*head) for head in trace.heads]
    default = names.index(head_name(*strongest_head(trace)))
    chosen = bound.selectbox(label, names, default, key=key, follows=True)
    if key == HEAD_KEY:
        present.keys_step(key, names, ("Left", "Right"), "Head")
    return parse_head(chosen)
