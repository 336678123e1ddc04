"""When does linear attention pay off: time, memory and error against the length of a text.

A stored machine is on screen at once, without torch. A measurement runs as a job; only while one is
active the drawing repeats itself every few seconds.
"""

import streamlit as st

from pages.runtime import actions, data, words
from pages.runtime.controls import Looked, choose
from pages.runtime.errors import show_errors
from pages.runtime.form import show_form
from pages.runtime.growth import show_growth
from pages.runtime.questions import show_questions

POLL_SECONDS = 2.0
Known = tuple[bool, tuple[str, ...]]


def main() -> None:
    """Measure on the left; what was measured, how far off it is, and the exercise's questions."""
    show_form()
    view, looked = choose()
    if view == words.ERRORS:
        show_errors()
    elif view == words.QUESTIONS:
        show_questions()
    else:
        known = _known()
        repeat = POLL_SECONDS if known[0] else None
        st.fragment(_draw, run_every=repeat)(looked, known)


def _draw(looked: Looked | None, known: Known) -> None:
    """What moves by itself."""
    actions.insist(data.benches())
    if _known() != known:
        st.rerun()
    actions.say()
    if looked is None:
        st.info(words.EMPTY, icon=":material/timer:")
    else:
        show_growth(looked)


def _known() -> Known:
    """What decides whether to poll, and what can be chosen."""
    jobs = data.benches()
    return any(job.is_active for job in jobs), tuple(f"{job.id} {job.state}" for job in jobs)


main()
