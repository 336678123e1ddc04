"""What a convolution has learned, and what it makes of the picture, layer by layer."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.figures.pixels import sheet_of_maps, sheet_of_signed
from core.pictures.networks import CONVOLUTIONS, POOLING
from pages.look.controls import PREFIX, Shown
from pages.look.data import Key
from pages.look.names import NAMES
from pages.shared import bound

A_ROW = 8  # tiles
MEANS = (
    "Orange weights add, blue ones take away; a filter answers most where light lies under its "
    "orange points and dark under its blue ones. Purple is what is left after the ReLU: each map "
    "has its own largest value in full colour."
)


def show_convolution(key: Key, shown: Shown) -> None:
    """Filters, then the maps of both layers before and after they are halved."""
    from pages.look import looking  # noqa: PLC0415 - loads torch

    at_hand = [name for name, _ in key if name in CONVOLUTIONS]
    if not at_hand:
        return
    st.markdown("#### What does a convolution make of it?")
    network = bound.segmented_control(
        "Network",
        at_hand,
        default=at_hand[0],
        required=True,
        format_func=NAMES.__getitem__,
        key=f"{PREFIX}convolution",
        label_visibility="collapsed",
    )
    found = looking.activations(key, network or at_hand[0], shown.picture)
    top = float(abs(found.filters).max())
    _sheet(sheet_of_signed([list(found.filters)], top=top), "Its 8 filters of 3 x 3 weights")
    _maps(found.first, "First layer")
    if network == POOLING:
        _maps(found.first_kept, "After max-pooling: the largest of each 2 x 2 block")
    _maps(found.second, "Second layer: 16 maps, each from all 8")
    if network == POOLING:
        _maps(found.second_kept, "After max-pooling: what the last three layers read")
    st.markdown(MEANS)


def _maps(maps: NDArray[np.float32], what: str) -> None:
    n, height, width = maps.shape
    rows = [list(maps[start : start + A_ROW]) for start in range(0, n, A_ROW)]
    _sheet(sheet_of_maps(rows), f"{what} ({n} maps of {height} x {width})")


def _sheet(png: bytes, caption: str) -> None:
    st.image(png, caption=caption, alt=caption, width="content")
