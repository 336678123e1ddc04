"""Which parts a network needs, beside where attention looks."""

import streamlit as st

from core.figures.pixels import LARGE, map_over, sheet_over
from core.inspection.heads import head_name
from core.pictures.drawn import DIGITS
from core.pictures.networks import PATCHES
from pages.look import words
from pages.look.controls import PREFIX, Shown
from pages.look.data import Key, Said
from pages.look.names import NAMES
from pages.shared import bound
from pages.shared.text import plain, whole

SMALL = 56  # pixels of a head's tile
ALL_HEADS = "Every head: a row a layer, a column a head; each map's largest weight in full colour"


def show_where(key: Key, shown: Shown, said: Said) -> None:
    """The occlusion map of a network, the attention of one head, and all heads."""
    st.markdown("#### Where does it look?")
    covered, attention, every = st.columns(3, gap="medium")
    with covered:
        _show_occlusion(key, shown, said)
    if PATCHES not in dict(key):
        return
    from pages.look import looking  # noqa: PLC0415 - loads torch

    found = looking.attention_maps(key, PATCHES, shown.picture)
    layers, heads = found.itself.shape
    at = {head_name(layer, head): (layer, head) for layer in range(layers) for head in range(heads)}
    with attention:
        name = bound.selectbox(
            "What the class token looks at",
            list(at),
            len(at) - heads,
            key=f"{PREFIX}head",
            help="A head of the network of patches; no rollout over its layers.",
        )
        alt = f"Weights of the class token in {name}, over the picture"
        st.image(map_over(shown.picture, found.patches[at[name]]), alt=alt, width=LARGE)
        said_of = words.attention_sentence(
            name, found.patches[at[name]], float(found.itself[at[name]])
        )
        st.markdown(whole(said_of))
    with every:
        sheet = sheet_over(shown.picture, [list(row) for row in found.patches], side=SMALL)
        st.image(sheet, alt=ALL_HEADS, caption=ALL_HEADS)
        st.markdown(words.OF_ATTENTION)
        st.caption(plain(words.proof(found)))


def _show_occlusion(key: Key, shown: Shown, said: Said) -> None:
    from pages.look import looking  # noqa: PLC0415 - loads torch

    network = bound.selectbox(
        "What a network needs",
        [name for name, _ in key],
        format_func=NAMES.__getitem__,
        key=f"{PREFIX}covered",
    )
    found = looking.occlusion(key, network, shown.picture, int(said[network].argmax()))
    alt = f"Occlusion map of {NAMES[network]} for the answer {DIGITS[found.label]}"
    st.image(map_over(shown.picture, found.by_point, signed=True), alt=alt, width=LARGE)
    st.markdown(f"{words.OF_OCCLUSION} {whole(words.occlusion_sentence(found))}")
