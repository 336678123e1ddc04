"""Several runs side by side: curves, results with their intervals, and settings that differ."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.figures.training import MOST_CURVES
from core.jobs.curves import AXES, differences, result
from core.jobs.state import Job
from pages.shared import bound, link
from pages.training import words
from pages.training.charts import names_of, show_files, show_several
from pages.training.choices import zone

RUNS, QUERY = "training-runs", "runs"
MOST_SMOOTHING = 50
FIRST = 2  # runs that are compared before somebody chooses


def choose_axis() -> str:
    """What is counted from left to right."""
    axis = bound.segmented_control(
        "Counted in",
        list(AXES),
        default="steps",
        required=True,
        key="training-axis",
        label_visibility="collapsed",
    )
    return axis or "steps"


def choose_runs(jobs: Sequence[Job]) -> tuple[str, int]:
    """Which runs, as they stand in the address, and over how many lines the loss is averaged."""
    first = [job.id for job in jobs if job.status is not None][:FIRST]
    labels = words.labels(jobs, zone())
    return choose_some("Runs", labels, key=RUNS, query=QUERY, first=first)


def choose_some(
    label: str, options: Mapping[str, str], *, key: str, query: str, first: Sequence[str]
) -> tuple[str, int]:
    """Some ids by what they are called, and the smoothing beside them; `first` before a choice."""
    left, right = st.columns([1.7, 1], vertical_alignment="bottom")
    with left:
        chosen = _choose_ids(label, options, key=key, query=query, first=first)
    with right:
        window = bound.slider(
            "Smoothing of the loss (lines)",
            1,
            MOST_SMOOTHING,
            1,
            key="training-smoothing",
            help="Each point is the mean of so many lines of metrics, the last of them its own. A "
            "line is the mean loss of about 1/400 of a run's steps. Answers are never smoothed.",
        )
    st.query_params[query] = ",".join(chosen)
    return ",".join(chosen), window


def _choose_ids(
    label: str, options: Mapping[str, str], *, key: str, query: str, first: Sequence[str]
) -> list[str]:
    asked = link.named(query)
    named = None if asked is None else asked[-1].split(",")
    wanted = st.session_state.get(key) if named is None else named
    kept = [one for one in wanted or () if one in options][:MOST_CURVES]
    if not kept and (wanted is None or named is not None):
        kept = list(first)
    st.session_state[key] = kept
    link.settle(query, label, named, kept)
    return st.multiselect(
        f"{label}, at most {MOST_CURVES}",
        list(options),
        format_func=options.__getitem__,
        max_selections=MOST_CURVES,
        key=key,
        persist_state="session",
    )


def show_comparison(jobs: Sequence[Job], *, axis: str, window: int) -> None:
    """Curves, then numbers, then why they differ."""
    if not jobs:
        st.info("Choose runs that shall be compared.", icon=":material/stacked_line_chart:")
        return
    shown = show_several(jobs, axis=axis, window=window)
    names = names_of(jobs)
    st.markdown(_results(jobs, names))
    if verdict := words.noise(jobs, names):
        st.markdown(verdict)
    _show_differences(jobs, names)
    show_files(*shown)


def _results(jobs: Sequence[Job], names: Sequence[str]) -> str:
    head = ["run", "state", "steps", "held-out right (95 %)", "dev right (95 %)"]
    rows = [
        [
            name,
            job.state,
            "–" if job.status is None else f"{job.status.step:,}",
            words.share(result(job, "held_out")),
            words.share(result(job, "dev")),
        ]
        for name, job in zip(names, jobs, strict=True)
    ]
    return words.markdown_table(head, rows)


def _show_differences(jobs: Sequence[Job], names: Sequence[str]) -> None:
    if len(jobs) < 2:
        return
    found = differences([job.spec for job in jobs])
    if not found:
        st.markdown("All their settings are the same.")
        return
    rows = [[setting, *values] for setting, values in found]
    st.markdown(words.markdown_table(["differs in", *names], rows))
