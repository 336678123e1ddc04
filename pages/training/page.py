"""Start, watch, stop, resume and compare short trainings that run in the background.

The disk is the truth. Only while a job is active the drawing repeats itself every few seconds; who
finds then that a job has come, gone or ended draws the whole page anew.
"""

from collections.abc import Sequence

import streamlit as st

from core.jobs.state import Job
from pages.shared import bound, link
from pages.shared.text import plain
from pages.training import actions, compare, data, words
from pages.training.lesson import show_lesson
from pages.training.start import show_form
from pages.training.watch import show_run

POLL_SECONDS = 2.0
Known = tuple[bool, tuple[str, ...]]


def main() -> None:
    """Start on the left; one run, several, or the lesson."""
    show_form()
    jobs = data.jobs()
    if jobs:
        link.known(actions.QUERY, compare.QUERY)
    switch, choice = st.columns([1, 1.2], vertical_alignment="bottom")
    with switch:
        view = bound.segmented_control(
            "View",
            [words.ONE, words.COMPARE, words.LESSON],
            default=words.ONE,
            required=True,
            key=actions.VIEW,
            label_visibility="collapsed",
        )
    chosen, axis, window = "", "steps", 1
    if view == words.ONE and jobs:
        with choice:
            chosen = _choose_run(jobs)
    if view == words.COMPARE:
        with choice:
            axis = compare.choose_axis()
        chosen, window = compare.choose_runs(jobs)
    known = _known(jobs)
    repeat = POLL_SECONDS if known[0] else None
    st.fragment(_draw, run_every=repeat)(view or words.ONE, chosen, axis, window, known)
    if found := data.leftovers():
        st.caption(words.left_over(found))


def _draw(view: str, chosen: str, axis: str, window: int, known: Known) -> None:
    """What moves by itself."""
    jobs = data.jobs()
    data.insist(jobs)
    if _known(jobs) != known:
        st.rerun()
    actions.say()
    looked_at = [job for run in chosen.split(",") for job in jobs if job.id == run]
    if view == words.LESSON:
        show_lesson(jobs)
    elif view == words.COMPARE:
        compare.show_comparison(looked_at, axis=axis, window=window)
    elif looked_at:
        show_run(looked_at[0])
    else:
        st.info(words.EMPTY, icon=":material/model_training:")


def _known(jobs: Sequence[Job]) -> Known:
    """What decides whether to poll, and what can be chosen."""
    return any(job.is_active for job in jobs), tuple(job.id for job in jobs)


def _choose_run(jobs: Sequence[Job]) -> str:
    """Which run; its id stands in the address."""
    known = [job.id for job in jobs]
    asked = link.named(actions.QUERY)
    wanted = asked[-1] if asked else st.session_state.get(actions.RUN)
    if asked is None and wanted is not None and wanted not in known:
        st.caption(f"There is no training {plain(wanted[:40])} any more.")
    st.session_state[actions.RUN] = wanted if wanted in known else _first(jobs)
    chosen = st.selectbox(
        "Run",
        known,
        format_func=words.labels(jobs, data.zone()).__getitem__,
        key=actions.RUN,
        label_visibility="collapsed",
        persist_state="session",
    )
    link.settle(actions.QUERY, "Run", asked, [chosen])
    st.query_params[actions.QUERY] = chosen
    return chosen


def _first(jobs: Sequence[Job]) -> str:
    """The one that runs, or else the newest."""
    return next((job for job in jobs if job.state == "running"), jobs[0]).id


main()
