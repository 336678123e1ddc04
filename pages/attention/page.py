"""Ask a trained model where somebody was born, and look at every head that answered."""

import streamlit as st

from core.checkpoints.not_a_model import NotAModel
from core.checkpoints.shelf import CheckpointError
from core.inspection.traced import AttentionTrace
from pages.attention.answer import (
    show_answer,
    show_change,
    show_chat,
    show_cover,
    show_heading,
    show_pieces,
    show_target,
    show_target_change,
)
from pages.attention.controls import Asked, choose, choose_display, choose_target
from pages.attention.heads import show_heads
from pages.attention.opened import show_opened
from pages.attention.switches import choose_switches
from pages.shared.choosing import TRACE, UPLOADED
from pages.shared.loading import Source, load_effect, load_trace, shipped, with_set
from pages.shared.text import plain


def main() -> None:
    """Choose on the left; answer, all heads, one head, one row from top to bottom."""
    asked = choose()
    if asked.checkpoint == TRACE:
        show_opened(asked.opened)
        return
    if asked.checkpoint == UPLOADED and asked.upload is None:
        from pages.attention.upload import ASK  # noqa: PLC0415 - loads torch

        st.subheader("Attention of a model of your own")
        st.info(ASK, icon=":material/upload:")
        return
    try:
        source = choose_target(_source(asked))
        trace = load_trace(source, asked.question)
    except CheckpointError as error:
        _refuse(asked, f"This checkpoint cannot be used: {error}")
    except NotAModel as error:
        _refuse(asked, f"This model cannot be opened: {error}")
    except ValueError as error:
        _refuse(asked, f"This question cannot be asked: {error}")
    else:
        shown = _answer(asked, source, trace)
        show_heads(shown, choose_display(shown), trace)
        show_target(shown)


def _answer(asked: Asked, source: Source, trace: AttentionTrace) -> AttentionTrace:
    """The answer with the heads that are on, beside that with all; returns what is to be drawn."""
    top = st.container(horizontal=True, vertical_alignment="center")
    heading, button = top.container(width="stretch"), top.container(width="content")
    asking = st.container()
    with button:
        switches = choose_switches(source, asked.task, trace, asking)
    changes = bool(switches.off.heads) and not switches.covered
    shown = load_trace(source, asked.question, switches.off) if changes else trace
    with heading:
        show_heading(asked, shown)
    if asked.writing.in_chat:
        show_chat(source, asked.question)
    show_answer(shown)
    if switches.covered:
        show_cover(switches)
    elif changes and trace.teacher_forced:
        show_target_change(trace, shown, switches)
        with switches.place:
            show_pieces(trace, *([step.probability for step in t.steps] for t in (trace, shown)))
    elif changes and trace.steps:
        found = load_effect(source, asked.question, switches.off)
        show_change(trace, found, switches)
        with switches.place:
            show_pieces(trace, *(values[0].tolist() for values in found.probabilities))
    return shown


def _source(asked: Asked) -> Source:
    if asked.upload is not None:
        source = Source(asked.checkpoint, None, asked.upload.digest, asked.upload.load)
    else:
        source = shipped(asked.checkpoint, asked.snapshot, asked.writing)
    return with_set(source, asked.asked)


def _refuse(asked: Asked, reason: str) -> None:
    st.subheader("Attention")
    st.error("", icon=":material/block:")
    st.text(reason)
    other = "Upload" if asked.checkpoint == UPLOADED else "Choose"
    st.caption(
        f"Checkpoint {plain(asked.checkpoint)}. {other} another one, or change the question."
    )


main()
