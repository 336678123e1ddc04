"""What is done to all jobs of a sweep: stop, resume, remove."""

from collections.abc import Callable, Sequence

import streamlit as st

from core import paths
from core.jobs.state import Job
from core.jobs.sweeps import remove_sweep, stop_sweep
from core.server import Action
from pages.shared import jobs as job_kit
from pages.shared import who
from pages.shared.jobs import JobPage

ICONS = {"stop": ":material/stop:", "remove": ":material/delete:"}


def show_actions(
    page: JobPage,
    jobs: Sequence[Job],
    sweep_id: str,
    *,
    prefix: str,
    kept: str,
    left: str,
    remains: str = "",
) -> None:
    """The buttons; what others might regret asks first. `kept` says what a stop leaves, `left` what
    is then still to do, `remains` what no removing takes away.
    """
    active = any(job.is_active for job in jobs)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if active:
            stop = _all(page, jobs, "stop", lambda: stop_sweep(paths.RUNS, sweep_id))
            note = f"Stop all {len(jobs)}? {kept}"
            _ask(page, jobs, "stop", note, stop, key=f"{prefix}stop-{sweep_id}")
        if any(job.can_resume for job in jobs):
            refused = _refusal("resume", jobs)
            job_kit.button(
                page,
                "Resume all",
                lambda: _resume(jobs),
                key=f"{prefix}resume-{sweep_id}",
                icon=":material/play_arrow:",
                disabled=bool(refused),
                help=refused or left,
            )
        if not active:
            remove = _all(page, jobs, "remove", lambda: remove_sweep(paths.RUNS, sweep_id))
            note = (
                f"Remove all {len(jobs)} with what they trained? They cannot be brought back. "
                f"{remains}"
            )
            _ask(page, jobs, "remove", note, remove, key=f"{prefix}remove-{sweep_id}")
    who.say(_refusal("stop" if active else "remove", jobs))


def _ask(
    page: JobPage,
    jobs: Sequence[Job],
    action: Action,
    note: str,
    act: Callable[[], None],
    *,
    key: str,
) -> None:
    refused = bool(_refusal(action, jobs))
    with st.popover(f"{action.capitalize()} all", icon=ICONS[action], disabled=refused):
        st.markdown(note)
        label = f"Yes, {action} them"
        job_kit.button(page, label, act, key=key, type="primary", disabled=refused)


def _all(
    page: JobPage, jobs: Sequence[Job], action: Action, act: Callable[[], object]
) -> Callable[[], None]:
    """The same to all of them, if the visitor may; what is removed is looked at no more."""

    def do() -> None:
        for job in jobs:
            who.demand(action, job)
        act()
        if action == "remove":
            job_kit.look_at_another(page)

    return do


def _resume(jobs: Sequence[Job]) -> None:
    for job in jobs:
        if job.can_resume:
            job_kit.resume(job)


def _refusal(action: Action, jobs: Sequence[Job]) -> str:
    """Why the visitor may not do this to all of them; "" if they may."""
    return next(filter(None, (who.refusal(action, job) for job in jobs)), "")
