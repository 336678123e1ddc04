"""Cached loading. Keys are values (names, content hashes, texts); what is cached never changes."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import streamlit as st

from core.checkpoints.files import CARD, read_json
from core.checkpoints.store import Checkpoint, CheckpointError, content_hash, load_checkpoint
from core.cli.paths import CHECKPOINTS, PEOPLE
from core.data.corpus import course_corpus
from core.data.course import load_course
from core.data.people import SPLITS, Person, Question, load_people, questions_of
from core.inspection.record import AttentionTrace
from core.inspection.trace import trace

Questions = dict[str, list[Question]]  # by split


@st.cache_resource(max_entries=2)
def people() -> list[Person]:
    """The shipped table."""
    return load_people(PEOPLE)


@st.cache_resource(max_entries=2)
def notable_questions() -> Questions:
    """Those about everybody in the shipped table, by split."""
    return {split: questions_of(people(), split) for split in SPLITS}


@st.cache_resource(max_entries=2)
def course_questions(folder: Path) -> Questions:
    """Those of the course's files, by split. Raises ValueError naming what is wrong with them."""
    corpus = course_corpus(load_course(folder))
    return {split: corpus.questions(split) for split in SPLITS}


def checkpoint_corpus(name: str) -> str:
    """What a shipped checkpoint was trained on: `notable`, or `course`."""
    try:
        recipe = read_json(CHECKPOINTS / name / CARD).get("recipe")
    except ValueError:  # loading says what is wrong with the card
        return "notable"
    return recipe.get("corpus", "notable") if isinstance(recipe, dict) else "notable"


def checkpoint_digest(name: str, snapshot: int | None) -> str:
    """The content key of a checkpoint. Raises CheckpointError if its weights cannot be read."""
    try:
        return content_hash(CHECKPOINTS / name, snapshot=snapshot)
    except ValueError as error:
        raise CheckpointError(f"checkpoint {name}: {error}") from None


@st.cache_resource(max_entries=8, show_spinner="Loading the model")
def load_model(name: str, snapshot: int | None, digest: str) -> Checkpoint:
    """A shipped checkpoint; a file that changed has another digest and is loaded anew."""
    return load_checkpoint(CHECKPOINTS / name, snapshot=snapshot)


@st.cache_resource(max_entries=64, show_spinner="Asking the model")
def load_trace(
    name: str,
    snapshot: int | None,
    digest: str,
    question: str,
    _load: Callable[[], Checkpoint],
) -> AttentionTrace:
    """The trace of one question, with arrays that cannot be written to."""
    stored = _load()
    record = trace(stored.model, stored.vocabulary, question)
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return record
