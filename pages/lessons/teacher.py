"""What a teacher sees on the page of lessons: opening a class, and the class that is open.

The teacher's code is shown once, and what it opens is kept in the memory of the session alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from core.classroom import store
from core.classroom.codes import check_code
from core.classroom.counts import Standing, as_csv, standing
from core.classroom.session import Teacher
from core.classroom.store import MOST_DAYS
from core.lessons.lesson import Lesson
from core.paths import classroom_folder
from pages.lessons.board import show_explanations, show_step
from pages.shared import class_link, in_class, who
from pages.shared.charts import download

HELD, REFUSED = "class-held", "class-refused"
POLL_SECONDS = 2.0
ONCE = (
    "This class has a teacher's code, shown this once. You need it again to see the class from "
    "another window or after a reload: write it down where no pupil reads it."
)


@dataclass(frozen=True, slots=True)
class Held:
    """The class that this session holds the key of; its code of the teacher until it is read."""

    teacher: Teacher
    teacher_code: str = field(default="", repr=False)


def show_teacher(lessons: Sequence[Lesson]) -> None:
    """The class that is held, or the way to open one or to come back to one."""
    held: Held | None = st.session_state.get(HELD)
    if held is None and in_class.here() is not None:  # a pupil
        return
    in_class.say_refused(REFUSED)
    if held is None:
        with st.expander("Open a class", icon=":material/groups:", key="class-open"):
            _offer(lessons)
        return
    with st.container(border=True, key="class-teacher"):
        _show_code(held)
        _board(held, lessons)


def is_held() -> bool:
    """Whether the visitor is the teacher of a class."""
    return HELD in st.session_state


def _offer(lessons: Sequence[Lesson]) -> None:
    refused = who.refusal("open a class")
    titles = {lesson.name: lesson.title for lesson in lessons}
    st.markdown(
        "Pupils predict on their own screens, without a name; you see how many expect what, and "
        "reveal each page when all have answered."
    )
    with st.form("class-new", border=False):
        st.selectbox("Lesson", list(titles), format_func=titles.__getitem__, key="class-lesson")
        days = st.number_input(
            "Days that answers are kept", 1, MOST_DAYS, who.server().keep_days, key="class-days"
        )
        st.form_submit_button(
            "Open",
            key="class-start",
            type="primary",
            on_click=_open,
            disabled=bool(refused) or not titles,
        )
    who.say(refused)
    st.caption(f"After {days} days everything is deleted; you can delete it before.")
    with st.form("class-back", border=False):
        st.text_input("Or come back to a class: its code", key="class-back-code", width=200)
        st.text_input(
            "Its teacher's code",
            type="password",
            key="class-back-teacher",
            autocomplete="off",
            width=300,
        )
        st.form_submit_button("Come back", key="class-back-go", on_click=_come_back)


def _open() -> None:
    def act() -> None:
        who.demand("open a class")
        lesson, days = st.session_state["class-lesson"], st.session_state["class-days"]
        opened = store.open_session(classroom_folder(), lesson, keep_days=int(days))
        st.session_state[HELD] = Held(opened.teacher, opened.teacher_code)

    in_class.attempt(REFUSED, act)


def _come_back() -> None:
    code, typed = st.session_state["class-back-code"], st.session_state["class-back-teacher"]
    st.session_state["class-back-teacher"] = ""  # it stays nowhere

    def act() -> None:
        teacher = store.enter(classroom_folder(), check_code(code), typed)
        st.session_state[HELD] = Held(teacher)

    in_class.attempt(REFUSED, act)


def _show_code(held: Held) -> None:
    """What the room reads: code and link; and once what only the teacher needs."""
    code = held.teacher.code
    address = f"{class_link.page_address('lessons')}?{urlencode({in_class.CLASS: code})}"
    left, right = st.columns([2, 1], vertical_alignment="center")
    with left:
        st.html(
            f'<p style="font-size:4rem;font-weight:700;letter-spacing:.2em;margin:0">{code}</p>'
        )
        st.code(address, language=None, wrap_lines=True)
        if class_link.is_local(address):
            st.caption(class_link.LOCAL_ADDRESS)
    if class_link.on_network() and not class_link.is_local(address):
        with right:
            said = f"QR code of class {code}"
            st.image(class_link.qr_code(address), caption=said, alt=said, width=220)
    if held.teacher_code:
        st.warning(ONCE, icon=":material/key:")
        with st.popover("Show your teacher's code", icon=":material/visibility:"):
            st.code(held.teacher_code, language=None)
            st.button("I have written it down", key="class-noted", on_click=_note)


def _board(held: Held, lessons: Sequence[Lesson]) -> None:
    """Counts and buttons, drawn again while the class is open."""
    found = _standing(held.teacher)
    moves = found is not None and not found.session.is_closed

    def draw() -> None:
        now = _standing(held.teacher)
        in_class.say_refused(REFUSED)
        if now is not None:
            _draw(held.teacher, now, lessons)
        if now is None or (moves and now.session.is_closed):
            st.rerun()

    if found is not None:
        st.fragment(draw, run_every=POLL_SECONDS if moves else None)()
    else:
        in_class.say_refused(REFUSED)
        st.button("Back to the lessons", key="class-drop", on_click=_drop)


def _standing(teacher: Teacher) -> Standing | None:
    try:
        return standing(classroom_folder(), teacher)
    except ValueError as error:
        st.session_state[REFUSED] = str(error)
        return None


def _draw(teacher: Teacher, now: Standing, lessons: Sequence[Lesson]) -> None:
    lesson = next((one for one in lessons if one.name == now.session.lesson), None)
    n = now.n_pupils
    answered = f"**{n} pupil{'' if n == 1 else 's'}** answered."
    st.markdown(f"{answered} {in_class.kept_until(now.session)}")
    for number, step in enumerate(() if lesson is None else lesson.steps, 1):
        if step.predict is not None:
            is_revealed = number in now.session.revealed
            show_step(number, step, step.predict, now.counts(number), is_revealed=is_revealed)
            if not is_revealed:
                act = partial(store.reveal, classroom_folder(), teacher, number)
                _button("Reveal", f"class-reveal-{number}", act, disabled=now.session.is_closed)
    show_explanations(now)
    with st.container(horizontal=True):
        name = f"class-{teacher.code}.csv"
        make = partial(_csv, teacher)
        download("Answers (CSV)", make, name, "text/csv")
        act = partial(store.close, classroom_folder(), teacher)
        _button("Close", "class-close", act, disabled=now.session.is_closed)
        with st.popover("Delete", icon=":material/delete:"):
            st.markdown("Delete this class with all its answers? They cannot be brought back.")
            st.button(
                "Yes, delete it",
                key="class-delete",
                type="primary",
                on_click=_delete,
                args=(teacher,),
            )
        st.button("Leave it open and go", key="class-drop", type="tertiary", on_click=_drop)


def _csv(teacher: Teacher) -> bytes:
    return as_csv(classroom_folder(), teacher).encode()


def _button(label: str, key: str, act: Callable[[], None], *, disabled: bool) -> None:
    st.button(label, key=key, on_click=_do, args=(act,), disabled=disabled)


def _do(act: Callable[[], None]) -> None:
    def allowed() -> None:
        who.demand("answer")
        act()

    in_class.attempt(REFUSED, allowed)


def _delete(teacher: Teacher) -> None:
    """Allowed in every mode: what is gone can harm nobody."""
    if in_class.attempt(REFUSED, partial(store.delete, classroom_folder(), teacher)):
        _drop()


def _note() -> None:
    st.session_state[HELD] = replace(st.session_state[HELD], teacher_code="")


def _drop() -> None:
    st.session_state.pop(HELD, None)
