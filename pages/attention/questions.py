"""Whom the model is asked about: people of its corpus, or whatever is typed."""

import streamlit as st

from core.data.paths import course_folder
from core.data.people import question_text, split_of
from pages.shared.loading import Questions, course_questions, notable_questions
from pages.shared.text import plain

DEFAULT_NAME = "Ada Lovelace"
TYPED = "type"
SOURCES = {
    "train": "asked in training",
    "dev": "never asked (dev)",
    "test": "never asked (test)",
    TYPED: "type freely",
}
READ = "The model read a few sentences about everybody, but was asked only about some."
OWN_SOURCES = {
    "train": "training question",
    "dev": "dev question",
    "test": "test question",
    TYPED: "type freely",
}
NOT_KNOWN = "What an uploaded model read, and what it was asked in training, is not known here."
NO_NAMES = "Names to choose from appear where A5_DATA names the folder of the course's files."


def choose_question(corpus: str, *, own: bool) -> tuple[str, str | None]:
    """The question and, where it is known, the right answer; `own` is for an uploaded model."""
    known = _questions(corpus)
    source = TYPED
    if known:
        labels = OWN_SOURCES if own else SOURCES
        usual = split_of(DEFAULT_NAME) if corpus == "notable" else "dev"
        source = st.selectbox(
            "Question about a person",
            list(labels),
            list(labels).index(usual),
            format_func=labels.__getitem__,
            key="source",
            bind="query-params",
            help=NOT_KNOWN if own else READ,
        )
    text = _type(known) if source == TYPED else _choose_person(known, source, corpus)
    answers = {asked.text: asked.answer for split in known.values() for asked in split}
    return text, answers.get(text.strip())


def _type(known: Questions) -> str:
    return st.text_input(
        "Question",
        question_text(DEFAULT_NAME),
        key="question",
        bind="query-params",
        help=None if known else NO_NAMES,
    )


def _choose_person(known: Questions, source: str, corpus: str) -> str:
    texts = {question.name: question.text for question in known[source]}
    names = list(texts)
    default = names.index(DEFAULT_NAME) if DEFAULT_NAME in names else 0
    person = "person" if corpus == "notable" else "course-person"
    return texts[
        st.selectbox("Person", names, default, key=f"{person}-{source}", bind="query-params")
    ]


def _questions(corpus: str) -> Questions:
    """The questions of a corpus; none where the course's files are not at hand."""
    if corpus == "notable":
        return notable_questions()
    folder = course_folder()
    if folder is None:
        return {}
    try:
        return course_questions(folder)
    except ValueError as error:
        st.caption(f"The questions of A5\\_DATA cannot be read: {plain(str(error))}")
        return {}
