"""What is asked of a model on this page, cached by the content of its weights."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.checkpoints.progress import Progress
from core.knowledge.asking import Asking
from core.knowledge.measuring import ask_own, asking_for, measure
from core.knowledge.own_names import OwnName
from core.knowledge.record import Group, Knowledge
from pages.knowledge.controls import Chosen
from pages.shared.loading import HASHED, Source, shipped, source_key, told, with_set


def measured(chosen: Chosen) -> Knowledge:
    """All groups, while the page says how far it is. Raises ValueError for a model that cannot be
    asked.
    """
    source = _source(chosen)
    key = ("knowledge", *source_key(source))
    return told(key, partial(_measure, source), "Asking every name")


def asked_own(chosen: Chosen, names: Sequence[OwnName]) -> Group:
    """The visitor's names as a group, each with its answer. Raises ValueError for one that the
    model cannot read.
    """
    source = _source(chosen)
    key = ("own names", *source_key(source), tuple(names))
    return told(key, partial(_ask, source, names), "Asking your names")


def _source(chosen: Chosen) -> Source:
    return with_set(shipped(chosen.name, None), chosen.asked)


def _measure(source: Source, said: Progress) -> Knowledge:
    return measure(source.load(), _asking(source), weights=source.digest, progress=said)


def _ask(source: Source, names: Sequence[OwnName], said: Progress) -> Group:
    said(f"{len(names)} names")
    return ask_own(source.load(), names, _asking(source))[0]


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASHED)
def _asking(source: Source) -> Asking:
    """What the model can be asked: of a task that takes its whole corpus."""
    return asking_for(source.load())
