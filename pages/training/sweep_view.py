"""One sweep: how its runs stand, their means, and what is done to all of them."""

import time
from collections.abc import Sequence

import streamlit as st

from core.figures.training import MOST_CURVES
from core.jobs.over_seeds import groups_of
from core.jobs.state import Job
from pages.shared import sweep_state
from pages.shared.sweep_actions import show_actions
from pages.shared.text import plain
from pages.training import sweep_words, words
from pages.training.choices import PAGE
from pages.training.over_seeds import show_groups

SMOOTHING = 10  # lines of the loss: the noise of a line is not that of a seed


def show_sweep(jobs: Sequence[Job]) -> None:
    """From how many are done down to every run; `jobs` are all of one sweep."""
    if (sweep := jobs[0].sweep) is None:
        return
    heading, buttons = st.columns([2.2, 1], vertical_alignment="bottom")
    with heading:
        st.markdown(f"##### {plain(sweep.name)}: {plain(sweep_state.state(jobs))}")
    with buttons:
        show_actions(
            PAGE,
            jobs,
            sweep.id,
            prefix="training-",
            kept="Each is saved after its step and can be resumed.",
            left="Those that have not finished go on from their last saved step.",
            remains="Checkpoints made from them stay.",
        )
    share, text = sweep_state.progress(jobs)
    st.progress(min(max(share, 0.0), 1.0), text=plain(text))
    groups = groups_of(jobs)
    if len(groups) > MOST_CURVES:
        st.caption(f"The first {MOST_CURVES} of {len(groups)}; Compare shows any of them.")
    show_groups(groups[:MOST_CURVES], window=SMOOTHING)
    with st.expander("Every run", expanded=not any(job.state == "finished" for job in jobs)):
        st.markdown(words.markdown_table(*sweep_words.runs(jobs, now=time.time())))
        for message in dict.fromkeys(f"{job.name}: {job.message}" for job in jobs if job.message):
            st.caption(plain(message))
