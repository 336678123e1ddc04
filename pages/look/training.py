"""Training the networks, here or on a cluster: rates and seeds as one job, watched and shown."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core import paths
from core.jobs.look_job import look_job, sweep_of
from core.jobs.spec import n_cores
from core.jobs.state import Job, On, list_looks
from core.pictures.sources import sources
from core.pictures.sweep import Sweep
from core.pictures.sweep_spec import SweepSpec, seconds_of
from pages.look import sweep_words as words
from pages.look.controls import PREFIX
from pages.shared import bound, cluster_words, place
from pages.shared import jobs as job_kit
from pages.shared.jobs import JobPage
from pages.shared.text import plain, whole

PAGE = JobPage(
    refusals=f"{PREFIX}said", chosen=f"{PREFIX}job", view=f"{PREFIX}view", query=f"{PREFIX}job"
)
RECORDED = "recorded"


def choose_sweep(recorded: Sweep | None) -> Sweep | None:
    """The recorded trainings, or those of a job that has come to its end here."""
    done = {job.id: job.name for job in _jobs() if job.state == "finished"}
    if not done:
        return recorded
    options = [*([] if recorded is None else [RECORDED]), *done]
    chosen = bound.selectbox(
        "Trainings shown below",
        options,
        format_func=lambda key: done.get(key, key),
        key=f"{PREFIX}sweep",
        help="What was recorded with this project, or what was trained from here.",
    )
    return recorded if chosen == RECORDED else sweep_of(paths.RUNS / chosen)


def show_training() -> None:
    """The form, and the jobs that there are."""
    with st.expander("Train them", key=f"{PREFIX}training"):
        on = place.choose(f"{PREFIX}on")
        choice = _choose()
        spec, can_start = job_kit.offered(
            lambda: SweepSpec(**choice), lambda made: [look_job(made)]
        )
        if spec is not None:
            st.caption(whole(words.expected(len(spec.cases), seconds_of(spec) / spec.threads)))
        st.button(
            "Train",
            type="primary",
            icon=":material/play_arrow:",
            key=f"{PREFIX}start",
            on_click=_begin,
            args=(spec, on),
            disabled=not can_start,
        )
        if spec is not None:
            place.show_script(on, spec.threads)
        job_kit.draw_while_active(PAGE, _jobs, lambda job: f"{job.id} {job.state}", _draw)


def _choose() -> dict[str, Any]:
    left, right = st.columns(2)
    with left:
        source = bound.selectbox("Pictures", list(sources()), key=f"{PREFIX}source")
        seeds = bound.number_input("Seeds", value=5, step=1, key=f"{PREFIX}seeds")
    with right:
        threads = bound.number_input(
            f"Threads (of {n_cores()})", value=1, step=1, key=f"{PREFIX}threads"
        )
        epochs = bound.number_input("Epochs", value=12, step=1, key=f"{PREFIX}epochs")
    return {"source": source, "seeds": seeds, "epochs": epochs, "threads": threads}


def _begin(spec: SweepSpec, on: On) -> None:
    """Into the queue, behind whatever else is trained or measured."""
    job_kit.attempt(PAGE, lambda: job_kit.begin(PAGE, [look_job(spec)], "", on))


def _jobs() -> list[Job]:
    return list_looks(paths.RUNS)


def _draw(jobs: Sequence[Job]) -> None:
    for job in jobs:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(whole(words.job_line(plain(job.name), job.state, job.progress)))
            job_kit.stop_go_remove(
                PAGE,
                job,
                prefix=PREFIX,
                kept="What is trained is kept.",
                left="Only what is not trained yet.",
                lost="Its trainings are lost.",
            )
        job_kit.say_refused(job, "stop" if job.is_active else "remove")
        waiting = cluster_words.waits(job, None) if job.state == "queued" else ""
        for text in filter(None, (cluster_words.told(job), waiting, job.message)):
            st.caption(plain(text))
