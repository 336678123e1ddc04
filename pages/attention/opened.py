"""A trace from a file on this page: as an answered question, without its model."""

import streamlit as st

from core.inspection.captions import mechanism_note
from pages.attention.answer import show_target, written_line
from pages.attention.controls import choose_display
from pages.attention.heads import show_heads
from pages.shared.text import plain
from pages.shared.trace_files import (
    OpenedTrace,
    asked_line,
    needs_model,
    show_lacking,
    show_origin,
    show_proof,
)


def show_opened(opened: OpenedTrace | None) -> None:
    """Question and answer, where the numbers are from, and every head that was recorded."""
    if opened is None or opened.file is None:
        show_lacking(opened)
        return
    trace = opened.file.trace
    st.markdown(f"#### {asked_line(trace)}  :gray-badge[from a file]")
    if trace.steps:
        st.markdown(written_line(trace))
    show_proof(opened.file)
    if note := mechanism_note(trace):
        st.markdown(f":material/info: {note}")
    for reason in trace.lacking:
        st.markdown(f":material/info: {plain(reason)}")
    show_heads(trace, choose_display(trace), trace)
    show_target(trace)
    show_origin(opened, opened.file)
    needs_model("Another question, heads off, and whether the answer is right")
