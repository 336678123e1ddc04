"""Cached loading. Keys are values (names, content hashes, texts); what is cached never changes."""

from dataclasses import fields

import numpy as np
import streamlit as st

from core.checkpoints.store import (
    Checkpoint,
    CheckpointError,
    content_hash,
    load_checkpoint,
)
from core.cli.paths import CHECKPOINTS, PEOPLE
from core.data.people import Person, load_people
from core.inspection.record import AttentionTrace
from core.inspection.trace import trace


@st.cache_resource(max_entries=2)
def people() -> list[Person]:
    """The shipped table."""
    return load_people(PEOPLE)


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
def load_trace(name: str, snapshot: int | None, digest: str, question: str) -> AttentionTrace:
    """The trace of one question, with arrays that cannot be written to."""
    stored = load_model(name, snapshot, digest)
    record = trace(stored.model, stored.vocabulary, question)
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return record
