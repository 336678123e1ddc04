"""The class that a visitor is in, ?class=CODE&pupil=TOKEN: what it has answered, what is revealed.

Code and token stay in the address of every page. A token is made where the address has none; it is
all that the server knows of a pupil. A class that is not there is told, and the page is as usual.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import streamlit as st

from core.classroom import store
from core.classroom.codes import is_token, new_pupil
from core.classroom.session import Session
from core.classroom.store import Phase
from core.paths import classroom_folder
from pages.shared import link, who
from pages.shared.text import plain

CLASS, PUPIL = "class", who.PUPIL  # in the address
HERE, KEPT = "in-class", "in-class-kept"  # in the session: this run's class; code and token
POLL_SECONDS = 3.0
Answers = dict[tuple[int, Phase], str]


@dataclass(frozen=True, slots=True)
class Here:
    """A class that is there, and the visitor's token in it."""

    session: Session
    pupil: str


def visit() -> None:
    """At the beginning of each run: which class the visitor is in, though a menu was followed."""
    st.session_state.pop(HERE, None)
    code, token = (_remembered(key) for key in (CLASS, PUPIL))
    if not code:
        return
    try:
        session = store.session(classroom_folder(), code)
    except ValueError as error:
        st.session_state.pop(KEPT, None)
        link.tell(plain(f"The link's class cannot be joined: {error}."))
        return
    token = token if is_token(token) else new_pupil()
    kept = {CLASS: session.code, PUPIL: token}
    for key, value in kept.items():
        if st.query_params.get(key) != value:
            st.query_params[key] = value
    st.session_state[KEPT], st.session_state[HERE] = kept, Here(session, token)


def here() -> Here | None:
    """The visitor's class as it was at the beginning of this run."""
    return st.session_state.get(HERE)


def here_for(lesson: str) -> Here | None:
    """The visitor's class if this is its lesson."""
    found = here()
    return found if found is not None and found.session.lesson == lesson else None


def carried() -> dict[str, str]:
    """What of the address goes along from step to step."""
    return {key: st.query_params[key] for key in (CLASS, PUPIL) if key in st.query_params}


def leave() -> None:
    """Be in no class; what was answered stays kept."""
    for key in (CLASS, PUPIL):
        st.query_params.pop(key, None)
    for key in (HERE, KEPT):
        st.session_state.pop(key, None)


def told(lesson: str, step: int, text: str) -> None:
    """A visitor has answered the prediction of a step (from 1), in these words.

    Outside of a class for this lesson nothing is kept. Raises ValueError for what is refused.
    """
    found = here_for(lesson)
    if found is None:
        return
    who.demand("answer")
    store.answer(classroom_folder(), found.session.code, found.pupil, step, text)


def explain(phase: Phase, text: str) -> None:
    """Keep what a pupil says about the whole lesson. Raises ValueError for what is refused."""
    found = here()
    if found is None:
        raise ValueError("you are in no class any more")
    who.demand("answer")
    store.explain(classroom_folder(), found.session.code, found.pupil, phase, text)


def answers() -> Answers:
    """What the visitor has answered in its class; nothing where that cannot be read."""
    found = here()
    if found is None:
        return {}
    try:
        return store.own_answers(classroom_folder(), found.session.code, found.pupil)
    except ValueError as error:
        link.tell(plain(f"Your answers cannot be read: {error}."))
        return {}


def own(lesson: str, step: int) -> str | None:
    """What the visitor has predicted of a step, the latest; also after a reload."""
    if here_for(lesson) is None:
        return None
    kept = answers()
    return kept.get((step, "before"), kept.get((step, "after")))


def waits(lesson: str, step: int) -> bool:
    """Whether the page of a step stays covered until the teacher reveals it."""
    found = here_for(lesson)
    if found is None or found.session.is_closed:
        return False
    return step not in found.session.revealed


def can_answer_again(lesson: str, step: int) -> bool:
    """Whether another answer would count as one after the revelation."""
    found = here_for(lesson)
    return found is not None and not found.session.is_closed and step in found.session.revealed


def wait(lesson: str, step: int) -> None:
    """In the place of a covered page: that an answer is kept, until the step is revealed."""

    def look() -> None:
        st.info(
            "Your answer is kept. The page appears as soon as your teacher reveals it.",
            icon=":material/hourglass_empty:",
        )
        _refresh()
        if not waits(lesson, step):
            st.rerun()

    st.fragment(look, run_every=POLL_SECONDS)()


def say() -> None:
    """That the visitor is in a class, what is kept, and how long."""
    found = here()
    if found is not None:
        st.caption(f":material/groups: {kept_until(found.session)}")


def kept_until(session: Session) -> str:
    """What is kept of a class and how long, in one sentence."""
    day = datetime.fromtimestamp(session.expires, UTC)
    closed = " It is closed: nothing more is taken." if session.is_closed else ""
    return (
        f"Class **{session.code}**: answers are kept without a name until "
        f"{day.day} {day:%B %Y}, then deleted.{closed}"
    )


def attempt(key: str, act: Callable[[], None]) -> bool:
    """Do it, or remember under a key why it was refused, for `say_refused`; whether it was done."""
    try:
        act()
    except ValueError as error:
        st.session_state[key] = str(error)
        return False
    return True


def say_refused(key: str) -> None:
    """Once, why the last act under this key was refused."""
    if why := st.session_state.pop(key, ""):
        st.error(plain(why), icon=":material/block:")


def _refresh() -> None:
    """The class as it is now; without a class there is nothing to wait for."""
    found = here()
    if found is None:
        return
    try:
        session = store.session(classroom_folder(), found.session.code)
    except ValueError:
        st.session_state.pop(HERE, None)
    else:
        st.session_state[HERE] = Here(session, found.pupil)


def _remembered(key: str) -> str:
    kept: dict[str, str] = st.session_state.get(KEPT, {})
    return st.query_params.get(key) or kept.get(key, "")
