"""Who the visitor is, and what they may do on this server.

A teacher has typed the teacher's code, or is let in by Streamlit's own login under an address that
the server lists. A pupil is the token of its own address; whoever has none is known by their
session alone. The codes and hashes are in the session's memory, never in an address.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.classroom.codes import is_token
from core.jobs.assignment import Assignment
from core.jobs.folder import owner_of
from core.jobs.quota import over_quota
from core.jobs.quota import shortened as shorter
from core.jobs.state import Job
from core.server import Action, Server, is_code, read_server
from core.server import refusal as refused
from pages.shared.text import plain

PUPIL = "pupil"  # in the address
IS_TEACHER, OWN, FIELD, SAID = "who-teacher", "who-own", "who-code", "who-said"  # in the session
LOCAL = ("localhost", "127.0.0.1", "::1")
MOST_WRONG, MINUTE = 5, 60.0
Clock = Callable[[], float]


class WrongCodes:
    """Wrong teacher's codes of the last minute, of all sessions of this server."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._times, self._lock = clock, list[float](), threading.Lock()

    def tried(self, server: Server, typed: str) -> str:
        """Why it is not the code; empty if it is. After five wrong ones a minute none is tried."""
        with self._lock:
            now = self._clock()
            self._times = [then for then in self._times if now - then < MINUTE]
            if len(self._times) >= MOST_WRONG:
                return f"{MOST_WRONG} wrong codes within a minute: wait a minute, then try again"
            if is_code(server, typed):
                return ""
            self._times.append(now)
            return "this is not the teacher's code"


def server() -> Server:
    """What is set for this server; where that cannot be read it only shows."""
    return _read()[0]


def problem() -> str:
    """What is wrong with what is set; "" if nothing is."""
    return _read()[1]


def is_teacher() -> bool:
    """Whether the visitor has the teacher's code, or is logged in as one of the teachers."""
    return bool(st.session_state.get(IS_TEACHER)) or _is_listed(server())


def refusal(action: Action, job: Job | None = None) -> str:
    """Why the visitor may not do this here, to this job; "" if they may."""
    found = server()
    if found.mode == "open":
        return ""
    owns = job is not None and job.owner in owners()
    return refused(found, action, is_teacher=is_teacher(), owns=owns)


def demand(action: Action, job: Job | None = None) -> None:
    """Where an action is done: raise ValueError unless the visitor may do it."""
    if why := refusal(action, job):
        raise ValueError(why)


def say(refused: str) -> None:
    """Beside a control that is not for the visitor: why not."""
    if refused:
        st.caption(f":material/lock: {plain(refused)}")


def beyond(jobs: Sequence[Job], specs: Sequence[Assignment]) -> str:
    """Why these jobs are more than the visitor may start beside others; "" if they are not."""
    found = server()
    if not has_quota():
        return ""
    return over_quota(found, jobs, owners(), specs)


def demand_room(jobs: Sequence[Job], specs: Sequence[Assignment]) -> None:
    """Where jobs are started: raise ValueError for more than the visitor may."""
    if why := beyond(jobs, specs):
        raise ValueError(why)


def shortened(spec: Assignment) -> Assignment:
    """A job as this visitor may have it."""
    return shorter(server(), spec) if has_quota() else spec


def has_quota() -> bool:
    """Whether what the visitor starts is limited."""
    return server().mode == "class" and not is_teacher()


def owners() -> tuple[str, ...]:
    """The hashes under which jobs may be the visitor's: of the pupil, of the session."""
    session = owner_of(st.session_state.setdefault(OWN, secrets.token_urlsafe(16)))
    token = st.query_params.get(PUPIL, "")
    return (owner_of(token), session) if is_token(token) else (session,)


def owner() -> str:
    """The hash under which the visitor starts jobs."""
    return owners()[0]


def show_field() -> None:
    """At the end of the sidebar in class: the field for the teacher's code, or who one is."""
    found = server()
    if found.mode != "class":
        return
    with st.sidebar:
        if is_teacher():
            st.caption(":material/school: You may do everything here: you are a teacher.")
            if st.session_state.get(IS_TEACHER):
                st.button("Be a pupil again", key="who-leave", type="tertiary", on_click=_leave)
        elif found.teacher_code:
            st.text_input(
                "Teacher's code",
                type="password",
                key=FIELD,
                on_change=_try,
                autocomplete="off",
                help="With it you may also upload, stop, remove and keep here.",
            )
            if why := st.session_state.pop(SAID, ""):
                st.error(plain(why), icon=":material/block:")
        if not is_teacher() and _is_logged_in() is False:
            st.button("Log in", key="who-login", on_click=st.login)


def show_problem(place: DeltaGenerator) -> None:
    """What is wrong with what is set, at the top of every page."""
    if why := problem():
        place.error(plain(why), icon=":material/block:")


def _try() -> None:
    typed = st.session_state.get(FIELD, "")
    st.session_state[FIELD] = ""  # it stays nowhere
    if not typed:
        return
    if why := _wrong_codes().tried(server(), typed):
        st.session_state[SAID] = why
    else:
        st.session_state[IS_TEACHER] = True


def _leave() -> None:
    st.session_state.pop(IS_TEACHER, None)


def _read() -> tuple[Server, str]:
    is_local = st.get_option("server.address") in LOCAL
    try:
        return read_server(os.environ, usual="open" if is_local else "class"), ""
    except ValueError as error:
        return Server(mode="show"), f"What this server allows cannot be read: {error}"


def _is_listed(found: Server) -> bool:
    """Only an address that the provider has verified counts, where it says so."""
    if not found.teachers or not _is_logged_in() or st.user.get("email_verified") is False:
        return False
    address = str(st.user.get("email") or "").casefold()
    return address in {teacher.casefold() for teacher in found.teachers}


def _is_logged_in() -> bool | None:
    """None where Streamlit's own login is not set up."""
    found = st.user.get("is_logged_in")
    return None if found is None else bool(found)


@st.cache_resource(max_entries=1, show_spinner=False)
def _wrong_codes() -> WrongCodes:
    return WrongCodes()
