"""Which parts a network needs, beside where attention looks."""

import streamlit as st

from core.figures.pixels import map_over, sheet_over
from core.inspection.heads import head_name
from core.pictures.drawn import DIGITS
from core.pictures.networks import PATCHES
from pages.look import words
from pages.look.controls import PREFIX, Shown
from pages.look.data import Key, Said
from pages.look.names import NAMES
from pages.shared import bound
from pages.shared.text import plain, whole


def show_where(key: Key, shown: Shown, said: Said) -> None:
    """The occlusion map of a network and the attention of one head, then all heads."""
    st.markdown("#### Where does it look?")
    covered, attention = st.columns(2, gap="medium")
    with covered:
        _show_occlusion(key, shown, said)
    if PATCHES in dict(key):
        with attention:
            _show_attention(key, shown)


def _show_occlusion(key: Key, shown: Shown, said: Said) -> None:
    from pages.look import looking  # noqa: PLC0415 - loads torch

    names = [name for name, _ in key]
    network = bound.selectbox(
        "What a network needs (a part in black)",
        names,
        format_func=NAMES.__getitem__,
        key=f"{PREFIX}covered",
    )
    label = int(said[network].argmax())
    found = looking.occlusion(key, network, shown.picture, label)
    alt = f"Occlusion map of {NAMES[network]} for the answer {DIGITS[label]}"
    st.image(map_over(shown.picture, found.by_point, signed=True), alt=alt)
    st.markdown(whole(words.occlusion_sentence(found)))


def _show_attention(key: Key, shown: Shown) -> None:
    from pages.look import looking  # noqa: PLC0415 - loads torch

    found = looking.attention_maps(key, PATCHES, shown.picture)
    layers, heads = found.itself.shape
    at = {head_name(layer, head): (layer, head) for layer in range(layers) for head in range(heads)}
    name = bound.selectbox(
        "Head of the network of patches",
        list(at),
        len(at) - heads,
        key=f"{PREFIX}head",
        help="A map a head and layer as it is, not multiplied through the layers.",
    )
    alt = f"Weights of the class token in {name}, over the picture"
    st.image(map_over(shown.picture, found.patches[at[name]]), alt=alt)
    st.markdown(whole(words.attention_sentence(name, found.patches[at[name]], found.itself[at[name]])))
    st.image(
        sheet_over(shown.picture, [list(row) for row in found.patches]),
        alt="The same of every head: a row a layer, a column a head",
        caption="Every head: a row a layer, a column a head; full colour is each map's largest weight",
    )
    st.caption(plain(words.proof(found)))
