"""Listen to a sound with a recogniser: what it writes, and where it listens as it writes."""

import streamlit as st

from pages.listen import words
from pages.listen.ask import show_ask
from pages.listen.beside import show_beside
from pages.listen.controls import choose, hear
from pages.listen.heads import show_measures
from pages.listen.picture import show_alone, show_picture
from pages.listen.written import show_letters, show_sound, show_written


def main() -> None:
    """Choose on the left; text, sound and one head, the answer, all heads, a second recogniser."""
    try:
        chosen = choose()
        given = chosen.given
        if given is None:
            st.subheader("Listen")
            st.info(
                "Give it a sound: type a sentence, upload a WAV or speak.", icon=":material/mic:"
            )
        elif chosen.source is None:
            st.info(words.NO_RECOGNISER, icon=":material/hearing:")
            show_sound(given)
            show_alone(given)
        else:
            heard = hear(chosen.source, given, chosen.off)
            show_written(chosen, given, heard)
            show_picture(chosen, given, heard)
            show_letters(heard)
            show_ask(heard)
            show_measures(heard)
            show_beside(chosen, given, heard)
    except ValueError as error:
        st.subheader("Listen")
        st.error("", icon=":material/block:")
        st.text(str(error))


main()
