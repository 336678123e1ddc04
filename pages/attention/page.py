"""Ask a trained model where somebody was born, and look at every head that answered."""

from functools import partial

import streamlit as st

from core.checkpoints.store import CheckpointError
from core.inspection.record import AttentionTrace
from pages.attention.answer import show_answer
from pages.attention.controls import Choice, choose, choose_display
from pages.attention.heads import show_heads
from pages.attention.upload import ASK, UPLOADED
from pages.shared.loading import checkpoint_digest, load_model, load_trace
from pages.shared.text import plain


def main() -> None:
    """Choose on the left; answer, all heads, one head, one row from top to bottom."""
    choice = choose()
    if choice.checkpoint == UPLOADED and choice.upload is None:
        st.subheader("Attention of a model of your own")
        st.info(ASK, icon=":material/upload:")
        return
    try:
        trace = _trace(choice)
    except CheckpointError as error:
        _refuse(choice, f"This checkpoint cannot be used: {error}")
    except ValueError as error:
        _refuse(choice, f"This question cannot be asked: {error}")
    else:
        show_answer(choice, trace)
        show_heads(trace, choose_display(trace))


def _trace(choice: Choice) -> AttentionTrace:
    name, snapshot = choice.checkpoint, choice.snapshot
    if choice.upload is not None:
        return load_trace(name, None, choice.upload.digest, choice.question, choice.upload.load)
    digest = checkpoint_digest(name, snapshot)
    load = partial(load_model, name, snapshot, digest)
    return load_trace(name, snapshot, digest, choice.question, load)


def _refuse(choice: Choice, reason: str) -> None:
    st.subheader("Attention")
    st.error("", icon=":material/block:")
    st.text(reason)
    other = "Upload" if choice.checkpoint == UPLOADED else "Choose"
    st.caption(
        f"Checkpoint {plain(choice.checkpoint)}. {other} another one, or change the question."
    )


main()
