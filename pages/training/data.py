"""What the page reads: the disk, at every look. Only measured speeds are cached."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from core import paths
from core.jobs import control
from core.jobs.curves import whole
from core.jobs.estimate import TrainingEstimate, estimate
from core.jobs.leftovers import Leftover, left_on_disk
from core.jobs.spec import TrainSpec
from core.jobs.state import Job, list_all, list_jobs
from core.runs.journal import read_metrics

Rows = Sequence[Mapping[str, Any]]


def jobs() -> list[Job]:
    """All trainings, the newest first."""
    return list_jobs(paths.RUNS)


def everything() -> list[Job]:
    """Trainings and measurements: they wait for each other."""
    return list_all(paths.RUNS)


def leftovers() -> list[Leftover]:
    """What lies beside the jobs and belongs to none."""
    return left_on_disk(paths.RUNS)


def rows(job: Job) -> Rows:
    """What a job has measured; nothing, and the reason on the page, if its file is damaged."""
    try:
        return whole(read_metrics(paths.RUNS / job.id))
    except (ValueError, OSError) as error:
        st.text(f"{job.name}: {error}")
        return []


def insist(all_jobs: Sequence[Job]) -> None:
    """Whoever watches helps to end what was asked to stop."""
    for job in all_jobs:
        if job.state == "stopping":
            with suppress(ValueError, OSError):  # it ended just now, or the disk is full
                control.stop(paths.RUNS, job.id)


@st.cache_data(max_entries=64, show_spinner="Measuring a few steps")
def measured(spec: TrainSpec) -> TrainingEstimate:
    """Size and speed of a training. Its name and seed shall be the same for all."""
    return estimate(spec)


def zone() -> tzinfo | None:
    """The viewer's time zone; the server's if it is not told."""
    with suppress(OSError, ValueError):  # an unknown name
        if st.context.timezone:
            return ZoneInfo(st.context.timezone)
    return datetime.now().astimezone().tzinfo
