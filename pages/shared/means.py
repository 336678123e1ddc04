"""What each head gives on average, from the record of a checkpoint or from its dev questions."""

from collections.abc import Callable

import streamlit as st

from core.checkpoints.store import Checkpoint
from core.data.corpus import questions_digest
from core.data.people import Question
from core.inspection.ablate import head_means
from core.inspection.answered import answered
from core.inspection.off import HeadMeans
from pages.shared.loading import Source
from pages.shared.questions import known_questions
from pages.shared.records import record_of

NO_MEANS = (
    "Their mean over the dev questions is not offered: the questions of the course are not at "
    "hand (A5\\_DATA), and no table of these weights is recorded."
)


def means_of(source: Source, corpus: str) -> HeadMeans | None:
    """None where neither a record nor the dev questions are at hand."""
    record = record_of(source.name, source.digest)
    if record is not None:
        return record.means
    dev = known_questions(corpus).get("dev")
    if not dev:
        return None
    named = (source.name, source.snapshot, source.digest)
    return _means(*named, questions_digest(dev), source.load, dev)


def means_possible(source: Source, corpus: str) -> bool:
    """Whether there is anything to take the means from; costs nothing."""
    recorded = record_of(source.name, source.digest) is not None
    return recorded or bool(known_questions(corpus).get("dev"))


@st.cache_resource(max_entries=16, show_spinner="Asking the dev questions")
def _means(
    name: str,
    snapshot: int | None,
    digest: str,
    questions: str,
    _load: Callable[[], Checkpoint],
    _dev: list[Question],
) -> HeadMeans:
    stored = _load()
    return head_means(stored.model, answered(stored.model, stored.vocabulary, _dev))
