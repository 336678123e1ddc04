"""The pictures that a shipped network gets wrong."""

import streamlit as st

from core.figures.pixels import TILE, picture_png
from core.pictures.sample import Sample
from pages.look import words
from pages.look.names import SHORT
from pages.shared.text import whole

MOST = 24


def show_wrong(sample: Sample) -> None:
    """Those that most networks get wrong, each with what it is and what was said."""
    st.markdown(f"#### Wrong answers\n{whole(words.wrong_sentence(sample))}")
    shown = sample.wrong[:MOST]
    if not shown:
        return
    captions = [_said(sample, at) for at in shown]
    st.image(
        [picture_png(sample.pictures[at], TILE) for at in shown],
        caption=captions,
        alt=captions,
        width=TILE + 2,
    )
    order = ", ".join(SHORT[name] for name in sample.probabilities)
    st.caption(f"What it is → what is said by {order}. Choose one to look into it.")


def _said(sample: Sample, at: int) -> str:
    said = " ".join(sample.classes[int(one.argmax())] for one in sample.said(at).values())
    return f"{sample.classes[int(sample.labels[at])]} → {said}"
