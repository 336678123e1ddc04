"""One run: how it stands, its curves, its latest answer, its log, and what can be done with it."""

import shlex
import time

import streamlit as st

from core import paths
from core.jobs.estimate import seconds_ahead
from core.jobs.folder import log_tail
from core.jobs.state import Job
from pages.shared.text import plain
from pages.training import actions, data, words
from pages.training.charts import show_one
from pages.training.files import show_files

N_LOG_LINES = 12


def show_run(job: Job) -> None:
    """From the state down to the log."""
    heading, buttons = st.columns([2.2, 1], vertical_alignment="bottom")
    with heading:
        st.markdown(f"##### {plain(job.name)}: {plain(words.state(job, now=time.time()))}")
    with buttons:
        actions.show_actions(job)
    st.progress(min(max(job.progress, 0.0), 1.0), text=plain(words.progress(job)))
    if job.message:
        show = st.error if job.state == "failed" else st.info
        show(plain(job.message), icon=":material/info:")
    if job.state == "queued":
        _tell_wait(job)
    if asked := words.sample(job):
        st.markdown(asked)
    shown = show_one(job)
    if job.state == "finished":
        actions.offer_to_keep(job)
    show_files(*shown)
    _show_log(job)


def _tell_wait(job: Job) -> None:
    before = [other for other in data.everything() if other.is_active and _is_before(other, job)]
    seconds = seconds_ahead(before, job.device or "")
    if before and seconds:
        st.markdown(f"The jobs before it need about {words.duration(seconds)}.")


def _is_before(other: Job, job: Job) -> bool:
    if other.state != "queued":
        return other.id != job.id
    return (other.place or 0) < (job.place or 0)


def _show_log(job: Job) -> None:
    with st.expander("Log and settings", expanded=job.state == "failed"):
        lines = log_tail(paths.RUNS / job.id, n_lines=N_LOG_LINES)
        st.code("\n".join(lines) or "(nothing yet)", language=None, wrap_lines=True)
        if job.spec is not None:
            told = None if job.status is None else job.status.n_steps
            command = shlex.join(["python", "-m", "core", *job.spec.arguments(told)])
            st.markdown("The same training from a terminal:")
            st.code(command, language="bash", wrap_lines=True)
        st.markdown(f"Folder: {plain(f'checkpoints/runs/{job.id}')}")
