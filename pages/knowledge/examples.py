"""What a reader should know, and single names with their answers."""

import pandas as pd
import streamlit as st

from core.knowledge import rows, words
from core.knowledge.record import Knowledge
from pages.knowledge.controls import PREFIX
from pages.shared import bound
from pages.shared.text import whole


def show_reader(known: Knowledge) -> None:
    """Three sentences, each with a number of this model."""
    said = "\n".join(f"1. {whole(text)}" for text in words.reader_sentences(known))
    st.markdown(f"#### What a reader of such a system should know\n{said}")


def show_examples(known: Knowledge) -> None:
    """Names of one group with what was answered; why there are none where they are not stored."""
    st.markdown("#### Examples")
    named = {key: group for key, group in known.groups.items() if group.examples}
    if not named:
        st.markdown("Neither names nor answers of these people are stored.")
        return
    first = known.never if known.never in named else next(iter(named))
    key = bound.selectbox(
        "Group",
        list(named),
        list(named).index(first),
        format_func=lambda option: named[option].label,
        key=f"{PREFIX}group",
        follows=True,
        width=360,
    )
    table = rows.example_table(named[key].examples, words.outcome_words(known))
    st.dataframe(pd.DataFrame(table), hide_index=True)
