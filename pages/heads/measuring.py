"""Measure every head of a checkpoint now: each head is cached apart, so nothing is lost."""

import streamlit as st

from core.checkpoints.store import Checkpoint
from core.data.corpus import questions_digest
from core.data.people import Question
from core.inspection.effects import effect, every_head
from core.inspection.head_rows import HeadRow, HeadTable
from core.inspection.head_table import Prepared, finish_table, head_row, prepare
from core.inspection.off import Head, Mode
from pages.heads.controls import Choice
from pages.shared.loading import Off, Source, shipped
from pages.shared.means import NO_MEANS, means_of
from pages.shared.questions import known_questions

NO_QUESTIONS = (
    "The questions that this checkpoint was trained on are the course's: name the folder of its "
    "files in A5_DATA before the app is started."
)
Key = tuple[str, int | None, str, str]  # name, snapshot, digests of weights and questions


def measured_table(choice: Choice) -> HeadTable:
    """Measure, with a bar that says how far it is. Raises ValueError without known answers."""
    source = shipped(choice.checkpoint, choice.snapshot)
    asked = known_questions(choice.corpus).get(choice.split)
    if not asked:
        raise ValueError(NO_QUESTIONS)
    off = off_of(choice, source)
    key: Key = (source.name, source.snapshot, source.digest, questions_digest(asked))
    stored = source.load()
    prepared = _prepared(key, stored, asked)
    heads, rows = every_head(stored.model.config), list[HeadRow]()
    bar = st.progress(0.0, "Switching off one head after the other")
    for head in heads:
        rows.append(_row(key, head, choice.mode, stored, prepared, off))
        bar.progress(len(rows) / len(heads), f"{rows[-1].name}: {len(rows)} of {len(heads)} heads")
    table = _finished(key, choice.mode, stored, prepared, rows, off)
    bar.empty()
    return table


def off_of(choice: Choice, source: Source) -> Off:
    """The mode with its means. Raises ValueError where there is nothing to take them from."""
    if choice.mode == "zero":
        return Off()
    means = means_of(source, choice.corpus)
    if means is None:
        raise ValueError(NO_MEANS.replace("\\", ""))
    return Off(mode=choice.mode, means=means)


@st.cache_resource(max_entries=4, show_spinner="Asking every question")
def _prepared(key: Key, _stored: Checkpoint, _asked: list[Question]) -> Prepared:
    return prepare(_stored.model, _stored.vocabulary, _asked)


@st.cache_resource(max_entries=1024, show_spinner=False)
def _row(
    key: Key, head: Head, mode: Mode, _stored: Checkpoint, _prepared: Prepared, _off: Off
) -> HeadRow:
    model, vocabulary = _stored.model, _stored.vocabulary
    found = effect(model, vocabulary, _prepared.before, [head], mode=mode, means=_off.means)
    return head_row(model, _prepared, found)


@st.cache_resource(max_entries=16, show_spinner=False)
def _finished(
    key: Key,
    mode: Mode,
    _stored: Checkpoint,
    _prepared: Prepared,
    _rows: list[HeadRow],
    _off: Off,
) -> HeadTable:
    model, vocabulary = _stored.model, _stored.vocabulary
    return finish_table(model, vocabulary, _prepared, _rows, mode=mode, means=_off.means)
