"""The top of the page: question, answer, runners-up, right or wrong, and the proof."""

import streamlit as st

from core.inspection.captions import mechanism_note
from core.inspection.record import AttentionTrace
from pages.attention.controls import Choice
from pages.shared.text import percent, plain


def show_answer(choice: Choice, trace: AttentionTrace) -> None:
    """Two lines that a back row can read, and the integrity line."""
    verdict = _verdict(choice, trace.answer)
    answer = plain(trace.answer) or "(nothing)"
    st.markdown(f"#### {plain(trace.question)} → **{answer}**{verdict}")
    first = trace.steps[0]
    others = ", ".join(f"{plain(c.label)} {percent(c.probability)}" for c in first.next_best)
    proof = trace.proof
    st.markdown(
        f"Probability of this answer **{percent(trace.probability)}**; its first piece could also "
        f"have been {others}.  \n"
        f":material/verified: Replayed through the weights shown: logits differ by at most "
        f"{proof.replay_max_difference:.0e}, rows sum to 1 within {proof.row_sum_max_error:.0e}, "
        f"future {'exactly 0' if proof.future_exactly_zero else 'NOT 0'}, {proof.dtype}."
    )
    note = mechanism_note(trace)
    if note:
        st.markdown(f":material/info: {note}")


def _verdict(choice: Choice, answer: str) -> str:
    if choice.expected is None:
        unknown = "nobody in the table" if choice.corpus == "notable" else "right answer unknown"
        return f"  :gray-badge[{unknown}]"
    if answer.strip() == choice.expected:
        return "  :green-badge[:material/check: right]"
    return f"  :red-badge[:material/close: wrong: {plain(choice.expected)}]"
