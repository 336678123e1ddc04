"""What was written of the sound: its text, how sure each letter was, what is wrong with it."""

import streamlit as st

from core.figures.listening_parts import letters
from core.inspection.heard import Listened
from core.speech.marks import marked
from pages.listen import words
from pages.listen.controls import Chosen, hear
from pages.listen.sounds import Given
from pages.shared.charts import show_chart
from pages.shared.letters import show_lines
from pages.shared.text import percent, plain, whole


def show_written(chosen: Chosen, given: Given, heard: Listened) -> None:
    """The text beside the sound; below it the errors, and what all heads together had written."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"#### {plain(words.heading(heard))}", width="stretch")
        show_sound(given)
    found = None if given.said is None else marked(given.said, heard.text)
    said = [words.sureness(heard)]
    if found is not None:
        said.append(words.errors(given, found))
    place = st.container()
    if found is not None and found.edits and given.said:
        lines, place = st.columns([1, 1.1], gap="medium", vertical_alignment="center")
        under = (f"said  {found.said}", f"heard {found.heard}", f"      {found.marks}")
        show_lines(lines, under, name="What was said and what was heard, letter under letter")
    place.markdown(whole(" ".join(said)))
    if chosen.off.heads and chosen.source is not None:
        usual = hear(chosen.source, given)
        st.markdown(
            f":material/toggle_off: With every head on: {plain(words.heading(usual))}, "
            f"{percent(usual.probability)}."
        )


def show_sound(given: Given) -> None:
    """The sound itself, to be heard."""
    st.audio(given.wav, format="audio/wav", alt=f"Sound: {given.title}", width=300)


def show_letters(heard: Listened) -> None:
    """A bar a letter."""
    others = [
        ", ".join(f"{label} {percent(share)}" for label, share in one.next_best)
        for one in heard.characters
    ]
    probabilities = [one.probability for one in heard.characters]
    st.markdown("**How likely each character was**")
    show_chart(
        letters(heard.labels, probabilities, others),
        alt=f"The probability of each character of {words.heading(heard)}",
    )
    if heard.ctc_text is not None:
        said = f"“{heard.ctc_text}”" if heard.ctc_text else "nothing"
        st.markdown(f"The encoder alone (CTC) says: {plain(said)}")
    st.caption(whole(words.proof(heard)))
