"""Ask a trained model where somebody was born, and look at every head that answered."""

import streamlit as st

from core.checkpoints.store import CheckpointError
from pages.attention.answer import show_answer
from pages.attention.controls import Choice, choose, choose_display
from pages.attention.heads import show_heads
from pages.shared.loading import checkpoint_digest, load_trace
from pages.shared.text import plain


def main() -> None:
    """Choose on the left; answer, all heads, one head, one row from top to bottom."""
    choice = choose()
    try:
        digest = checkpoint_digest(choice.checkpoint, choice.snapshot)
        trace = load_trace(choice.checkpoint, choice.snapshot, digest, choice.question)
    except CheckpointError as error:
        _refuse(choice, f"This checkpoint cannot be used: {error}")
    except ValueError as error:
        _refuse(choice, f"This question cannot be asked: {error}")
    else:
        show_answer(choice, trace)
        show_heads(trace, choose_display(trace))


def _refuse(choice: Choice, reason: str) -> None:
    st.subheader("Attention")
    st.error("", icon=":material/block:")
    st.text(reason)
    st.caption(
        f"Checkpoint {plain(choice.checkpoint)}. Choose another one, or change the question."
    )


main()
