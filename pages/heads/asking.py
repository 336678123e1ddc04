"""What is asked of a model on this page, cached by the content of its weights."""

import streamlit as st

from core.inspection.attribution import Attribution, Lens, attribution, logit_lens
from core.inspection.patching import Patched, head_sites, patch, residual_sites
from pages.shared.loading import Source

STREAM, HEADS = "residual stream", "one head"
Key = tuple[str, int | None, str]


def load_attribution(source: Source, question: str, step: int) -> Attribution:
    """What each part adds to one written piece, above the mean of all tokens."""
    return _attribution(_key(source), question, step, source)


def load_lens(source: Source, question: str, step: int) -> Lens:
    """What would be written after each layer. Raises ValueError for a Perceiver."""
    return _lens(_key(source), question, step, source)


def load_patched(source: Source, question: str, other: str, what: str) -> Patched:
    """Every site of a kind, taken over from the other question's run. Raises ValueError for
    questions of different length.
    """
    return _patched(_key(source), question, other, what, source)


def _key(source: Source) -> Key:
    return source.name, source.snapshot, source.digest


@st.cache_resource(max_entries=64, show_spinner=False)
def _attribution(key: Key, question: str, step: int, _source: Source) -> Attribution:
    stored = _source.load()
    return attribution(stored.model, stored.vocabulary, question, step=step, relative=True)


@st.cache_resource(max_entries=64, show_spinner=False)
def _lens(key: Key, question: str, step: int, _source: Source) -> Lens:
    stored = _source.load()
    return logit_lens(stored.model, stored.vocabulary, question, step=step)


@st.cache_resource(max_entries=32, show_spinner="Patching one site after the other")
def _patched(key: Key, question: str, other: str, what: str, _source: Source) -> Patched:
    stored = _source.load()
    n_tokens = len(stored.vocabulary.encode(question)) + 1  # with its ⁇
    sites = (residual_sites if what == STREAM else head_sites)(stored.model, n_tokens)
    return patch(stored.model, stored.vocabulary, question, other, sites)
