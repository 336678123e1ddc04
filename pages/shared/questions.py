"""What the model is asked: about people of its task, a prompt of a question set, or whatever is
typed; and what each head gives on average over its dev questions or the set.
"""

from collections.abc import Callable

import streamlit as st

from core.data.characters import compose
from core.data.corpus import questions_digest
from core.data.people import BIRTHPLACE, Question, split_of
from core.data.question_set import QuestionSet
from core.data.task import Task
from core.data.vocabulary import Vocabulary
from core.inspection.heads import HeadMeans
from core.paths import course_folder
from pages.shared import bound
from pages.shared.loading import (
    HASHED,
    UNREAD,
    Questions,
    Source,
    course_questions,
    shipped_questions,
)
from pages.shared.records import record_of
from pages.shared.text import plain

DEFAULT_NAME = "Ada Lovelace"
TYPED = "type"
SOURCES = {
    "train": "asked in training",
    "dev": "never asked (dev)",
    "test": "never asked (test)",
    UNREAD: "never read",
    TYPED: "type freely",
}
READ = "The model read a few sentences about everybody, but was asked only about some."
READ_OF_MOST = "Of people who were never read it read nothing; of everybody else a few sentences."
NEVER_READ = "The model never read about this person: its corpus left them out."
OWN_SOURCES = {
    "train": "training question",
    "dev": "dev question",
    "test": "test question",
    TYPED: "type freely",
}
NOT_KNOWN = "What an uploaded model read, and what it was asked in training, is not known here."
NO_NAMES = "Names to choose from appear where A5_DATA names the folder of the course's files."
COMPOSED = (
    "Typed with letters and accents apart; asked in composed letters (Unicode NFC), which are what "
    "the model has read."
)
NO_MEANS = (
    "Their mean over the dev questions is not offered: the questions of the course are not at "
    "hand (A5\\_DATA), and no table of these weights is recorded."
)
NO_MEANS_WITHOUT_TASK = (
    "Their mean is not offered: it is taken over questions, and this checkpoint has none of its "
    "own. Choose a question set."
)
FREE_TEXT, OTHER_TEXT = "The capital of France is", "The capital of Italy is"
MOST_OF_PROMPT = 60  # characters of a prompt in a list
Fits = Callable[[str], bool]


def choose_question(
    task: Task | None,
    *,
    own: bool = False,
    asked: QuestionSet | None = None,
    prefix: str = "",
    label: str = "Question about a person",
    name: str = DEFAULT_NAME,
    fits: Fits | None = None,
    texts: tuple[str, str] = ("Text", FREE_TEXT),
) -> tuple[str, str | None]:
    """The question and, where it is known, the right answer; `own` is for an uploaded model.

    Names to choose from are those whose question `fits`; `name` is chosen at first. Where a set is
    `asked`, its prompts are chosen from. `texts` are the label of a free text and the first one.
    """
    if asked is not None:
        return _choose_prompt(asked, f"{prefix}prompt-{asked.name}", fits)
    known = known_questions(task)
    source = TYPED
    if task is not None and known:
        labels = OWN_SOURCES if own else _sources(known)
        usual = _usual_source(task, name)
        source = bound.selectbox(
            label,
            list(labels),
            list(labels).index(usual),
            format_func=labels.__getitem__,
            key=f"{prefix}source",
            follows=True,
            help=NOT_KNOWN if own else READ_OF_MOST if UNREAD in known else READ,
        )
    if task is None or source == TYPED:
        text = _type(task, known, prefix, name, texts)
    else:
        person = "person" if task.is_shipped else f"{task.name}-person"
        text = _choose_person(known, source, f"{prefix}{person}-{source}", name, fits)
    if never_read(task, text):
        st.caption(NEVER_READ)
    return text, expected_answer(known, text)


def _sources(known: Questions) -> dict[str, str]:
    """Only some corpora leave people out."""
    return {key: label for key, label in SOURCES.items() if key != UNREAD or UNREAD in known}


def _usual_source(task: Task, name: str) -> str:
    """Where somebody stands; of the course's people nobody is known here."""
    if never_read(task, BIRTHPLACE.question(name)):
        return UNREAD
    return split_of(name) if task.is_shipped else "dev"


def never_read(task: Task | None, text: str) -> bool:
    """Whether a question is about somebody whom the corpus of the task leaves out."""
    if task is None or task.left_out is None:
        return False
    return any(asked.text == text.strip() for asked in known_questions(task)[UNREAD])


def unread_badge(task: Task | None, text: str) -> str:
    """That a question is about such a person; nothing else."""
    return "  :orange-badge[never read]" if never_read(task, text) else ""


def expected_answer(known: Questions, text: str) -> str | None:
    """What a question's right answer is, where it is known."""
    answers = {asked.text: asked.answer for split in known.values() for asked in split}
    return answers.get(text.strip())


def as_long(vocabulary: Vocabulary, question: str, other: str) -> bool:
    """Whether two different questions have the same number of tokens."""
    try:
        lengths = {len(vocabulary.encode(text)) for text in (question, other)}
    except ValueError:
        return False
    return other != question and len(lengths) == 1


def known_questions(task: Task | None) -> Questions:
    """The questions of a task; none where the course's files are not at hand."""
    if task is None:
        return {}
    if task.is_shipped:
        return shipped_questions(task.name)
    folder = course_folder()
    if folder is None:
        return {}
    try:
        return course_questions(folder)
    except ValueError as error:
        st.caption(f"The questions of A5\\_DATA cannot be read: {plain(str(error))}")
        return {}


def _type(
    task: Task | None, known: Questions, prefix: str, name: str, texts: tuple[str, str]
) -> str:
    """The one place where a question comes in; what the address says comes with the control."""
    typed = bound.text_input(
        texts[0] if task is None else "Question",
        texts[1] if task is None else BIRTHPLACE.question(name),
        key=f"{prefix}question",
        follows=True,
        help=None if known else NO_NAMES,
    )
    return composed(typed)


def composed(typed: str) -> str:
    """A typed text in composed letters; where that is another text, it is said."""
    asked = compose(typed)
    if asked != typed:
        st.caption(COMPOSED)
    return asked


def _choose_person(known: Questions, source: str, key: str, name: str, fits: Fits | None) -> str:
    texts = {
        question.name: question.text
        for question in known[source]
        if fits is None or fits(question.text)
    }
    if not texts:
        st.caption("Nobody here has a name of that length.")
        return ""
    names = list(texts)
    default = names.index(name) if name in names else 0
    return texts[bound.selectbox("Person", names, default, key=key, follows=True)]


def _choose_prompt(asked: QuestionSet, key: str, fits: Fits | None) -> tuple[str, str | None]:
    labels = {
        question.text: f"{number}: {question.text[:MOST_OF_PROMPT]}"
        for number, question in enumerate(asked.questions, 1)
        if fits is None or fits(question.text)
    }
    if not labels:
        st.caption("No other prompt of this set has as many tokens.")
        return "", None
    text = bound.selectbox(
        "Prompt", list(labels), format_func=labels.__getitem__, key=key, follows=True
    )
    found = asked.find(text)
    return text, None if found is None else found.answer


def means_of(source: Source, task: Task | None) -> HeadMeans | None:
    """None where neither a record nor questions to take them over are at hand."""
    record = record_of(source.name, source.digest, asked=source.asked)
    if record is not None:
        return record.means
    over = means_over(source, task)
    return _means(source, questions_digest(over), over) if over else None


def means_possible(source: Source, task: Task | None) -> bool:
    """Whether there is anything to take the means from; costs nothing."""
    recorded = record_of(source.name, source.digest, asked=source.asked) is not None
    return recorded or bool(means_over(source, task))


def means_over(source: Source, task: Task | None) -> list[Question]:
    """The questions over which means are taken: those of the set that is asked, or of dev."""
    if source.asked is not None:
        return [*source.asked.questions]
    return known_questions(task).get("dev", [])


def no_means(task: Task | None) -> str:
    """Why there are none."""
    return NO_MEANS_WITHOUT_TASK if task is None else NO_MEANS


@st.cache_resource(max_entries=16, show_spinner="Asking the questions", hash_funcs=HASHED)
def _means(source: Source, questions: str, _over: list[Question]) -> HeadMeans:
    from core.inspection.ablate import head_means  # noqa: PLC0415 - loads torch
    from core.inspection.answered import answered  # noqa: PLC0415

    stored = source.load()
    return head_means(stored.model, answered(stored, _over))
