"""How diagonal each head is that listens, and where the encoder's own heads look."""

import pandas as pd
import streamlit as st

from core.figures.listening_parts import diagonal_bars, time_map
from core.inspection.heads import head_name, parse_head
from core.inspection.heard import Listened
from core.inspection.listened import diagonals, is_dull, weights_of
from pages.listen import words
from pages.listen.sounds import PREFIX
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import percent, whole

ENCODER = f"{PREFIX}encoder"


def show_measures(heard: Listened) -> None:
    """Two pictures side by side, as far as the model has such heads."""
    left, right = st.columns(2, gap="medium")
    if diagonals(heard):
        with left:
            _show_diagonals(heard)
    if "encoder" in heard.weights:
        with right:
            _show_encoder(heard)


def _show_diagonals(heard: Listened) -> None:
    found = diagonals(heard)
    names = [head_name(*at) for at in found]
    uniform = next(iter(found.values())).uniform
    shares = [one.share for one in found.values()]
    orders = [one.order for one in found.values()]
    st.markdown("#### Does a head go along with the sound?")
    said = words.diagonal_said(found)
    show_chart(diagonal_bars(names, shares, uniform, orders), alt=said)
    st.markdown(whole(said))
    with st.expander("As a table"):
        table = {
            "head": names,
            "near the diagonal": [round(share, 3) for share in shares],
            "uniform": [round(uniform, 3)] * len(names),
            "order": [round(order, 2) for order in orders],
            "pattern": ["no clear one" if is_dull(one) else "" for one in found.values()],
        }
        st.dataframe(pd.DataFrame(table), hide_index=True)
    st.caption(
        "Order: the rank correlation of a character's place and of when it is listened for. "
        "Which heads are diagonal changes with the sound."
    )


def _show_encoder(heard: Listened) -> None:
    layers, n_heads = heard.layers["encoder"], heard.weights["encoder"].shape[1]
    names = [head_name(layer, head) for layer in layers for head in range(n_heads)]
    st.markdown("#### Inside the encoder")
    name = bound.selectbox("Head of the encoder", names, key=ENCODER, width=220)
    weights = weights_of(heard, parse_head(name))
    top = float(weights.max())
    title = f"{name}: where each moment of the sound looks in the sound"
    show_chart(time_map(weights, heard.seconds_a_column, top=top), alt=title)
    st.caption(whole(f"{title}. Own scale: full colour is its largest weight, {percent(top)}."))
