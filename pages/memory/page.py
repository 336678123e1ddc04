"""What does a state of fixed size hold, and what does it forget?"""

import streamlit as st

from pages.memory.capacity import show_capacity
from pages.memory.controls import CAPACITY, OVERWRITING, TEXT, choose, choose_view
from pages.memory.generation import show_generation
from pages.memory.overwriting import show_overwriting
from pages.memory.trained import show_trained


def main() -> None:
    """Choose; say what will be forgotten, see it, and what it costs to forget nothing."""
    try:
        view, chosen = choose_view(), choose()
        show = {CAPACITY: show_capacity, OVERWRITING: show_overwriting, TEXT: show_trained}
        show.get(view, show_generation)(chosen)
    except ValueError as error:
        st.error("", icon=":material/block:")
        st.text(str(error))


main()
