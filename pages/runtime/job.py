"""How the measurement that is looked at stands, if it is a job, and its buttons."""

import streamlit as st

from core.jobs.state import Job
from pages.runtime import controls, words
from pages.shared import cluster_words
from pages.shared.text import plain

STATES = {
    "queued": "waits for its turn",
    "running": "measuring",
    "stopping": "is being stopped",
    "stopped": "was stopped",
    "lost": "was lost",
    "failed": "failed",
    "finished": "measured",
}


def show_job(job: Job) -> None:
    """Name, state and buttons; progress while it runs."""
    heading, buttons = st.columns([2.2, 1], vertical_alignment="bottom")
    with heading:
        st.markdown(f"**{plain(job.name)}**: {plain(_state(job))}")
    with buttons:
        controls.show_actions(job)
    if job.is_active:
        st.progress(min(max(job.progress, 0.0), 1.0))
    if where := cluster_words.told(job):
        st.caption(plain(where))
    if job.message:
        show = st.error if job.state == "failed" else st.info
        show(plain(job.message), icon=":material/info:")


def _state(job: Job) -> str:
    """How a measurement stands, with what it does now."""
    status = job.status
    text = STATES[job.state]
    if job.state == "queued" and job.place is not None:
        text = f"waits for its turn ({job.place}. in line)"
    if job.state == "queued" and job.there is not None:
        text = cluster_words.waits(job, None)
    if status is None or job.state not in ("running", "stopping"):
        return text
    left = f", about {words.duration(status.seconds_left)} left" if status.seconds_left else ""
    now = status.activity.removeprefix("measuring: ")
    return f"{text}: {now}{left}"
