"""What pretraining buys: one button, two short runs of one model, one sentence at the end.

Until somebody trains it here, the lesson as it was recorded stands in its place.
"""

import time
from collections.abc import Sequence

import streamlit as st

from core.figures.template import Figure
from core.jobs.curves import result
from core.jobs.lesson import lesson_runs, lesson_specs
from core.jobs.recorded_lesson import read_recorded
from core.jobs.spec import TrainSpec
from core.jobs.state import Job, On
from pages.shared import jobs as job_kit
from pages.shared import starting
from pages.shared.text import plain
from pages.training import words
from pages.training.charts import STEPS, Rows, Shown, read_rows, show_answers, show_files
from pages.training.choices import PAGE

STORY = (
    "The same small model twice: one sees only questions with their answers, the other first reads "
    "sentences about everybody. Then both are asked about people whose question neither has seen."
)
RECORDED = (
    "Recorded earlier, for nobody has trained it here yet. The button trains both anew, and the "
    "curves then move by themselves."
)
FINISHED = "finished"


def show_lesson(jobs: Sequence[Job], on: On) -> None:
    """The story and the button, what came out, the two curves on one scale."""
    st.markdown("##### What does pretraining buy?")
    st.markdown(STORY)
    specs = lesson_specs()
    runs = lesson_runs(jobs, specs)
    _offer(specs, runs, on)
    if not any(runs):
        _show_recorded(specs)
        return
    finished = [run for run in runs if run is not None and run.state == FINISHED]
    if len(finished) == len(runs):
        st.markdown(words.lesson_verdict(finished))
    measured: dict[str, Rows] = {}
    charts: dict[str, Figure] = {}
    for place, spec, run in zip(st.columns(2), specs, runs, strict=True):
        with place:
            rows, drawn = _show(spec, run, main=spec is specs[-1])
        measured |= rows
        charts |= drawn
    show_files(measured, charts)


def _show_recorded(specs: Sequence[TrainSpec]) -> None:
    """The same of a training that was kept, over its steps: seconds are those of a machine."""
    try:
        recorded = read_recorded()
    except ValueError as error:
        st.text(str(error))
        return
    runs = [run.job(spec) for run, spec in zip(recorded, specs, strict=True)]
    st.markdown(words.lesson_verdict(runs))
    measured: dict[str, Rows] = {}
    charts: dict[str, Figure] = {}
    for place, run, found in zip(st.columns(2), runs, recorded, strict=True):
        with place:
            st.markdown(f"**{_title(run.name)}** · {found.n_steps:,} steps")
            title = f"Right answers: {words.share(result(run, 'held_out'))}"
            main = run is runs[-1]
            rows, drawn = show_answers(run, found.metrics, axis=STEPS, title=title, main=main)
        measured |= rows
        charts |= drawn
    st.markdown(f"{RECORDED} {words.HELD_OUT}")
    with st.expander("The recorded runs from a terminal"):
        st.code("\n".join(run.command for run in recorded), language="bash", wrap_lines=True)
    show_files(measured, charts)


def _offer(specs: Sequence[TrainSpec], runs: Sequence[Job | None], on: On) -> None:
    minutes = sum(spec.minutes or 0 for spec in specs)
    if any(run is not None and run.is_active for run in runs):
        reason = "The lesson is running already, here or in another browser."
    else:
        reason = job_kit.obstacle() or starting.too_much(lambda: specs)
    where = "one after the other" if on == "local" else "on the cluster"
    starting.start_button(
        PAGE,
        f"Start both runs ({minutes:g} minutes of training, {where})",
        specs,
        lambda made: starting.begin(PAGE, made, words.LESSON, on),
        key="training-lesson",
        icon=":material/play_arrow:",
        can_start=reason is None,
    )
    if reason is not None:
        st.caption(plain(reason))


def _show(spec: TrainSpec, run: Job | None, *, main: bool) -> Shown:
    st.markdown(f"**{_title(spec.name)}** · {spec.minutes:g} min · `{spec.preset}`")
    if run is None:
        st.markdown("Not started yet.")
        return {}, {}
    st.progress(min(run.progress, 1.0), text=plain(words.state(run, now=time.time())))
    found = result(run, "held_out")
    figure = "" if found is None else f": {words.share(found)}"
    title = f"Right answers{figure}"
    shown = show_answers(run, read_rows(run), axis="seconds", title=title, main=main)
    if sample := words.sample(run):
        st.markdown(sample)
    return shown


def _title(name: str) -> str:
    """What a run of the lesson does, without the lesson's name."""
    title = name.partition(": ")[2]
    return f"{title[0].upper()}{title[1:]}"
