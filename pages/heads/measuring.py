"""What is asked of a model on this page: every head off in turn, attribution, lens, patching;
random tokens said twice.

All is cached by the content of the weights, each head apart, so that nothing is lost.
"""

from dataclasses import replace

import streamlit as st

from core.checkpoints.progress import Counted
from core.data.corpus import questions_digest
from core.data.people import Question
from core.generation.greedy import prompt_ids
from core.inspection.ablate import effect
from core.inspection.attribution import Attribution, Lens, attribution, logit_lens
from core.inspection.head_rows import HeadRow, HeadTable
from core.inspection.head_table import Prepared, finish_table, head_row, prepare
from core.inspection.heads import Head, HeadsOff, every_head
from core.inspection.patching import Patched, head_sites, patch, residual_sites
from core.inspection.repeated import Looked, Numbers, heads_off, look, loss_without, repeated
from core.inspection.repeated_rows import Repeated
from core.inspection.repeated_tokens import Twice, refuse_no_decoder, said_twice
from pages.heads.controls import Measured
from pages.shared.loading import HASHED, Source, counted, shipped, source_key, with_set
from pages.shared.questions import known_questions, means_of, no_means

STREAM, HEADS = "residual stream", "one head"
NO_QUESTIONS = (
    "The questions that this checkpoint was trained on are the course's: name the folder of its "
    "files in A5_DATA before the app is started."
)
NO_TASK = (
    "This checkpoint has no questions: its card names no task that is known here. Choose a "
    "question set."
)


def measured_table(measured: Measured) -> HeadTable:
    """Measure, with a bar that says how far it is. Raises ValueError without known answers."""
    source, asked = source_of(measured), _questions(measured)
    off, questions = in_place(measured, source), questions_digest(asked)
    prepared = _prepared(source, questions, asked)
    heads, rows = every_head(source.load().model.shape), list[HeadRow]()
    bar = st.progress(0.0, "Switching off one head after the other")
    for head in heads:
        rows.append(_row(source, questions, replace(off, heads=(head,)), prepared))
        bar.progress(len(rows) / len(heads), f"{rows[-1].name}: {len(rows)} of {len(heads)} heads")
    table = _finished(source, questions, off, prepared, rows)
    bar.empty()
    return table


def source_of(measured: Measured) -> Source:
    """The model, asked the set that is chosen. Raises CheckpointError if it cannot be read."""
    return with_set(shipped(measured.checkpoint, measured.snapshot), measured.asked)


def _questions(measured: Measured) -> list[Question]:
    if measured.asked is not None:
        return [*measured.asked.questions]
    asked = known_questions(measured.task).get(measured.split)
    if not asked:
        raise ValueError(NO_TASK if measured.task is None else NO_QUESTIONS)
    return asked


def in_place(measured: Measured, source: Source) -> HeadsOff:
    """What takes a head's place. Raises ValueError where there is nothing to take means from."""
    if measured.mode == "zero":
        return HeadsOff()
    means = means_of(source, measured.task)
    if means is None:
        raise ValueError(no_means(measured.task).replace("\\", ""))
    return HeadsOff(mode=measured.mode, means=means)


@st.cache_resource(max_entries=4, show_spinner="Asking every question", hash_funcs=HASHED)
def _prepared(source: Source, questions: str, _asked: list[Question]) -> Prepared:
    return prepare(source.load(), _asked)


@st.cache_resource(max_entries=1024, show_spinner=False, hash_funcs=HASHED)
def _row(source: Source, questions: str, off: HeadsOff, _prepared: Prepared) -> HeadRow:
    stored = source.load()
    return head_row(_prepared, effect(stored, _prepared.before, off))


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=HASHED)
def _finished(
    source: Source, questions: str, off: HeadsOff, _prepared: Prepared, _rows: list[HeadRow]
) -> HeadTable:
    return finish_table(source.load(), _prepared, _rows, off)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=HASHED)
def load_attribution(source: Source, question: str, step: int) -> Attribution:
    """What each part adds to one written piece, above the mean of all tokens."""
    return attribution(source.load(), question, step=step, relative=True)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=HASHED)
def load_lens(source: Source, question: str, step: int) -> Lens:
    """What would be written after each layer. Raises ValueError for a model without a lens."""
    return logit_lens(source.load(), question, step=step)


def load_patched(source: Source, question: str, other: str, what: str) -> Patched:
    """Every site of a kind, taken over from the other question's run. Raises ValueError for
    questions of different length.
    """

    def load(told: Counted) -> Patched:
        stored = source.load()
        n_tokens = len(prompt_ids(stored, question))
        sites = (residual_sites if what == STREAM else head_sites)(stored.model, n_tokens)
        return patch(stored, question, other, sites, progress=told)

    key = ("patched", *source_key(source), question, other, what)
    return counted(key, load, "Patching one site after the other", "sites")


def why_not_asked(measured: Measured) -> str:
    """Why this model answers nothing; empty if it does."""
    return shipped(measured.checkpoint, measured.snapshot).load().model.cannot("logits")


def why_not_twice(measured: Measured) -> str:
    """Why tokens said twice cannot be put to this model; empty if they can."""
    try:
        refuse_no_decoder(shipped(measured.checkpoint, measured.snapshot).load().model)
    except ValueError as error:
        return str(error)
    return ""


def measured_repeated(measured: Measured) -> Repeated:
    """Random tokens said twice, with a bar. Raises ValueError for a model that is no decoder."""
    source = shipped(measured.checkpoint, measured.snapshot)
    twice, looked = _said_twice(source)
    stored, without = source.load(), list[Numbers]()
    off = heads_off(stored.model, twice, looked)
    bar = st.progress(0.0, "Switching off the best heads for induction, then random ones")
    for heads in off:
        without.append(_loss_without(source, heads))
        bar.progress(len(without) / len(off), f"{len(without)} of {len(off)} sets of heads off")
    bar.empty()
    return repeated(stored, twice, looked, without)


@st.cache_resource(max_entries=8, show_spinner="Saying random tokens twice", hash_funcs=HASHED)
def _said_twice(source: Source) -> tuple[Twice, Looked]:
    stored = source.load()
    twice = said_twice(stored)
    return twice, look(stored.model, twice)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=HASHED)
def _loss_without(source: Source, heads: tuple[Head, ...]) -> Numbers:
    return loss_without(source.load().model, _said_twice(source)[0], heads)
