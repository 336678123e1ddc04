"""What a click does: start, stop, resume, remove, keep. Errors are said at the next drawing."""

from collections.abc import Callable, Sequence

import streamlit as st

from core import paths
from core.jobs import control
from core.jobs.keep import keep, kept_as, suggested_name
from core.jobs.launcher import LocalLauncher
from core.jobs.spec import TrainSpec
from core.jobs.state import Job
from pages.shared.text import plain

SAID, RUN, VIEW, QUERY = "training-said", "training-run", "training-view", "job"


def obstacle() -> str | None:
    """Why no job can be started here."""
    return LocalLauncher().obstacle()


def tried(act: Callable[[], None]) -> None:
    """Do it; what is refused is remembered as one sentence."""
    try:
        act()
    except (ValueError, OSError) as error:
        st.session_state.setdefault(SAID, []).append(str(error))


def say() -> None:
    """The sentences of refused clicks, once."""
    for text in st.session_state.pop(SAID, []):
        st.error(plain(text), icon=":material/block:")


def begin(specs: Sequence[TrainSpec], view: str) -> None:
    """Put jobs into the queue; the last of them is looked at."""

    def start() -> None:
        for spec in specs:
            st.session_state[RUN] = control.start(paths.RUNS, spec, LocalLauncher())
        if st.session_state.get(VIEW) != view:
            st.session_state[VIEW] = view

    tried(start)


def show_actions(job: Job) -> None:
    """The buttons of one job; those that others might regret ask first."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        if job.is_active:
            _ask_to_stop(job)
        if job.can_resume:
            reason = obstacle()
            st.button(
                "Resume",
                icon=":material/play_arrow:",
                key=f"training-resume-{job.id}",
                on_click=tried,
                args=(lambda: control.resume(paths.RUNS, job.id, LocalLauncher()),),
                disabled=reason is not None,
                help=reason or "It goes on from its last saved step.",
            )
        if not job.is_active:
            _ask_to_remove(job)


def _ask_to_stop(job: Job) -> None:
    with st.popover("Stop", icon=":material/stop:", disabled=job.state == "stopping"):
        st.markdown(
            f"Stop **{plain(job.name)}**? It may be somebody else's. It is saved after its step "
            "and can be resumed."
        )
        st.button(
            "Yes, stop it",
            type="primary",
            key=f"training-stop-{job.id}",
            on_click=tried,
            args=(lambda: _stop(job.id),),
        )


def _stop(job_id: str) -> None:
    control.stop(paths.RUNS, job_id)


def _ask_to_remove(job: Job) -> None:
    with st.popover("Remove", icon=":material/delete:"):
        st.markdown(
            f"Remove **{plain(job.name)}** with all that it trained? It may be somebody else's, "
            "and it cannot be brought back. Checkpoints made from it stay."
        )
        st.button(
            "Yes, remove it",
            type="primary",
            key=f"training-remove-{job.id}",
            on_click=tried,
            args=(lambda: _remove(job.id),),
        )


def _remove(job_id: str) -> None:
    control.remove(paths.RUNS, job_id)
    st.session_state.pop(RUN, None)
    st.query_params.pop(QUERY, None)


def offer_to_keep(job: Job) -> None:
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
        st.button(
            "Keep as checkpoint",
            icon=":material/bookmark_add:",
            key=f"training-keep-{job.id}",
            on_click=tried,
            args=(lambda: _keep(job.id, key),),
            help="A copy beside the shipped checkpoints; the attention page has it at once.",
        )


def _keep(job_id: str, key: str) -> None:
    keep(paths.RUNS, job_id, st.session_state[key], checkpoints=paths.CHECKPOINTS)
