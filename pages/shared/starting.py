"""Jobs that a form asks for: whether they can be started, and the button that starts them.

A click is answered when the form has been read again, never at once: Streamlit calls back with what
was drawn before, and whoever types and clicks at once would start that. Until then the session
remembers the click, for a run may be broken off by the next change.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import streamlit as st

from core import paths
from core.jobs import actions
from core.jobs.assignment import Assignment
from core.jobs.places import launcher_on
from core.jobs.state import On
from pages.shared import jobs as job_kit
from pages.shared import who
from pages.shared.jobs import JobPage
from pages.shared.text import plain

PRESSED, ARRIVING = "pressed", "arriving"
Spec = TypeVar("Spec")


def offered(
    make: Callable[[], Spec], jobs_of: Callable[[Spec], Sequence[Assignment]]
) -> tuple[Spec | None, bool]:
    """What a form asks for, and whether its jobs can be started; else the reason is on the page."""
    spec, reason = None, job_kit.obstacle()
    try:
        spec = made = make()
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/block:")
    else:
        reason = reason or too_much(lambda: jobs_of(made))
    if reason is not None:
        st.warning(plain(reason), icon=":material/info:")
    return spec, spec is not None and reason is None


def too_much(make: Callable[[], Sequence[Assignment]]) -> str | None:
    """Why the visitor may not start these jobs beside those that are there; made where it counts.

    Of what cannot be made nothing is said: starting it says why.
    """
    if not who.has_quota():
        return None
    with suppress(ValueError):
        return who.beyond(job_kit.all_jobs(), [who.shortened(spec) for spec in make()]) or None
    return None


def start_button(
    page: JobPage,
    label: str,
    spec: Spec | None,
    start: Callable[[Spec], None],
    *,
    key: str,
    icon: str,
    can_start: bool,
) -> None:
    """After a click `start` gets what the form asks for when it is read then, and may refuse it;
    the page is drawn anew, and says so.
    """
    pressed = f"{PRESSED}-{key}"
    st.button(
        label,
        type="primary",
        icon=icon,
        key=key,
        on_click=st.session_state.__setitem__,
        args=(pressed, True),
        disabled=not can_start,
    )
    if st.session_state.pop(pressed, False) and spec is not None:
        job_kit.attempt(page, lambda: start(spec))
        st.rerun()


def begin(page: JobPage, specs: Sequence[Assignment], view: str, on: On = "local") -> None:
    """Put jobs into the queue; the last of them is looked at, where there are views. Raises
    ValueError if the visitor may not, or nothing can be started.
    """
    who.demand("start")
    job_kit.demand_place(on)
    launcher = launcher_on(on, os.environ)
    wanted = [who.shortened(spec) for spec in specs]
    who.demand_room(job_kit.all_jobs(), wanted)  # all of them, before the first is there
    for spec in wanted:
        chosen = actions.start(
            paths.RUNS,
            spec,
            launcher,
            owner=who.owner(),
            allow=lambda jobs, spec=spec: who.demand_room(jobs, [spec]),
        )
        _look_at(page, chosen, view)


def begin_sweep(
    page: JobPage, specs: Sequence[Assignment], view: str, on: On = "local", *, name: str
) -> None:
    """Put all jobs of a sweep into the queue, or none; the sweep is looked at, where there are
    views. Raises ValueError as above.
    """
    who.demand("start")
    job_kit.demand_place(on)
    wanted = [who.shortened(spec) for spec in specs]
    chosen, _ = actions.start_sweep(
        paths.RUNS,
        wanted,
        launcher_on(on, os.environ),
        name=name,
        owner=who.owner(),
        allow=lambda jobs: who.demand_room(jobs, wanted),
    )
    _look_at(page, chosen, view)


def arrive(page: JobPage) -> None:
    """Before a page draws its controls: look at what was started in the run before."""
    chosen, view = st.session_state.pop(_arriving(page), (None, None))
    if chosen is not None:
        st.session_state[page.chosen] = chosen
        if st.session_state.get(page.view) != view:
            st.session_state[page.view] = view


def _look_at(page: JobPage, chosen: str, view: str) -> None:
    if view:
        st.session_state[_arriving(page)] = (chosen, view)


def _arriving(page: JobPage) -> str:
    return f"{ARRIVING}-{page.query}"
