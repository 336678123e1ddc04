"""What a model knows and what it makes up: does it know that it does not know?"""

import streamlit as st

from core.knowledge.record import Knowledge
from pages.knowledge.controls import Chosen, choose
from pages.knowledge.examples import show_examples, show_reader
from pages.knowledge.groups import show_outcomes, show_sureness
from pages.knowledge.own import own_names, show_own
from pages.knowledge.places import show_places
from pages.knowledge.record import beside_of, known_of, offer_to_measure
from pages.knowledge.signals import show_signals


def main() -> None:
    """Choose on the left; how sure it is, what it answers, what gives it away, whose places."""
    try:
        chosen = choose()
        known = known_of(chosen)
        if known is None:
            offer_to_measure(chosen)
        else:
            _show(chosen, known)
    except ValueError as error:
        st.error("", icon=":material/block:")
        st.text(str(error))


def _show(chosen: Chosen, known: Knowledge) -> None:
    own, other = own_names(chosen), beside_of(chosen)
    show_sureness(known, own.group, other)
    show_outcomes(known, own.group, other)
    show_signals(known)
    show_places(known)
    show_reader(known)
    show_examples(known)
    show_own(chosen, known, own)


main()
