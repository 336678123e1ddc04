"""A second recogniser hears the same: both texts, and the most diagonal head of each."""

import streamlit as st

from core.figures.listening import sound_map
from core.inspection.heads import head_name
from core.inspection.heard import Listened
from core.inspection.listened import diagonals, most_diagonal
from core.speech.features import band_hertz
from core.speech.marks import marked
from pages.listen import words
from pages.listen.controls import Chosen, hear
from pages.listen.picture import drawn
from pages.listen.sounds import SECONDS_A_FRAME, Given
from pages.shared.charts import show_chart
from pages.shared.loading import shipped
from pages.shared.text import percent, plain, whole


def show_beside(chosen: Chosen, given: Given, heard: Listened) -> None:
    """Two columns; nothing where there is no second recogniser."""
    if chosen.other is None or chosen.source is None:
        return
    other = hear(shipped(chosen.other, None), given)
    st.markdown("#### The same sound, two decoders")
    sides = zip(st.columns(2, gap="medium"), (chosen.source.name, chosen.other), (heard, other),
                strict=True)  # fmt: skip
    for place, name, found in sides:
        with place:
            _show_side(name, given, found)


def _show_side(name: str, given: Given, heard: Listened) -> None:
    error = marked(given.said, heard.text).error if given.said else None
    told = "" if error is None else f", character error {percent(error)}"
    st.markdown(
        f"**{plain(name)}**: {plain(words.heading(heard))}  \n"
        f"{whole(f'Probability {percent(heard.probability)}{told}')}"
    )
    at = most_diagonal(heard)
    if at is None:
        st.caption("It looks at no part of the sound.")
        return
    head = drawn(heard, at, len(heard.labels) // 2)
    said = f"{head_name(*at)} of {name}, {percent(diagonals(heard)[at].share)} near the diagonal"
    show_chart(sound_map(heard.frames, band_hertz(), SECONDS_A_FRAME, head), alt=said)
    st.caption(whole(said))
