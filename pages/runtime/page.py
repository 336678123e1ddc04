"""When does linear attention pay off: time, memory and error against the length of a text, over a
whole text or for one token more.

A stored machine is on screen at once, without torch. A measurement runs as a job; only while one is
active the drawing repeats itself every few seconds.
"""

from collections.abc import Sequence

import streamlit as st

from core.jobs.state import Job
from pages.runtime import words
from pages.runtime.controls import PAGE, benches, choose
from pages.runtime.errors import show_errors
from pages.runtime.form import show_form
from pages.runtime.growth import show_growth
from pages.runtime.questions import show_questions
from pages.shared import jobs as job_kit
from pages.shared import starting


def main() -> None:
    """Measure; what was measured, how far off it is, and the exercise's questions."""
    starting.arrive(PAGE)
    view, looked = choose()
    show_form(view)

    def draw(_: Sequence[Job]) -> None:
        if looked is None:
            st.info(words.EMPTY, icon=":material/timer:")
        else:
            show_growth(looked)

    if view == words.ERRORS:
        show_errors()
    elif view == words.QUESTIONS:
        show_questions()
    else:  # of either question
        job_kit.draw_while_active(PAGE, benches, lambda job: f"{job.id} {job.state}", draw)


main()
