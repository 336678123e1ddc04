"""Cached loading. Keys are values (names, content hashes, texts); what is cached never changes.

Torch is loaded with the first model: a trace from a file is looked at without.
"""

import gc
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import streamlit as st

from core.checkpoints.kept import Kept
from core.checkpoints.progress import Counted, Progress
from core.checkpoints.shelf import CheckpointError, shipped_weights
from core.data.corpus import course_corpus
from core.data.course import load_course
from core.data.people import SPLITS, Person, Question, load_people, questions_of
from core.data.question_set import QuestionSet
from core.data.task import TASKS
from core.inspection.heads import EVERY_HEAD_ON, Head, HeadsOff, Mode
from core.inspection.traced import AttentionTrace, unwritable
from core.paths import CHECKPOINTS, PEOPLE
from pages.shared import weights
from pages.shared.models import (
    USUAL,
    Writing,
    kept_traces,
    listed,
    make_ready,
    model_digest,
    opened,
)
from pages.shared.records import digest

if TYPE_CHECKING:
    from core.checkpoints.store import Checkpoint
    from core.inspection.ablate import Effect
    from core.inspection.head_table import HeadExample

Questions = dict[str, list[Question]]  # by split
UNREAD = "unread"  # beside the splits, where a corpus leaves people out
Thing = TypeVar("Thing")
MOST_COUNTED = 64


@dataclass(frozen=True, slots=True)
class Source:
    """A model to be loaded, and the values under which what is made of it may be cached."""

    name: str
    snapshot: int | None
    digest: str
    load: "Callable[[], Checkpoint]"
    asked: QuestionSet | None = None
    writing: Writing = USUAL


def with_set(source: Source, asked: QuestionSet | None) -> Source:
    """The same model, asked a question set."""
    if asked is None:
        return source
    return replace(source, load=partial(_asking, source.load, asked), asked=asked)


def _asking(load: "Callable[[], Checkpoint]", asked: QuestionSet) -> "Checkpoint":
    return replace(load(), asked=asked)


def source_key(source: Source) -> tuple[str, int | None, str, str, Writing]:
    """Values that stand for a model in keys of caches."""
    asked = "" if source.asked is None else source.asked.digest
    return source.name, source.snapshot, source.digest, asked, source.writing


def _off_key(off: HeadsOff) -> tuple[tuple[Head, ...], Mode]:
    """The means follow from the model."""
    return off.heads, off.mode


# What stands for a model and for heads that are off in the keys of caches.
HASHED: dict[str | type, Callable[[Any], Any]] = {Source: source_key, HeadsOff: _off_key}


@st.cache_resource(max_entries=2)
def people() -> list[Person]:
    """The shipped table."""
    return load_people(PEOPLE)


@st.cache_resource(max_entries=4)
def shipped_questions(task: str) -> Questions:
    """Those of a shipped task, by split, and those about people whom its corpus leaves out."""
    asked = TASKS[task]
    told, unread = asked.people(), asked.unread()
    questions = {split: questions_of(told, split) for split in SPLITS}
    return questions | {UNREAD: unread} if unread else questions


@st.cache_resource(max_entries=2)
def course_questions(folder: Path) -> Questions:
    """Those of the course's files, by split. Raises ValueError naming what is wrong with them."""
    corpus = course_corpus(load_course(folder))
    return {split: corpus.questions(split) for split in SPLITS}


def checkpoint_digest(name: str, snapshot: int | None) -> str:
    """The content key of a checkpoint. Raises CheckpointError if its weights cannot be read."""
    try:
        return digest(shipped_weights(CHECKPOINTS / name, snapshot))
    except CheckpointError:
        raise
    except ValueError as error:
        raise CheckpointError(f"checkpoint {name}: {error}") from None


@st.cache_resource(max_entries=8, show_spinner="Loading the model")
def load_model(name: str, snapshot: int | None, digest: str) -> "Checkpoint":
    """A shipped checkpoint; a file that changed has another digest and is loaded anew."""
    from core.checkpoints.store import load_checkpoint  # noqa: PLC0415 - loads torch

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


def shipped(name: str, snapshot: int | None, writing: Writing = USUAL) -> Source:
    """A checkpoint of the shelf, or anyone's model there, loaded here so that it is seen what is
    being done. Raises CheckpointError or NotAModel if it cannot be read.
    """
    model = listed(name)
    if model is None:
        digest = checkpoint_digest(name, snapshot)
        weights.note(digest)
        return Source(name, snapshot, digest, partial(load_model, name, snapshot, digest))
    make_ready(model)
    digest = model_digest(model)
    weights.note(digest)
    return Source(name, None, digest, partial(opened, model, digest, writing), writing=writing)


def load_trace(source: Source, question: str, off: HeadsOff = EVERY_HEAD_ON) -> AttentionTrace:
    """The trace of one question, with arrays that cannot be written to; kept by its bytes, since
    one of 512 tokens may take as much as a hundred of ours.
    """

    def load(_: Progress) -> tuple[AttentionTrace, int]:
        from core.inspection.trace import trace  # noqa: PLC0415 - loads torch

        target = source.writing.target or None
        found = unwritable(trace(source.load(), question, off, target=target))
        values = [getattr(found, field.name) for field in fields(found)]
        return found, sum(value.nbytes for value in values if isinstance(value, np.ndarray))

    key = (*source_key(source), question, *_off_key(off))
    return kept_traces().get(key, load)


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=HASHED)
def load_effect(source: Source, question: str, off: HeadsOff) -> "Effect":
    """What becomes of the answer to one question with some heads off."""
    from core.inspection.ablate import effect  # noqa: PLC0415 - loads torch
    from core.inspection.answered import answered  # noqa: PLC0415

    stored = source.load()
    return effect(stored, answered(stored, [Question(question, None, "")]), off)


def load_example(source: Source, question: str, off: HeadsOff) -> "HeadExample":
    """Every head off in turn while one question is answered; `off` says what takes its place."""

    def load(told: Counted) -> "HeadExample":
        from core.inspection.head_table import head_example  # noqa: PLC0415 - loads torch

        return head_example(source.load(), load_trace(source, question), off, progress=told)

    key = ("example", *source_key(source), question, *_off_key(off))
    return counted(key, load, "Switching off one head after the other", "heads")


def counted(key: Hashable, load: Callable[[Counted], Thing], label: str, what: str) -> Thing:
    """What takes one pass after the other, computed once for all sessions. While it is, the page
    says how many are done: of hundreds of heads that takes minutes.
    """
    return told(key, lambda said: load(lambda n, total: said(f"{n} of {total} {what}")), label)


def told(key: Hashable, load: Callable[[Progress], Thing], label: str) -> Thing:
    """The same of what says in its own words how far it is."""
    kept: Kept[Any] = _kept_counted()

    def loaded(said: Progress) -> tuple[Thing, int]:
        return load(said), 1

    if key in kept.keys:
        return kept.get(key, loaded)
    place = st.empty()
    with place.status(label) as status:
        found = kept.get(key, loaded, progress=lambda said: status.update(label=f"{label}: {said}"))
    place.empty()
    return found


@st.cache_resource(max_entries=1, show_spinner=False)
def _kept_counted() -> Kept[Any]:
    """All are small, so that they are counted and not weighed."""
    return Kept("this measurement", lambda: MOST_COUNTED)
