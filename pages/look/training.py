"""Training the networks, here or on a cluster: a job for each seed, watched and shown together."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core import paths
from core.jobs.look_job import LookJob, look_jobs, sweep_of, sweep_of_all, title
from core.jobs.spec import n_cores
from core.jobs.state import Job, On, list_looks
from core.jobs.sweeps import of_sweep
from core.pictures.sources import sources
from core.pictures.sweep import Sweep
from core.pictures.sweep_spec import SweepSpec, seconds_of
from pages.look import sweep_words as words
from pages.look.controls import PREFIX
from pages.shared import bound, cluster_words, place, starting, sweep_state
from pages.shared import jobs as job_kit
from pages.shared.jobs import JobPage
from pages.shared.sweep_actions import show_actions
from pages.shared.text import plain, whole

PAGE = JobPage(
    refusals=f"{PREFIX}said", chosen=f"{PREFIX}job", view=f"{PREFIX}view", query=f"{PREFIX}job"
)
RECORDED = "recorded"
KEPT = "What is trained is kept."
LEFT = "Only what is not trained yet."
Asked = tuple[SweepSpec, tuple[LookJob, ...]]


def choose_sweep(recorded: Sweep | None) -> Sweep | None:
    """The recorded trainings, or those that have come to their end here. Raises ValueError for
    what cannot be put together.
    """
    done = {
        _id(jobs): jobs
        for jobs in _together(_jobs())
        if all(job.state == "finished" for job in jobs)
    }
    if not done:
        return recorded
    options = [*([] if recorded is None else [RECORDED]), *done]
    chosen = bound.selectbox(
        "Trainings shown below",
        options,
        format_func=lambda key: _name(done[key]) if key in done else key,
        key=f"{PREFIX}sweep",
        help="What was recorded with this project, or what was trained from here.",
    )
    if chosen == RECORDED:
        return recorded
    folders = [paths.RUNS / job.id for job in done[chosen]]
    return sweep_of_all(folders) if folders[1:] else sweep_of(folders[0])


def show_training() -> None:
    """The form, and the jobs that there are."""
    with st.expander("Train them", key=f"{PREFIX}training"):
        on = place.choose(f"{PREFIX}on")
        choice = _choose()
        asked, can_start = starting.offered(
            lambda: _asked(SweepSpec(**choice), on), lambda made: made[1]
        )
        if asked is not None:
            spec, jobs = asked
            seconds = seconds_of(spec) / spec.threads
            at_once = on == "slurm"
            said = words.expected(len(spec.cases), len(jobs), seconds, at_once=at_once)
            st.caption(whole(said))
        starting.start_button(
            PAGE,
            "Train",
            asked,
            lambda made: _begin(made, on),
            key=f"{PREFIX}start",
            icon=":material/play_arrow:",
            can_start=can_start,
        )
        if asked is not None:
            place.show_script(on, asked[0].threads)
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


def _asked(spec: SweepSpec, on: On) -> Asked:
    """With its jobs; those of a cluster take the GPU that its settings give a job. Raises
    ValueError.
    """
    device = "cpu" if on == "local" else place.devices(on)[-1]
    return spec, look_jobs(spec, device=device)


def _begin(asked: Asked, on: On) -> None:
    """Into the queue, behind whatever else is trained or measured."""
    spec, jobs = asked
    if len(jobs) == 1:
        starting.begin(PAGE, jobs, "", on)
    else:
        starting.begin_sweep(PAGE, jobs, "", on, name=title(spec))


def _jobs() -> list[Job]:
    return list_looks(paths.RUNS)


def _together(jobs: Sequence[Job]) -> list[list[Job]]:
    """The jobs of a sweep side by side, and each other one by itself; the newest first."""
    found: dict[str, list[Job]] = {}
    for job in jobs:
        own = [job] if job.sweep is None else of_sweep(jobs, job.sweep.id)
        found.setdefault(_id(own), own)
    return [*found.values()]


def _id(jobs: Sequence[Job]) -> str:
    return jobs[0].id if jobs[0].sweep is None else jobs[0].sweep.id


def _name(jobs: Sequence[Job]) -> str:
    return jobs[0].name if jobs[0].sweep is None else jobs[0].sweep.name


def _draw(jobs: Sequence[Job]) -> None:
    for own in _together(jobs):
        with st.container(horizontal=True, vertical_alignment="center"):
            state = own[0].state if own[0].sweep is None else sweep_state.state(own)
            progress, _ = sweep_state.progress(own)
            st.markdown(words.job_line(_name(own), state, progress))
            _show_actions(own)
        for text in dict.fromkeys(said for job in own for said in _said(job)):
            st.caption(plain(text))


def _show_actions(jobs: Sequence[Job]) -> None:
    """Of a sweep all are stopped, resumed or removed together."""
    job = jobs[0]
    if job.sweep is not None:
        show_actions(PAGE, jobs, job.sweep.id, prefix=PREFIX, kept=KEPT, left=LEFT)
        return
    job_kit.stop_go_remove(
        PAGE, job, prefix=PREFIX, kept=KEPT, left=LEFT, lost="Its trainings are lost."
    )
    job_kit.say_refused(job, "stop" if job.is_active else "remove")


def _said(job: Job) -> list[str]:
    """Where it is and why it ended; of a sweep, whose jobs wait for the same, where those run."""
    waiting = cluster_words.waits(job, None) if job.state == "queued" else ""
    told = cluster_words.told(job) if job.sweep is None or job.state == "running" else ""
    return [text for text in (told, waiting, job.message) if text]
