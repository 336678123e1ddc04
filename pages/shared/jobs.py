"""What the pages of jobs share: clicks that may be refused, the job in the address, polling, files.

The disk is the truth, and is read at every look.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from core import paths
from core.figures.template import Figure
from core.jobs import actions
from core.jobs.launcher import LocalLauncher
from core.jobs.places import launcher_of
from core.jobs.state import Job, On, list_all
from core.server import Action
from pages.shared import link, who
from pages.shared.charts import download, download_svg
from pages.shared.text import plain

POLL_SECONDS = 2.0
FILE_WIDTH = 640  # pixels of a picture, which on the page is as wide as its place


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """Where a page keeps what: keys of the session, and `query` in the address.

    `refusals` are sentences on clicks, `chosen` is the job that is looked at, `view` the view.
    """

    refusals: str
    chosen: str
    view: str
    query: str


def all_jobs() -> list[Job]:
    """Trainings and measurements, the newest first: they wait for each other."""
    return list_all(paths.RUNS)


def obstacle() -> str | None:
    """Why nothing can be started here, or not by this visitor."""
    return LocalLauncher().obstacle() or who.refusal("start") or None


def demand_place(on: On) -> None:
    """Raises ValueError if the visitor may not start or resume anything there."""
    if on == "slurm":
        who.demand("use the cluster")


def stop(job: Job) -> None:
    """Ask it to end after its step."""
    who.demand("stop", job)
    actions.stop(paths.RUNS, job.id)


def resume(job: Job, device: str | None = None) -> None:
    """Put it back into the queue; into that of another device where one is chosen."""
    who.demand("resume", job)
    demand_place(job.on)
    actions.resume(paths.RUNS, job.id, launcher_of(job, os.environ), device=device)


def remove(page: JobPage, job: Job) -> None:
    """Delete it; the page then looks at another."""
    who.demand("remove", job)
    actions.remove(paths.RUNS, job.id)
    look_at_another(page)


def look_at_another(page: JobPage) -> None:
    """After what was looked at is gone."""
    st.session_state.pop(page.chosen, None)
    st.query_params.pop(page.query, None)


def press_on(jobs: Sequence[Job]) -> None:
    """Whoever watches helps to end what was asked to stop."""
    for job in jobs:
        if job.state == "stopping":
            with suppress(ValueError, OSError):  # it ended just now, or the disk is full
                actions.stop(paths.RUNS, job.id)


def say_refused(job: Job, *done: Action) -> None:
    """Beside buttons that the visitor may not press: why not."""
    for why in dict.fromkeys(filter(None, (who.refusal(action, job) for action in done))):
        who.say(why)


def button(page: JobPage, label: str, act: Callable[[], None], *, key: str, **options: Any) -> None:
    """A button whose refusal is said at the next drawing."""
    st.button(label, key=key, on_click=attempt, args=(page, act), **options)


def resume_button(
    page: JobPage,
    job: Job,
    label: str,
    *,
    key: str,
    note: str,
    device: Callable[[], str | None] = lambda: None,
) -> None:
    """A job goes on, or the reason why it cannot; on which `device` is asked after the click."""
    reason = who.refusal("resume", job) or obstacle()
    if job.on == "slurm":
        reason = reason or who.refusal("use the cluster") or None
    button(
        page,
        label,
        lambda: resume(job, device()),
        key=key,
        icon=":material/play_arrow:",
        disabled=reason is not None,
        help=reason or note,
    )


def action_button(
    page: JobPage,
    job: Job,
    label: str,
    act: Callable[[], None],
    *,
    action: Action,
    icon: str,
    key: str,
    note: str,
) -> None:
    """A button of one job, disabled where the visitor may not, or it is about to stop."""
    button(
        page,
        label,
        act,
        key=key,
        icon=f":material/{icon}:",
        disabled=job.state == "stopping" or bool(who.refusal(action, job)),
        help=note,
    )


def stop_go_remove(
    page: JobPage, job: Job, *, prefix: str, kept: str, left: str, lost: str
) -> None:
    """Stop, go on, remove, whatever the state of a job allows; the notes say what becomes of it."""
    if job.is_active:
        key = f"{prefix}stop-{job.id}"
        action_button(
            page, job, "Stop", lambda: stop(job), action="stop", icon="stop", key=key, note=kept
        )
    if job.can_resume:
        resume_button(page, job, "Go on", key=f"{prefix}play_arrow-{job.id}", note=left)
    if not job.is_active:
        action_button(
            page,
            job,
            "Remove",
            lambda: remove(page, job),
            action="remove",
            icon="delete",
            key=f"{prefix}delete-{job.id}",
            note=lost,
        )


def attempt(page: JobPage, act: Callable[[], None]) -> None:
    """Do it; what is refused is remembered as one sentence."""
    try:
        act()
    except (ValueError, OSError) as error:
        st.session_state.setdefault(page.refusals, []).append(str(error))


def choose(page: JobPage, label: str, options: Mapping[str, str], *, first: str, what: str) -> str:
    """Which of some ids, by what they are called; it stands in the address.

    Without a choice it is `first`; `what` says what an id that is gone was.
    """
    asked = link.named(page.query)
    wanted = asked[-1] if asked else st.session_state.get(page.chosen)
    if asked is None and wanted is not None and wanted not in options:
        st.caption(f"There is no {what} {plain(wanted[:40])} any more.")
    st.session_state[page.chosen] = wanted if wanted in options else first
    chosen = st.selectbox(
        label,
        list(options),
        format_func=lambda key: options.get(key, key),
        key=page.chosen,
        label_visibility="collapsed",
        persist_state="session",
    )
    link.settle(page.query, label, asked, [chosen])
    st.query_params[page.query] = chosen
    return chosen


def draw_while_active(
    page: JobPage,
    jobs: Callable[[], list[Job]],
    known_by: Callable[[Job], str],
    draw: Callable[[list[Job]], None],
) -> None:
    """Draw jobs, again every few seconds while one of them is active.

    Who finds then that what they are `known_by` has changed draws the whole page anew: it decides
    what can be chosen.
    """

    def known(found: Sequence[Job]) -> tuple[bool, list[str]]:
        return any(job.is_active for job in found), [known_by(job) for job in found]

    before = known(jobs())

    def draw_again() -> None:
        found = jobs()
        press_on(found)
        if known(found) != before:
            st.rerun()
        for text in st.session_state.pop(page.refusals, []):
            st.error(plain(text), icon=":material/block:")
        draw(found)

    st.fragment(draw_again, run_every=POLL_SECONDS if before[0] else None)()


def show_files(
    label: str,
    charts: Mapping[str, Figure],
    table: Callable[[], pd.DataFrame],
    *,
    key: str,
    more: Callable[[], None] = lambda: None,
) -> None:
    """Pictures as SVG, measurements as CSV and as a table, and `more` buttons.

    In a box that makes nothing before it is opened; files are made when one is wanted.
    """
    box = st.expander(label, key=key, on_change="rerun")
    if not box.open:
        return
    frame = table()
    with box:
        with st.container(horizontal=True):
            for what, chart in charts.items():
                download_svg(what, chart, what.lower(), width=FILE_WIDTH)
            download(
                "Measurements (CSV)",
                lambda: frame.to_csv(index=False).encode(),
                "measurements.csv",
                "text/csv",
            )
            more()
        st.dataframe(frame, hide_index=True, height=320)
