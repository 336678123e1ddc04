"""Lessons: what one learns in each, how long it takes, and the way in."""

import streamlit as st

from core.lessons.lesson import Lesson
from core.lessons.reading import list_lessons
from core.paths import LESSONS
from pages.lessons.pupil import show_class, show_join
from pages.lessons.teacher import is_held, show_teacher
from pages.shared import keep
from pages.shared.frame import Place, go_to
from pages.shared.text import plain


def main() -> None:
    """One row a lesson."""
    st.title("Lessons", anchor=False)
    st.markdown(
        "Each leads through real pages of the explorer: first you say what you expect, then you "
        "see the picture and the number. The arrow keys go back and forward."
    )
    try:
        lessons = list_lessons(LESSONS)
    except ValueError as error:
        st.error("", icon=":material/block:")
        st.text(str(error))
        return
    show_class(lessons)
    show_teacher(lessons)
    if not is_held():
        show_join()
    if not lessons:
        st.info("There is no lesson in the folder assets/lessons/.", icon=":material/menu_book:")
    for lesson in lessons:
        with st.container(border=True):
            _show_lesson(lesson)


def _show_lesson(lesson: Lesson) -> None:
    about, way_in = st.columns([4, 1], vertical_alignment="center")
    with about:
        st.subheader(plain(lesson.title), anchor=False)
        st.markdown(plain(lesson.learns))
        st.caption(f"{lesson.minutes} minutes · {len(lesson.steps)} steps")
    with way_in:
        if st.button("Begin", key=f"lessons-begin-{lesson.name}", type="primary", width="stretch"):
            go_to(Place(lesson, 1))
        keep.offer_lesson(lesson.name)


main()
