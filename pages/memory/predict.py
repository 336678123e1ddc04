"""What a visitor expects, before it is shown; and what there is to expect it from."""

from collections.abc import Sequence

import streamlit as st

from core.figures.memory import bytes_chart
from core.memory.generation import kept_by_methods
from core.memory.names import FORMS, label
from core.memory.spec import state_numbers
from pages.memory import lines
from pages.memory.controls import PREFIX, Chosen
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import plain

WITHOUT = "look"
KEPT = "Bytes that one head keeps, a pair a token"
COVERED = (
    ":material/visibility_off: **Covered.** Say above what you expect, or look without. Until then "
    "this is what each mechanism does with a pair of a key k and a value v:"
)


def foreseen(
    chosen: Chosen, key: str, question: str, *, of: Sequence[str] | None = None
) -> str | None:
    """The mechanism that is expected, of all that are drawn or of some; WITHOUT for none; None
    before anything was said.
    """
    if not chosen.predict:
        return WITHOUT
    return bound.segmented_control(
        question,
        [*(chosen.methods if of is None else of), WITHOUT],
        format_func=lambda option: "Look without" if option == WITHOUT else label(option),
        key=f"{PREFIX}{key}",
    )


def cover(chosen: Chosen) -> None:
    """What can be known before: what a pair does, and how many numbers are kept."""
    most = chosen.pairs[-1]
    rows = [
        {
            "mechanism": label(method),
            "when a pair comes": FORMS[method].kind,
            "as a formula": FORMS[method].formula,
            f"numbers behind {most:,} pairs": f"{state_numbers(method, chosen.spec, most):,}",
        }
        for method in chosen.methods
    ]
    with st.container(border=True):
        st.markdown(COVERED)
        st.dataframe(rows, hide_index=True, height="content")
    kept = kept_by_methods(chosen.spec, chosen.pairs)
    chart = bytes_chart(lines.of_heads(kept, chosen.methods), title=KEPT, height=260)
    show_chart(chart, alt=KEPT, main=True)


def verdict(said: str, right: str, why: str) -> None:
    """What was expected beside what is right; nothing of who looked without."""
    if said == WITHOUT:
        return
    if said == right:
        st.markdown(f":green[:material/check:] You said **{plain(label(said))}**, and so it is.")
    else:
        st.markdown(f"You said **{plain(label(said))}**. {plain(why)}")
