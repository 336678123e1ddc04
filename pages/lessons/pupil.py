"""What a pupil sees on the page of lessons: its class, and its own words before and after."""

from collections.abc import Sequence

import streamlit as st

from core.classroom.store import EXPLANATION, MOST_CHARACTERS, Phase
from core.lessons.lesson import Lesson
from pages.shared import in_class
from pages.shared.frame import Place, go_to
from pages.shared.text import plain

TEXT, REFUSED = "class-words", "class-words-refused"
JOIN = "class-join"
ASKED = {
    "before": "Before you begin: how does such a model find an answer? In your own words.",
    "after": "Now, after what you have seen: how does such a model find an answer?",
}


def show_class(lessons: Sequence[Lesson]) -> None:
    """The class that the visitor is in, or the field to join one."""
    here = in_class.here()
    if here is None:
        return
    lesson = next((one for one in lessons if one.name == here.session.lesson), None)
    with st.container(border=True, key="class"):
        st.subheader(f"You are in class {here.session.code}", anchor=False)
        st.markdown(in_class.kept_until(here.session))
        if lesson is None:
            st.caption("Its lesson is not shipped with this copy.")
        elif st.button(f"Begin: {plain(lesson.title)}", key="class-begin", type="primary"):
            go_to(Place(lesson, 1))
        if not here.session.is_closed:
            _ask_words("after" if here.session.revealed else "before")
        st.button("Leave the class", key="class-leave", type="tertiary", on_click=in_class.leave)


def show_join() -> None:
    """The field for a class's code, for those who have no link."""
    if in_class.here() is not None:
        return
    with st.form(JOIN, border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        code = st.text_input("Code of your class", key="class-code", width=200, max_chars=20)
        if st.form_submit_button("Join", key="class-go") and code.strip():
            st.query_params[in_class.CLASS] = code.strip()
            st.rerun()


def _ask_words(phase: Phase) -> None:
    """A free text; a new one takes the place of the old."""
    kept = in_class.answers().get((EXPLANATION, phase), "")
    with st.form(f"{TEXT}-form", border=False):
        key = f"{TEXT}-{phase}"
        st.text_area(ASKED[phase], kept, max_chars=MOST_CHARACTERS, key=key)
        label = "Keep it" if not kept else "Keep it instead"
        st.form_submit_button(label, key=f"{key}-give", on_click=_keep, args=(phase, key))
    in_class.say_refused(REFUSED)
    if kept:
        st.caption(":material/check: Kept. You may change it.")


def _keep(phase: Phase, key: str) -> None:
    text = st.session_state.get(key) or ""
    in_class.attempt(REFUSED, lambda: in_class.explain(phase, text))
