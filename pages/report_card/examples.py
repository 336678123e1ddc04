"""Wrong answers one by one. A model is asked, so the page imports this only when it is wanted."""

from pathlib import Path

import pandas as pd
import streamlit as st

from core.checkpoints.store import CheckpointError
from core.data.corpus import TrainingCorpus, questions_digest
from core.data.course import DEV, TEST, TRAIN, WIKI
from core.data.task import COURSE
from core.evaluation.mistakes import Mistake, countries_of, mistakes
from core.evaluation.report_card import Row
from core.generation.greedy import answer
from pages.report_card.charts import KINDS
from pages.shared import bound
from pages.shared.loading import checkpoint_digest, load_model
from pages.shared.records import digest as data_digest
from pages.shared.text import plain

ALL = "all"


@st.cache_resource(max_entries=2, show_spinner="Reading the course's files")
def course(folder: str, files: tuple[str, ...]) -> TrainingCorpus:
    """The course's files, read anew when one of them has another digest."""
    return COURSE.corpus(n_sentences=0, folder=Path(folder))


@st.cache_resource(max_entries=8, show_spinner="Asking the dev questions")
def wrong_answers(
    name: str, digest: str, folder: str, files: tuple[str, ...]
) -> tuple[tuple[Mistake, ...], str]:
    """The wrong answers of a checkpoint to the dev questions, and the digest of those.

    Raises ValueError for a question that the model cannot read.
    """
    stored, corpus = load_model(name, None, digest), course(folder, files)
    texts = [question.text for question in corpus.dev]
    given = [entry.text.strip() for entry in answer(stored, texts)]
    countries = countries_of({*given, *(question.answer or "" for question in corpus.dev)})
    return (
        tuple(mistakes(corpus.dev, given, corpus.known(), countries)),
        questions_digest(corpus.dev),
    )


def show_examples(row: Row, folder: str) -> None:
    """A table of wrong answers, all or of one kind; or why there is none."""
    try:
        files = tuple(data_digest(Path(folder) / name) for name in (WIKI, TRAIN, DEV, TEST))
        course(folder, files)
    except ValueError as error:
        st.error(plain(f"The course's files cannot be used: {error}"))
        return
    try:
        digest = checkpoint_digest(row.name, None)
        found, questions = wrong_answers(row.name, digest, folder, files)
    except CheckpointError as error:
        st.error(plain(f"This checkpoint cannot be used: {error}"))
    except ValueError as error:
        st.error(plain(f"This checkpoint cannot be asked the dev questions: {error}"))
    else:
        same = row.measured is None or row.measured.data == questions
        _show(found, same_questions=same)


def _show(found: tuple[Mistake, ...], *, same_questions: bool) -> None:
    kind = bound.segmented_control(
        "Kind",
        [ALL, *KINDS],
        default=ALL,
        required=True,
        format_func=lambda option: KINDS.get(option, ALL),
        key="card-kind",
    )
    shown = [mistake for mistake in found if kind in (ALL, mistake.kind)]
    frame = pd.DataFrame(
        [(m.question, m.given or "(nothing)", m.expected, KINDS[m.kind]) for m in shown],
        columns=["question", "answered", "expected", "kind"],
    )
    st.dataframe(frame, hide_index=True, height=320)
    if not same_questions:
        st.markdown(":material/info: These are not the questions that the record was made from.")
