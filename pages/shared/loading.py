"""Cached loading. Keys are values (names, content hashes, texts); what is cached never changes."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from core.checkpoints.shelf import weights_path
from core.checkpoints.store import Checkpoint, CheckpointError, load_checkpoint
from core.data.corpus import course_corpus
from core.data.course import load_course
from core.data.people import SPLITS, Person, Question, load_people, questions_of
from core.inspection.answered import answered
from core.inspection.effects import Effect, effect
from core.inspection.off import Head, HeadMeans, Mode
from core.inspection.record import AttentionTrace
from core.inspection.trace import trace
from core.paths import CHECKPOINTS, PEOPLE
from pages.shared.digests import digest

Questions = dict[str, list[Question]]  # by split


@dataclass(frozen=True, slots=True)
class Source:
    """A model to be loaded, and the values under which what is made of it may be cached."""

    name: str
    snapshot: int | None
    digest: str
    load: Callable[[], Checkpoint]


@dataclass(frozen=True, slots=True, kw_only=True)
class Off:
    """Heads that are off, and what they give. `means` follow from the model in the mode mean."""

    heads: tuple[Head, ...] = ()
    mode: Mode = "zero"
    means: HeadMeans | None = None


EVERY_HEAD = Off()


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


def checkpoint_digest(name: str, snapshot: int | None) -> str:
    """The content key of a checkpoint. Raises CheckpointError if its weights cannot be read."""
    try:
        return digest(weights_path(CHECKPOINTS / name, snapshot))
    except ValueError as error:
        raise CheckpointError(f"checkpoint {name}: {error}") from None


@st.cache_resource(max_entries=8, show_spinner="Loading the model")
def load_model(name: str, snapshot: int | None, digest: str) -> Checkpoint:
    """A shipped checkpoint; a file that changed has another digest and is loaded anew."""
    stored = load_checkpoint(CHECKPOINTS / name, snapshot=snapshot)
    _leave_out_what_stays()
    return stored


@st.cache_resource(max_entries=1, show_spinner=False)
def _leave_out_what_stays() -> None:
    """Collect garbage once, with torch and the pages loaded, then never look at the rest again.

    Hundreds of thousands of objects of torch, altair and pandas stay as long as the server; a full
    collection that visits them holds up every viewer for longer than a view takes.
    """
    gc.collect()
    gc.freeze()


def shipped(name: str, snapshot: int | None) -> Source:
    """A checkpoint of the shelf. Raises CheckpointError if its weights cannot be read."""
    digest = checkpoint_digest(name, snapshot)
    return Source(name, snapshot, digest, partial(load_model, name, snapshot, digest))


def load_trace(source: Source, question: str, off: Off = EVERY_HEAD) -> AttentionTrace:
    """The trace of one question, with arrays that cannot be written to."""
    named = (source.name, source.snapshot, source.digest)
    return _trace(*named, question, off.heads, off.mode, source.load, off.means)


def load_effect(source: Source, question: str, off: Off) -> Effect:
    """What becomes of the answer to one question with some heads off."""
    named = (source.name, source.snapshot, source.digest)
    return _effect(*named, question, off.heads, off.mode, source.load, off.means)


@st.cache_resource(max_entries=64, show_spinner="Asking the model")
def _trace(
    name: str,
    snapshot: int | None,
    digest: str,
    question: str,
    heads: tuple[Head, ...],
    mode: Mode,
    _load: Callable[[], Checkpoint],
    _means: HeadMeans | None,
) -> AttentionTrace:
    stored = _load()
    record = trace(stored.model, stored.vocabulary, question, ablate=heads, mode=mode, means=_means)
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return record


@st.cache_resource(max_entries=512, show_spinner=False)
def _effect(
    name: str,
    snapshot: int | None,
    digest: str,
    question: str,
    heads: tuple[Head, ...],
    mode: Mode,
    _load: Callable[[], Checkpoint],
    _means: HeadMeans | None,
) -> Effect:
    stored = _load()
    known = answered(stored.model, stored.vocabulary, [Question(question, None, "")])
    return effect(stored.model, stored.vocabulary, known, heads, mode=mode, means=_means)
