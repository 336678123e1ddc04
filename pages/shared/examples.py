"""Every head off in turn while one question is answered, cached by the content of the weights."""

import streamlit as st

from core.inspection.head_example import HeadExample, head_example
from core.inspection.off import Mode
from core.inspection.record import AttentionTrace
from pages.shared.loading import Off, Source


def load_example(source: Source, trace: AttentionTrace, off: Off) -> HeadExample:
    """Of a trace with every head on; `off` says what takes a head's place."""
    key = (source.name, source.snapshot, source.digest)
    return _example(key, trace.question, off.mode, source, trace, off)


@st.cache_resource(max_entries=32, show_spinner="Switching off one head after the other")
def _example(
    key: tuple[str, int | None, str],
    question: str,
    mode: Mode,
    _source: Source,
    _trace: AttentionTrace,
    _off: Off,
) -> HeadExample:
    stored = _source.load()
    return head_example(stored.model, stored.vocabulary, _trace, mode=mode, means=_off.means)
