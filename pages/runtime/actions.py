"""What a click does: start, stop, go on, remove. Errors are said at the next drawing."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import streamlit as st

from core import paths
from core.bench.spec import BenchSpec
from core.jobs import control
from core.jobs.bench_job import bench_job
from core.jobs.launcher import LocalLauncher
from core.jobs.state import Job
from pages.runtime import words
from pages.shared.text import plain

SAID, SOURCE, VIEW, QUERY = "rt-said", "rt-source", "rt-view", "bench"


def obstacle() -> str | None:
    """Why nothing can be started here."""
    return LocalLauncher().obstacle()


def say() -> None:
    """The sentences of refused clicks, once."""
    for text in st.session_state.pop(SAID, []):
        st.error(plain(text), icon=":material/block:")


def begin(spec: BenchSpec) -> None:
    """Put a measurement into the queue, and look at it."""

    def start() -> None:
        st.session_state[SOURCE] = control.start(paths.RUNS, bench_job(spec), LocalLauncher())
        if st.session_state.get(VIEW) != words.GROWTH:
            st.session_state[VIEW] = words.GROWTH

    _tried(start)


def insist(jobs: Sequence[Job]) -> None:
    """Whoever watches helps to end what was asked to stop."""
    for job in jobs:
        if job.state == "stopping":
            with suppress(ValueError, OSError):  # it ended just now, or the disk is full
                control.stop(paths.RUNS, job.id)


def show_actions(job: Job) -> None:
    """The buttons of one measurement."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        if job.is_active:
            _button("Stop", "stop", job, lambda: _stop(job.id), "What is measured is kept.")
        if job.can_resume:
            _button(
                "Go on",
                "play_arrow",
                job,
                lambda: control.resume(paths.RUNS, job.id, LocalLauncher()),
                "Only what is not measured yet.",
            )
        if not job.is_active:
            _button("Remove", "delete", job, lambda: _remove(job.id), "Its points are lost.")


def _button(label: str, icon: str, job: Job, act: Callable[[], None], note: str) -> None:
    reason = obstacle() if label == "Go on" else None
    st.button(
        label,
        icon=f":material/{icon}:",
        key=f"rt-{icon}-{job.id}",
        on_click=_tried,
        args=(act,),
        disabled=job.state == "stopping" or reason is not None,
        help=reason or note,
    )


def _stop(job_id: str) -> None:
    control.stop(paths.RUNS, job_id)


def _remove(job_id: str) -> None:
    control.remove(paths.RUNS, job_id)
    st.session_state.pop(SOURCE, None)
    st.query_params.pop(QUERY, None)


def _tried(act: Callable[[], None]) -> None:
    """Do it; what is refused is remembered as one sentence."""
    try:
        act()
    except (ValueError, OSError) as error:
        st.session_state.setdefault(SAID, []).append(str(error))
