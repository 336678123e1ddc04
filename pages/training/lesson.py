"""What pretraining buys: one button, two short runs of one model, one sentence at the end."""

import time
from collections.abc import Sequence

import streamlit as st

from core.figures.template import Figure
from core.jobs.curves import result
from core.jobs.lesson import lesson_runs, lesson_specs
from core.jobs.spec import TrainSpec
from core.jobs.state import Job
from pages.shared import jobs as job_kit
from pages.shared.text import plain
from pages.training import words
from pages.training.charts import Rows, Shown, show_answers, show_files
from pages.training.choices import PAGE

STORY = (
    "The same small model twice: one sees only questions with their answers, the other first reads "
    "sentences about everybody. Then both are asked about people whose question neither has seen."
)


def show_lesson(jobs: Sequence[Job]) -> None:
    """The story and the button, what came out, the two curves on one scale."""
    st.markdown("##### What does pretraining buy?")
    st.markdown(STORY)
    specs = lesson_specs()
    runs = lesson_runs(jobs, specs)
    _offer(specs, runs)
    finished = [run for run in runs if run is not None and run.state == "finished"]
    if len(finished) == len(runs):
        st.markdown(words.lesson_verdict(finished))
    measured: dict[str, Rows] = {}
    charts: dict[str, Figure] = {}
    for place, spec, run in zip(st.columns(2), specs, runs, strict=True):
        with place:
            rows, drawn = _show(spec, run)
        measured |= rows
        charts |= drawn
    show_files(measured, charts)


def _offer(specs: Sequence[TrainSpec], runs: Sequence[Job | None]) -> None:
    minutes = sum(spec.minutes or 0 for spec in specs)
    if any(run is not None and run.is_active for run in runs):
        reason = "The lesson is running already, here or in another browser."
    else:
        reason = job_kit.obstacle() or job_kit.too_much(lambda: specs)
    st.button(
        f"Start both runs ({minutes:g} minutes of training, one after the other)",
        type="primary",
        icon=":material/play_arrow:",
        key="training-lesson",
        on_click=job_kit.begin,
        args=(PAGE, specs, words.LESSON),
        disabled=reason is not None,
    )
    if reason is not None:
        st.caption(plain(reason))


def _show(spec: TrainSpec, run: Job | None) -> Shown:
    title = spec.name.partition(": ")[2]
    st.markdown(f"**{title[0].upper()}{title[1:]}** · {spec.minutes:g} min · `{spec.preset}`")
    if run is None:
        st.markdown("Not started yet.")
        return {}, {}
    st.progress(min(run.progress, 1.0), text=plain(words.state(run, now=time.time())))
    found = result(run, "held_out")
    figure = "" if found is None else f": {words.share(found)}"
    shown = show_answers(run, title=f"Right answers{figure}")
    if sample := words.sample(run):
        st.markdown(sample)
    return shown
