"""What stands around every page: its style, a lesson's frame, what is hidden, what is said of the
address, and at the end of the side bar what can be done with any page.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from pages.shared import class_link, frame, hidden, in_class, keep, link, present, weights, who
from pages.shared.style import apply_style


def draw(page: StreamlitPage, title: str) -> None:
    """The page, alone or as a step of a lesson."""
    apply_style()
    present.apply_present()
    with keep.offered(page.url_path, title):
        notice = st.container()
        weights.begin()
        in_class.visit()
        place = frame.place_of(page.url_path)  # may go to another page
        covered, names = frame.is_covered(place), hidden.asked()
        names += [] if place is None else place.step.hide
        gone = hidden.hide(names)  # at once what can be; the rest when it is drawn
        try:
            if place is None:
                link.open_page(page.url_path)
                page.run()
            else:
                frame.show(place, page.run)
        finally:  # a page may stop where it is
            _offer(page.url_path, notice)
            hidden.hide(set(names) - gone)
            if not covered:
                hidden.tell_unknown(names)
            link.say(notice, covered=covered)


def _offer(path: str, notice: DeltaGenerator) -> None:
    """What can be done with any page, and what its server or its weights have to say."""
    class_link.offer(path)
    who.show_field()
    who.show_problem(notice)
    present.choose_present()
    weights.compare()
