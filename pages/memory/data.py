"""Everything that is computed, cached by the settings; what is cached never changes."""

import streamlit as st

from core.memory.capacity import Capacity, measure_capacity
from core.memory.mqar import Recall, load_recall
from core.memory.overwrite import Overwriting, measure_overwriting
from core.memory.spec import MemorySpec
from core.memory.states import Arrivals, Write, drawn_state


@st.cache_resource(max_entries=16, show_spinner="Storing pairs and asking for them")
def capacity(spec: MemorySpec, pairs: tuple[int, ...]) -> Capacity:
    """Of all mechanisms, so that another choice of them is drawn at once."""
    return measure_capacity(spec, pairs=pairs)


@st.cache_resource(max_entries=16, show_spinner="Writing keys again")
def overwriting(spec: MemorySpec) -> Overwriting:
    """Of all mechanisms."""
    return measure_overwriting(spec)


@st.cache_resource(max_entries=1, show_spinner=False)
def trained() -> Recall:
    """The recorded trainings."""
    return load_recall()


@st.cache_resource(max_entries=32, show_spinner=False)
def written(method: str, spec: MemorySpec) -> tuple[Arrivals, list[Write]]:
    """A small state, pair by pair."""
    return drawn_state(method, spec)
