"""A convolution as attention that looks at fixed offsets, and which head learned the same."""

import pandas as pd
import streamlit as st

from core.figures.pixels import LARGE, sheet_of_maps, sheet_of_signed
from core.inspection.heads import head_name
from core.pictures.networks import CONVOLUTIONS, PATCHES
from core.pictures.sample import Sample
from pages.look import words
from pages.look.controls import PREFIX
from pages.look.data import Key
from pages.look.names import NAMES
from pages.shared import bound
from pages.shared.text import whole

MIDDLE = "The patch itself is in the middle; 13 x 13 offsets"


def show_offsets(key: Key, sample: Sample | None) -> None:
    """A filter as a map of offsets beside a head's, and every head's score."""
    from pages.look import looking  # noqa: PLC0415 - loads torch

    if sample is None or PATCHES not in dict(key):
        return
    found = looking.offsets(key, PATCHES, sample)
    title = words.offsets_title(found)
    st.markdown(f"#### Does attention learn a convolution?\n**{whole(title)}.**")
    st.markdown(words.AS_ATTENTION)
    filters, heads = st.columns(2, gap="medium")
    with filters:
        _show_filter(key, sample)
    layers, n_heads = found.score.shape
    at = {head_name(row, one): (row, one) for row in range(layers) for one in range(n_heads)}
    most = max(at, key=lambda name: float(found.score[at[name]]))
    with heads:
        name = bound.selectbox(
            "Mean attention of a head by offset",
            list(at),
            list(at).index(most),
            key=f"{PREFIX}offset-head",
            follows=True,
        )
        sheet = sheet_of_maps([[found.maps[at[name]]]], side=LARGE)
        st.image(sheet, alt=f"Mean attention of {name} by offset", caption=MIDDLE)
        st.markdown(whole(words.offset_sentence(name, found, at[name])))
    box = st.expander("Every head", key=f"{PREFIX}offset-table", on_change="rerun")
    if box.open:
        box.dataframe(pd.DataFrame(words.offset_rows(found)), hide_index=True)


def _show_filter(key: Key, sample: Sample) -> None:
    from pages.look import looking  # noqa: PLC0415 - loads torch

    at_hand = [name for name, _ in key if name in CONVOLUTIONS]
    if not at_hand:
        return
    filters = looking.activations(key, at_hand[0], sample.pictures[0]).filters
    names = [f"Filter {number}" for number in range(1, len(filters) + 1)]
    name = bound.selectbox(
        f"Weights of a filter by offset ({NAMES[at_hand[0]]})", names, key=f"{PREFIX}filter"
    )
    chosen = filters[names.index(name)]
    st.image(
        sheet_of_signed([[chosen]], side=LARGE),
        alt=f"{name}: its weights by offset",
        caption="The point itself is in the middle; 3 x 3 offsets",
    )
    st.markdown(whole(words.filter_sentence(chosen)))
