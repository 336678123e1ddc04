"""The frame of a lesson around a real page: its text, where one is, forward and back.

`?lesson=NAME&lesson-step=N` opens it (N from 1; a link may say step=N, which on the attention page
is a control's key). The address is the whole progress: the state of a step is put into it where
the step is come to, and stays to be changed. The page of a prediction is drawn once it is answered.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException

from core.lessons.lesson import Lesson, State, Step, said
from core.lessons.reading import find_lesson
from core.paths import LESSONS
from pages.shared import in_class, link, predicted
from pages.shared.going import Query, arrive, go, is_way_back, replace
from pages.shared.records import weights_digest
from pages.shared.text import plain
from pages.shared.weights import WEIGHTS, short

LESSON, NUMBER, USUAL_NUMBER = "lesson", "lesson-step", "step"  # in the address
SHOWN = "lesson-shown"  # in the session: the step whose page was drawn last, and that of each page
TEXT, ASK = "lesson-text", "lesson-ask"
# Beside the page where there is room, above it on narrow screens; readable from the back row.
_BLOCK = "[data-testid=stMainBlockContainer]:has(.st-key-lesson)"
_ROW = ".st-key-lesson > [data-testid=stLayoutWrapper] > [data-testid=stHorizontalBlock]"
# What sticks is what Streamlit wraps the text in: the text fills it and could not move within.
_STUCK = f"[data-testid=stLayoutWrapper]:has(> .st-key-{TEXT})"
STYLE = f"""<style>
{_BLOCK} {{ padding-left: 2rem; padding-right: 2rem; }}
{_ROW} > [data-testid=stColumn]:first-child {{ min-width: 16rem; }}
{_STUCK} {{
  position: sticky; top: 3.5rem; max-height: calc(100vh - 3.5rem); overflow-y: auto;
  margin-left: -0.25rem; padding-left: 0.25rem; /* room for the ring of a button in focus */
}}
.st-key-{TEXT} p {{ font-size: 1.125rem; }}
.st-key-{ASK} p {{ font-size: 1.375rem; }}
@media (max-width: 800px) {{
  {_BLOCK} {{ padding-left: 1rem; padding-right: 1rem; }}
  {_ROW} {{ flex-direction: column; }}
  {_ROW} > [data-testid=stColumn] {{ width: 100%; flex: 1 1 auto; }}
  {_STUCK} {{ position: static; max-height: none; overflow-y: visible; }}
}}
</style>"""


@dataclass(frozen=True, slots=True)
class Place:
    """A step of a lesson, counted from 1."""

    lesson: Lesson
    number: int

    @property
    def step(self) -> Step:
        return self.lesson.steps[self.number - 1]


@dataclass(slots=True)
class Shown:
    """What a session remembers: the step that is shown, and the last one on each page."""

    now: tuple[str, int] | None = None
    on: dict[str, Place] = field(default_factory=dict[str, Place])


def place_of(page: str) -> Place | None:
    """Where the address is in a lesson; what of that cannot be had is told.

    A step of another page goes there. On the way back such an entry of the browser's history is
    one that Streamlit left when the page was changed: the page is shown as it was before.
    """
    name = st.query_params.get(LESSON)
    if name is None:
        _shown().now = None
        return None
    try:
        lesson = find_lesson(name[: link.MOST_CHARACTERS], LESSONS)
    except ValueError as error:
        link.tell(f"This lesson cannot be opened: {plain(str(error))}.")
        return None
    asked = st.query_params.get(NUMBER, st.query_params.get(USUAL_NUMBER, "1"))
    number = int(asked) if asked.isascii() and asked.isdigit() else 0
    if not 1 <= number <= len(lesson.steps):
        link.tell(
            f"The link names step “{plain(asked[: link.MOST_CHARACTERS])}” of the lesson "
            f"{plain(lesson.title)}, which has steps 1 to {len(lesson.steps)}."
        )
        return None
    place = Place(lesson, number)
    if place.step.page != page and is_way_back():
        place = _shown().on.get(page)
        replace({} if place is None else query_of(place))
    elif place.step.page != page or NUMBER not in st.query_params:
        go_to(place)
    return place


def go_to(place: Place) -> NoReturn:
    """Open a step's page as the step has it."""
    go(place.step.page, query_of(place))


def query_of(place: Place) -> Query:
    """The whole address of a step."""
    query = {LESSON: place.lesson.name, NUMBER: str(place.number), **in_class.carried()}
    query |= {key: value for key, value in place.step.state.items() if key not in query}
    weights = _weights_of(place.step.state)
    return {**query, WEIGHTS: weights} if weights else query


def _weights_of(state: State) -> tuple[str, ...]:
    """Short hashes of the checkpoints that a step names; none where it names a moment of training,
    whose weights are others.
    """
    if any(key.endswith("moment") for key in state):
        return ()
    names = [value for key, value in state.items() if key.endswith("checkpoint")]
    try:
        return tuple(short(weights_digest(str(name), None)) for name in names)
    except ValueError:  # the page says what is wrong with them
        return ()


def is_covered(place: Place | None) -> bool:
    """Whether a prediction is asked for and none was made yet, or a class is still to make it."""
    if place is None or place.step.predict is None:
        return False
    at = (place.lesson.name, place.number)
    return not predicted.is_over(*at, place.step) or in_class.waits(*at)


def show(place: Place, draw: Callable[[], None]) -> None:
    """The step beside its page, which is drawn unless it is covered."""
    st.html(STYLE)
    with st.container(key="lesson"):
        text, page = st.columns([1, 3], gap="medium")
    with text, st.container(key=TEXT):
        _show_text(place)
    with page:
        predict = place.step.predict
        if predict is not None and is_covered(place):
            with st.container(key=ASK):
                if not predicted.is_over(place.lesson.name, place.number, place.step):
                    st.caption("First say what you expect; then the page appears.")
                predicted.ask(place.lesson.name, place.number, place.step, predict)
            if predicted.is_over(place.lesson.name, place.number, place.step):
                in_class.wait(place.lesson.name, place.number)
        else:
            _draw(place, draw)


def _show_text(place: Place) -> None:
    lesson, step = place.lesson, place.step
    n_steps = len(lesson.steps)
    st.caption(plain(lesson.title))
    st.subheader(plain(said(step, step.title)), anchor=False)
    st.progress(place.number / n_steps, text=f"{place.number} of {n_steps}")
    texts = [plain(said(step, step.text))]
    if not is_covered(place):
        outcome = predicted.outcome(lesson.name, place.number, step)
        texts += [outcome, plain(said(step, step.after))]
    st.markdown("\n\n".join(filter(None, texts)))
    if not is_covered(place):
        predicted.ask_again(lesson.name, place.number, step)
    _show_ways(place)
    in_class.say()


def _show_ways(place: Place) -> None:
    """Back and forward, by the arrow keys, too, and out of the lesson."""
    back, leave = place.number > 1, place.number == len(place.lesson.steps)
    with st.container(horizontal=True):
        if st.button("Back", key="lesson-back", shortcut="Left", disabled=not back):
            go_to(Place(place.lesson, place.number - 1))
        label = "Finish" if leave else "Next"
        if st.button(label, key="lesson-next", shortcut="Right", type="primary"):
            if leave:
                _leave()
            go_to(Place(place.lesson, place.number + 1))
    if st.button("Leave the lesson", key="lesson-leave", type="tertiary"):
        _leave()


def _leave() -> NoReturn:
    go("lessons", in_class.carried())


def _draw(place: Place, draw: Callable[[], None]) -> None:
    """The page as the step has it when it is come to, then as it is changed."""
    here, shown = (place.lesson.name, place.number), _shown()
    arrives = is_way_back() or shown.now != here
    if arrives and arrive(query_of(place)):
        st.query_params[LESSON] = place.lesson.name  # a free key sends the whole address
    link.open_page(place.step.page, arrives=arrives)
    finished = True
    try:
        draw()
    except RerunException:  # not every control was drawn yet
        finished = False
        raise
    finally:
        if finished:
            shown.now = here
            shown.on[place.step.page] = place


def _shown() -> Shown:
    return st.session_state.setdefault(SHOWN, Shown())
