"""What each head gives on average, from the record of a checkpoint or from its dev questions."""

import streamlit as st

from core.data.corpus import questions_digest
from core.data.people import Question
from core.data.task import Task
from core.inspection.ablate import head_means
from core.inspection.answered import answered
from core.inspection.heads import HeadMeans
from pages.shared.loading import HASHED, Source
from pages.shared.questions import known_questions
from pages.shared.records import record_of

NO_MEANS = (
    "Their mean over the dev questions is not offered: the questions of the course are not at "
    "hand (A5\\_DATA), and no table of these weights is recorded."
)


def means_of(source: Source, task: Task | None) -> HeadMeans | None:
    """None where neither a record nor the dev questions are at hand."""
    record = record_of(source.name, source.digest)
    if record is not None:
        return record.means
    dev = known_questions(task).get("dev")
    return _means(source, questions_digest(dev), dev) if dev else None


def means_possible(source: Source, task: Task | None) -> bool:
    """Whether there is anything to take the means from; costs nothing."""
    recorded = record_of(source.name, source.digest) is not None
    return recorded or bool(known_questions(task).get("dev"))


@st.cache_resource(max_entries=16, show_spinner="Asking the dev questions", hash_funcs=HASHED)
def _means(source: Source, questions: str, _dev: list[Question]) -> HeadMeans:
    stored = source.load()
    return head_means(stored.model, answered(stored, _dev))
