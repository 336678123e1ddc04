"""Start, watch, stop, resume and compare short trainings that run in the background."""

from collections.abc import Sequence

import streamlit as st

from core import paths
from core.jobs.leftovers import left_on_disk
from core.jobs.state import Job, On, list_jobs
from core.jobs.sweeps import of_sweep
from pages.shared import bound, link, starting
from pages.shared import jobs as job_kit
from pages.training import compare, over_seeds, sweep_words, words
from pages.training.choices import PAGE, zone
from pages.training.lesson import show_lesson
from pages.training.start import show_form
from pages.training.sweep_view import show_sweep
from pages.training.watch import show_run


def main() -> None:
    """Start; one run, several, or the lesson, which also stands where there is no run yet."""
    starting.arrive(PAGE)
    on = show_form()
    jobs = _trainings()
    if jobs:
        link.known(PAGE.query, compare.QUERY, over_seeds.QUERY, over_seeds.OF)
    switch, choice = st.columns([1, 1.2], vertical_alignment="bottom")
    with switch:
        view = bound.segmented_control(
            "View",
            [words.ONE, words.COMPARE, words.LESSON],
            default=words.ONE,
            required=True,
            key=PAGE.view,
            label_visibility="collapsed",
        )
    chosen, axis, window, means = "", "steps", 1, False
    if view == words.ONE and jobs:
        with choice:
            chosen = _choose_run(jobs)
    if view == words.COMPARE:
        with choice, st.container(horizontal=True):
            axis, means = compare.choose_axis(), over_seeds.choose_means(jobs)
        choose = over_seeds.choose_groups if means else compare.choose_runs
        chosen, window = choose(jobs)

    def draw(found: Sequence[Job]) -> None:
        if means:
            over_seeds.show_means_of(found, chosen.split(","), axis=axis, window=window)
        else:
            _draw(found, view or words.ONE, chosen.split(","), axis, window, on)

    job_kit.draw_while_active(PAGE, _trainings, lambda job: job.id, draw)
    if left := left_on_disk(paths.RUNS):
        st.caption(words.left_over(left))


def _draw(
    jobs: Sequence[Job], view: str, chosen: Sequence[str], axis: str, window: int, on: On
) -> None:
    """What moves by itself."""
    looked_at = [job for run in chosen for job in jobs if job.id == run]
    sweep = of_sweep(jobs, chosen[0])
    if view == words.LESSON:
        show_lesson(jobs, on)
    elif view == words.COMPARE:
        compare.show_comparison(looked_at, axis=axis, window=window)
    elif sweep:
        show_sweep(sweep)
    elif looked_at:
        show_run(looked_at[0])
    else:
        show_lesson(jobs, on)


def _trainings() -> list[Job]:
    return list_jobs(paths.RUNS)


def _choose_run(jobs: Sequence[Job]) -> str:
    """Which run or sweep; at first what is running, or else the newest."""
    newest = next((job for job in jobs if job.state == "running"), jobs[0])
    first = newest.id if newest.sweep is None else newest.sweep.id
    labels = sweep_words.labels(jobs, zone())
    return job_kit.choose(PAGE, "Run", labels, first=first, what="training")


main()
