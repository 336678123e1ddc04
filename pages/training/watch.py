"""One run: how it stands, its curves, its latest answer, its log, and what can be done with it."""

import shlex
import time
from functools import partial

import streamlit as st

from core import paths
from core.jobs.estimate import seconds_ahead
from core.jobs.folder import log_tail
from core.jobs.keep import keep, kept_as, suggested_name
from core.jobs.state import Job
from pages.shared import cluster_words, place, who
from pages.shared import jobs as job_kit
from pages.shared.text import plain
from pages.training import words
from pages.training.charts import show_files, show_one
from pages.training.choices import PAGE, zone
from pages.training.device import choose_again, chosen_again, places_again

N_LOG_LINES = 12


def show_run(job: Job) -> None:
    """From the state down to the log."""
    devices = places_again(job)
    widths = [1.3 if devices else 2.2, 1.0]
    heading, buttons = st.columns(widths, vertical_alignment="bottom")
    with heading:
        state = words.state(job, now=time.time(), zone=zone())
        st.markdown(f"##### {plain(job.name)}: {plain(state)}")
    with buttons:
        _show_actions(job, devices)
    st.progress(min(max(job.progress, 0.0), 1.0), text=plain(words.progress(job)))
    if job.message:
        show = st.error if job.state == "failed" else st.info
        show(plain(job.message), icon=":material/info:")
    if where := cluster_words.told(job):
        st.caption(plain(where))
    if job.state == "queued" and job.there is None:
        _tell_wait(job)
    if sample := words.sample(job):
        st.markdown(sample)
    shown = show_one(job)
    if job.state == "finished":
        _offer_to_keep(job)
    show_files(*shown)
    _show_log(job)


def _show_actions(job: Job, devices: list[str]) -> None:
    """The buttons of one job; those that others might regret ask first."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        if job.is_active:
            _ask_to_stop(job)
        if job.can_resume:
            key, note = f"training-resume-{job.id}", "It goes on from its last saved step."
            choose_again(job, devices)
            again = partial(chosen_again, job)
            job_kit.resume_button(PAGE, job, "Resume", key=key, note=note, device=again)
        if not job.is_active:
            _ask_to_remove(job)
    job_kit.say_refused(job, "stop" if job.is_active else "remove")


def _ask_to_stop(job: Job) -> None:
    refused = bool(who.refusal("stop", job))
    disabled = job.state == "stopping" or refused
    with st.popover("Stop", icon=":material/stop:", disabled=disabled):
        st.markdown(
            f"Stop **{plain(job.name)}**? It may be somebody else's. It is saved after its step "
            "and can be resumed."
        )
        stop, key = (lambda: job_kit.stop(job)), f"training-stop-{job.id}"
        job_kit.button(PAGE, "Yes, stop it", stop, key=key, type="primary", disabled=refused)


def _ask_to_remove(job: Job) -> None:
    refused = bool(who.refusal("remove", job))
    with st.popover("Remove", icon=":material/delete:", disabled=refused):
        st.markdown(
            f"Remove **{plain(job.name)}** with all that it trained? It may be somebody else's, "
            "and it cannot be brought back. Checkpoints made from it stay."
        )
        remove, key = (lambda: job_kit.remove(PAGE, job)), f"training-remove-{job.id}"
        job_kit.button(PAGE, "Yes, remove it", remove, key=key, type="primary", disabled=refused)


def _offer_to_keep(job: Job) -> None:
    """A finished job as a checkpoint; once it is one, the way to it."""
    names = kept_as(paths.RUNS, job.id, checkpoints=paths.CHECKPOINTS)
    for name in names:
        st.page_link(
            "pages/attention/page.py",
            label=f"Ask **{plain(name)}** and look at its heads",
            icon=":material/grid_on:",
            query_params={"checkpoint": name},
        )
    if names:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"training-keep-name-{job.id}"
        st.text_input("Name of the checkpoint", suggested_name(job.name), key=key, width=300)
        job_kit.button(
            PAGE,
            "Keep as checkpoint",
            lambda: _keep(job, key),
            key=f"training-keep-{job.id}",
            icon=":material/bookmark_add:",
            disabled=bool(who.refusal("keep", job)),
            help="A copy beside the shipped checkpoints; the attention page has it at once.",
        )
    job_kit.say_refused(job, "keep")


def _keep(job: Job, key: str) -> None:
    who.demand("keep", job)
    keep(paths.RUNS, job.id, st.session_state[key], checkpoints=paths.CHECKPOINTS)


def _tell_wait(job: Job) -> None:
    others = [other for other in job_kit.all_jobs() if other.is_active and other.there is None]
    before = [other for other in others if _is_before(other, job)]
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
            n_steps = None if job.status is None else job.status.n_steps
            on = ["--on", job.on] if job.there is not None else []
            parts = ["python", "-m", "core", *job.spec.arguments(n_steps), *on]
            command = shlex.join(parts)
            st.markdown("The same training from a terminal:")
            st.code(command, language="bash", wrap_lines=True)
        place.show_submitted(job)
        st.markdown(f"Folder: {plain(f'checkpoints/runs/{job.id}')}")
