"""Means over the seeds of sweeps: which groups, their curves with bands, results, what is noise."""

from collections.abc import Sequence

import streamlit as st

from core.figures.training import MOST_CURVES
from core.jobs.over_seeds import Group, groups_of, names_of_groups, row, verdict
from core.jobs.state import Job
from pages.shared import bound
from pages.shared.charts import download_json
from pages.shared.text import plain
from pages.training import sweep_words, words
from pages.training.charts import show_files, show_means
from pages.training.compare import choose_some

GROUPS, QUERY, OF = "training-groups", "groups", "training-of"
RUNS, MEANS = "single runs", "means over seeds"


def choose_means(jobs: Sequence[Job]) -> bool:
    """Whether means are compared; a choice only where there are sweeps."""
    if not any(job.sweep for job in jobs):
        return False
    return (
        bound.segmented_control(
            "Compare",
            [RUNS, MEANS],
            default=RUNS,
            required=True,
            key=OF,
            label_visibility="collapsed",
        )
        == MEANS
    )


def choose_groups(jobs: Sequence[Job]) -> tuple[str, int]:
    """Which groups, as they stand in the address; at first those of the newest sweep."""
    groups = groups_of(jobs)
    first = [group.id for group in groups if group.sweep == groups[0].sweep][:MOST_CURVES]
    options = sweep_words.group_labels(groups)
    return choose_some("Groups of runs", options, key=GROUPS, query=QUERY, first=first)


def show_means_of(jobs: Sequence[Job], chosen: Sequence[str], *, axis: str, window: int) -> None:
    """The groups with these ids, as far as they are there."""
    found = {group.id: group for group in groups_of(jobs)}
    groups = [found[one] for one in chosen if one in found]
    if not groups:
        st.info("Choose groups that shall be compared.", icon=":material/stacked_line_chart:")
        return
    show_groups(groups, axis=axis, window=window)


def show_groups(groups: Sequence[Group], *, axis: str = "steps", window: int = 1) -> None:
    """Curves of means, then their results, then whether a difference may be noise."""
    names = names_of_groups(groups)
    measured, charts = show_means(groups, names, axis=axis, window=window)
    for said in sweep_words.about_curves(groups, names, window):
        st.markdown(said)
    st.markdown(words.markdown_table(*sweep_words.results(groups, names)))
    if said := verdict(groups, names):
        st.markdown(plain(said))

    def means() -> None:
        rows = [row(group, name) for group, name in zip(groups, names, strict=True)]
        download_json("Means", lambda: {"groups": rows, "verdict": verdict(groups, names)}, "means")

    show_files(measured, charts, means)
