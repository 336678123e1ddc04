"""One sweep: how its runs stand, their means, and what is done to all of them."""

import time
from collections.abc import Callable, Sequence

import streamlit as st

from core import paths
from core.figures.training import MOST_CURVES
from core.jobs.over_seeds import groups_of
from core.jobs.state import Job
from core.jobs.sweeps import remove_sweep, stop_sweep
from core.server import Action
from pages.shared import jobs as job_kit
from pages.shared import who
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
        st.markdown(f"##### {plain(sweep.name)}: {plain(sweep_words.state(jobs))}")
    with buttons:
        _show_actions(jobs, sweep.id)
    share, text = sweep_words.progress(jobs)
    st.progress(min(max(share, 0.0), 1.0), text=plain(text))
    groups = groups_of(jobs)
    if len(groups) > MOST_CURVES:
        st.caption(f"The first {MOST_CURVES} of {len(groups)}; Compare shows any of them.")
    show_groups(groups[:MOST_CURVES], window=SMOOTHING)
    with st.expander("Every run", expanded=not any(job.state == "finished" for job in jobs)):
        st.markdown(words.markdown_table(*sweep_words.runs(jobs, now=time.time())))
        for message in dict.fromkeys(f"{job.name}: {job.message}" for job in jobs if job.message):
            st.caption(plain(message))


def _show_actions(jobs: Sequence[Job], sweep_id: str) -> None:
    """The buttons; what others might regret asks first."""
    active = any(job.is_active for job in jobs)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if active:
            note = f"Stop all {len(jobs)}? Each is saved after its step and can be resumed."
            stop = _all(jobs, "stop", lambda: stop_sweep(paths.RUNS, sweep_id))
            _ask(jobs, "Stop all", "stop", note, stop, key=f"training-stop-{sweep_id}")
        if any(job.can_resume for job in jobs):
            refused = _refusal("resume", jobs)
            job_kit.button(
                PAGE,
                "Resume all",
                lambda: _resume(jobs),
                key=f"training-resume-{sweep_id}",
                icon=":material/play_arrow:",
                disabled=bool(refused),
                help=refused or "Those that have not finished go on from their last saved step.",
            )
        if not active:
            note = (
                f"Remove all {len(jobs)} with what they trained? They cannot be brought back. "
                "Checkpoints made from them stay."
            )
            remove = _all(jobs, "remove", lambda: remove_sweep(paths.RUNS, sweep_id))
            _ask(jobs, "Remove all", "remove", note, remove, key=f"training-remove-{sweep_id}")
    who.say(_refusal("stop" if active else "remove", jobs))


def _ask(
    jobs: Sequence[Job],
    label: str,
    action: Action,
    note: str,
    act: Callable[[], None],
    *,
    key: str,
) -> None:
    icon = {"stop": ":material/stop:", "remove": ":material/delete:"}[action]
    refused = bool(_refusal(action, jobs))
    with st.popover(label, icon=icon, disabled=refused):
        st.markdown(note)
        label = f"Yes, {action} them"
        job_kit.button(PAGE, label, act, key=key, type="primary", disabled=refused)


def _all(jobs: Sequence[Job], action: Action, act: Callable[[], object]) -> Callable[[], None]:
    """The same to all of them, if the visitor may; what is removed is looked at no more."""

    def do() -> None:
        for job in jobs:
            who.demand(action, job)
        act()
        if action == "remove":
            job_kit.look_at_another(PAGE)

    return do


def _resume(jobs: Sequence[Job]) -> None:
    for job in jobs:
        if job.can_resume:
            job_kit.resume(job)


def _refusal(action: Action, jobs: Sequence[Job]) -> str:
    """Why the visitor may not do this to all of them; "" if they may."""
    return next(filter(None, (who.refusal(action, job) for job in jobs)), "")
