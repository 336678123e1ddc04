"""Loss and right answers of one run or of several: what was measured, the charts, the files."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import paths
from core.evaluation.report_card import distinct
from core.figures import training as figures
from core.figures.template import Figure
from core.jobs.curves import (
    accuracy_points,
    baselines,
    flat_rows,
    loss_points,
    phase_begins,
    whole,
)
from core.jobs.over_seeds import Group, mean_answers, mean_losses, rows_of_counted
from core.jobs.state import Job
from core.runs.journal import read_metrics
from pages.shared import jobs as job_kit
from pages.shared.charts import show_chart
from pages.shared.text import percent, plain
from pages.training import words

STEPS, LOW = "steps", 170  # pixels of a chart under a story
MEANS = 210  # of one under a legend of four
TABLES_KEY = "training-tables"
Rows = Sequence[Mapping[str, Any]]
Shown = tuple[dict[str, Rows], dict[str, Figure]]  # what the charts are made of, the charts


def read_rows(job: Job) -> Rows:
    """What a job has measured; nothing, and the reason on the page, if its file is damaged."""
    try:
        return whole(read_metrics(paths.RUNS / job.id))
    except (ValueError, OSError) as error:
        st.text(f"{job.name}: {error}")
        return []


def names_of(jobs: Sequence[Job]) -> list[str]:
    """Their titles; those that occur twice are told apart by the end of their ids."""
    return distinct([job.name for job in jobs], [job.id[-6:] for job in jobs])


def constants(jobs: Sequence[Job]) -> list[tuple[str, float]]:
    """The constant answers of some runs, as lines by name."""
    return [(f"always {place} {percent(share)}", share) for place, share in baselines(jobs)]


def show_one(job: Job) -> Shown:
    """Loss and right answers over the steps of a run; the axis reaches to its last step."""
    rows = read_rows(job)
    if not rows:
        st.markdown("The curves begin with the first measurement.")
        return {}, {}
    losses, answers = loss_points(rows, STEPS), accuracy_points(rows, STEPS)
    axis, most = words.AXES[STEPS], None if job.status is None else job.status.n_steps
    loss = figures.loss_chart(
        [(job.name, losses)], axis=axis, phases=phase_begins(rows, STEPS), most=most
    )
    right = figures.accuracy_chart([(job.name, answers)], constants([job]), axis=axis, most=most)
    places = st.columns(2)
    charts = {
        "Loss": _show(places[0], loss, words.loss_title(losses)),
        "Answers": _show(places[1], right, words.accuracy_title(answers), main=True),
    }
    st.markdown(words.HELD_OUT)
    return {job.name: rows}, charts


def show_several(jobs: Sequence[Job], *, axis: str, window: int) -> Shown:
    """The two charts of several runs; the loss is smoothed as asked for, answers never are."""
    measured = dict(zip(names_of(jobs), map(read_rows, jobs), strict=True))
    losses = [(name, loss_points(rows, axis, window=window)) for name, rows in measured.items()]
    answers = [(name, accuracy_points(rows, axis)) for name, rows in measured.items()]
    loss = figures.loss_chart(losses, axis=words.AXES[axis])
    right = figures.accuracy_chart(answers, constants(jobs), axis=words.AXES[axis])
    places = st.columns(2)
    charts = {
        "Loss": _show(places[0], loss, words.smoothed_title(window)),
        "Answers": _show(places[1], right, "Right answers to held-out questions", main=True),
    }
    st.markdown(f"{words.smoothing(window)} {words.HELD_OUT}")
    return measured, charts


def show_answers(job: Job, rows: Rows, *, axis: str, title: str, main: bool = False) -> Shown:
    """Right answers of one run over its steps or seconds; of the lesson."""
    if not rows:
        return {}, {}
    points = [(job.name, accuracy_points(rows, axis))]
    chart = figures.accuracy_chart(points, constants([job]), axis=words.AXES[axis], height=LOW)
    return {job.name: rows}, {job.name: _show(st.container(), chart, title, main=main)}


def show_means(groups: Sequence[Group], names: Sequence[str], *, axis: str, window: int) -> Shown:
    """The same two charts of means over seeds, with the intervals of the means as bands."""
    jobs = [job for group in groups for job in group.jobs]
    rows = {job.id: read_rows(job) for job in jobs}
    counted = {
        name: rows_of_counted(group, rows) for name, group in zip(names, groups, strict=True)
    }
    losses = [(name, mean_losses(runs, axis, window=window)) for name, runs in counted.items()]
    answers = [(name, mean_answers(runs, axis)) for name, runs in counted.items()]
    loss = figures.mean_loss_chart(losses, axis=words.AXES[axis], height=MEANS)
    right = figures.accuracy_chart(answers, constants(jobs), axis=words.AXES[axis], height=MEANS)
    places = st.columns(2)
    title = f"{words.smoothed_title(window)}: mean over seeds"
    charts = {
        "Loss": _show(places[0], loss, title),
        "Answers": _show(places[1], right, "Right held-out answers: mean over seeds", main=True),
    }
    return {name: rows[job.id] for name, job in zip(names_of(jobs), jobs, strict=True)}, charts


def _show(place: DeltaGenerator, chart: Figure, title: str, *, main: bool = False) -> Figure:
    """The chart under its title; as a file it carries it."""
    place.markdown(f"**{plain(title)}**")
    show_chart(chart, alt=title, place=place, main=main)
    return chart.titled(title)


def show_files(
    measured: Mapping[str, Rows],
    charts: Mapping[str, Figure],
    more: Callable[[], None] = lambda: None,
) -> None:
    """Every picture as SVG, every measurement as CSV and as a table, and `more` buttons."""
    if measured:
        job_kit.show_files(
            "As tables and files", charts, lambda: _table(measured), key=TABLES_KEY, more=more
        )


def _table(measured: Mapping[str, Rows]) -> pd.DataFrame:
    """All lines of metrics, the run's name in the first column."""
    return pd.DataFrame(
        [{"run": name, **row} for name, rows in measured.items() for row in flat_rows(rows)]
    )
