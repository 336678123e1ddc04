"""What is known of a model's knowledge: recorded beside its weights, or measured now.

Free of torch until something is measured.
"""

import shlex
from pathlib import Path

import streamlit as st

from core.data.question_set import FIRST_TOKENS, QuestionSet
from core.knowledge.asking import asking_of_set
from core.knowledge.file import TASK, knowledge_file, load_knowledge
from core.knowledge.record import Knowledge
from core.paths import course_folder
from pages.knowledge.controls import PREFIX, Chosen
from pages.shared import who
from pages.shared.models import home_of
from pages.shared.records import weights_digest
from pages.shared.sets import UPLOADED
from pages.shared.text import plain

WANTED = f"{PREFIX}wanted"  # what was asked to be measured, in this session
MOST_WANTED = 20
OTHER_WEIGHTS = "it was measured on other weights than these"
OTHER_QUESTIONS = "it was measured on other questions than these"
CHOOSE_SET = (
    "This model has no questions of its own: choose a question set, or upload one. Then it can be "
    "asked the set's questions, and the same about names that nobody has."
)
NO_COURSE = (
    "Nothing is recorded of these weights. They were asked about the course's people: name the "
    "folder of the course's files in A5\\_DATA before the app is started."
)
TAKES = (
    "Two thousand names and more are asked, one batch after the other: a minute or a few for a "
    "small model, longer for a large one, while a line says how far it is."
)


def known_of(chosen: Chosen) -> Knowledge | None:
    """What is at hand; None if it is neither recorded nor wanted."""
    found = found_of(chosen.name, chosen.digest, chosen.split, chosen.asked)
    if isinstance(found, Knowledge):
        return found
    if _key(chosen) not in st.session_state.get(WANTED, ()):
        return None
    from pages.knowledge.measuring import measured  # noqa: PLC0415 - loads torch

    return measured(chosen)


def found_of(
    name: str, weights: str, split: str, asked: QuestionSet | None = None
) -> Knowledge | str | None:
    """The record, what is wrong with its file, or None where there is no file."""
    folder = home_of(name)
    try:
        status = knowledge_file(folder, split).stat()
        found = _read(str(folder), weights, split, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return str(error)
    if found is None:
        return OTHER_WEIGHTS
    return OTHER_QUESTIONS if asked is not None and found.data != _digest(asked) else found


def beside_of(chosen: Chosen) -> Knowledge | None:
    """The second model's record, of the same questions or else of its own; said where it lacks."""
    if chosen.other is None:
        return None
    try:
        weights = weights_digest(chosen.other, None)
    except ValueError as error:
        st.caption(plain(str(error)))
        return None
    for split in (chosen.split, TASK, *_splits(chosen.other)):
        found = found_of(chosen.other, weights, split)
        if isinstance(found, Knowledge):
            return found
    st.caption(
        f":material/info: Nothing is recorded of {plain(chosen.other)}, so that it does not stand "
        f"beside: `{_command(chosen.other, None)}` records it."
    )
    return None


def offer_to_measure(chosen: Chosen) -> None:
    """Why there is nothing yet, and the button that measures."""
    st.markdown(f"#### What does {plain(chosen.name)} know, and what does it make up?")
    found = found_of(chosen.name, chosen.digest, chosen.split, chosen.asked)
    if isinstance(found, str):
        st.warning(f"The record cannot be used: {plain(found)}.", icon=":material/warning:")
    if chosen.task is None and chosen.asked is None:
        st.info(CHOOSE_SET, icon=":material/quiz:")
        return
    is_course = chosen.task is not None and not chosen.task.is_shipped
    if chosen.asked is None and is_course and course_folder() is None:
        st.info(NO_COURSE, icon=":material/info:")
        return
    st.info(f"Nothing is recorded of these weights. {TAKES}", icon=":material/hourglass_empty:")
    refused = who.refusal("measure")
    st.button(
        "Measure it now",
        key=f"{PREFIX}measure",
        on_click=_want,
        args=(_key(chosen),),
        icon=":material/play_arrow:",
        disabled=bool(refused),
    )
    who.say(refused)
    if chosen.asked is None or chosen.asked.name != UPLOADED:
        st.markdown("Or once and for all, from the command line:")
        command = _command(chosen.name, chosen.asked, is_course=is_course)
        st.code(command, language="bash", wrap_lines=True)


def _command(name: str, asked: QuestionSet | None, *, is_course: bool = False) -> str:
    start = f"python -m core knowledge --checkpoint {shlex.quote(name)}"
    if asked is not None:
        exact = "" if asked.rule == FIRST_TOKENS else f" --right {asked.rule}"
        return f"{start} --questions {shlex.quote(asked.name)}{exact} --record"
    corpus = ' --corpus "$A5_DATA"' if is_course else ""
    return f"{start}{corpus} --record"


def _splits(name: str) -> list[str]:
    """The question sets that something is recorded of."""
    start = knowledge_file(Path(), "").stem
    return sorted(path.stem.removeprefix(start) for path in home_of(name).glob(f"{start}*.json"))


@st.cache_resource(max_entries=64, show_spinner=False)
def _read(folder: str, weights: str, split: str, modified: int, size: int) -> Knowledge | None:
    return load_knowledge(Path(folder), weights, split)


def _digest(asked: QuestionSet) -> str:
    return _set_digest(asked.digest, asked)


@st.cache_data(max_entries=32, show_spinner=False)
def _set_digest(digest: str, _asked: QuestionSet) -> str:
    """Of all that is asked where this set is: names are made of its subjects. Raises ValueError for
    a set that is too small.
    """
    return asking_of_set(_asked).digest


def _want(key: str) -> None:
    if who.refusal("measure"):
        return
    wanted = st.session_state.get(WANTED, ())
    st.session_state[WANTED] = (*wanted, key)[-MOST_WANTED:]


def _key(chosen: Chosen) -> str:
    return f"{chosen.digest} {chosen.split} {'' if chosen.asked is None else chosen.asked.digest}"
