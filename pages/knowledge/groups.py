"""How sure it is of its answers in each group, and what its answers are."""

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from core.figures import knowledge as figures
from core.figures.knowledge import LETTERS
from core.knowledge import rows, words
from core.knowledge.file import TASK, knowledge_dict
from core.knowledge.record import Group, Knowledge
from core.knowledge.rows import Beside
from pages.knowledge.controls import PREFIX
from pages.shared.charts import download_csv, download_json, download_svg, show_chart
from pages.shared.text import plain, whole


def show_sureness(known: Knowledge, own: Group | None, other: Knowledge | None) -> None:
    """The main picture and its sentence."""
    title = words.sureness_title(known)
    st.markdown(f"#### Does it know that it does not know?\n**{whole(title)}.**")
    chart = figures.sureness_rows(rows.sureness(with_own(known, own), beside(other)))
    show_chart(chart, alt=title, main=True)
    st.markdown(whole(words.sureness_meaning(known)))
    st.caption(
        "Each row is a group of names that are asked the same question. A bar is the share of its "
        "answers that are so probable; its height is the square root of that, so that a few are "
        "seen, too. Dark are those over 90 %; the orange line is the median."
    )
    download_svg("Picture", chart.titled(title), f"{known.checkpoint} knowledge", width=900)


def show_outcomes(known: Knowledge, own: Group | None, other: Knowledge | None) -> None:
    """What kinds of answers there are, with every share in a table."""
    title = words.outcomes_title(known)
    st.markdown(f"#### What are its answers?\n**{whole(title)}.**  \n{_letters(known)}")
    groups, kinds = with_own(known, own), words.outcome_words(known)
    show_chart(figures.outcome_rows(rows.outcomes(groups, kinds, beside(other))), alt=title)
    for said in words.lacking_groups(known):
        st.caption(whole(said))
    box = st.expander(
        "As a table: every share with its 95 % interval",
        key=f"{PREFIX}outcomes-table",
        on_change="rerun",
    )
    if box.open:
        with box:
            _show_table(known, groups, other)


def with_own(known: Knowledge, own: Group | None) -> Mapping[str, Group]:
    """The groups of the record and, below them, the visitor's own."""
    return known.groups if own is None else {**known.groups, "own": own}


def beside(other: Knowledge | None) -> Beside | None:
    """The second model as the pictures name it."""
    if other is None:
        return None
    name = other.checkpoint if other.split == TASK else f"{other.checkpoint}, {other.split}"
    return name, other.groups


def _letters(known: Knowledge) -> str:
    """What the letters in the bars stand for."""
    kinds = words.outcome_words(known)
    return " · ".join(f"**{LETTERS[kind]}** {whole(text)}" for kind, text in kinds.items())


def _show_table(known: Knowledge, groups: Mapping[str, Group], other: Knowledge | None) -> None:
    kinds = words.outcome_words(known)
    table = pd.DataFrame(rows.outcome_table(groups, kinds))
    st.dataframe(table, hide_index=True)
    if other is not None:
        st.markdown(f"The same of {plain(other.checkpoint)}:")
        st.dataframe(pd.DataFrame(rows.outcome_table(other.groups, kinds)), hide_index=True)
    with st.container(horizontal=True):
        download_csv("Shares", table, f"{known.checkpoint} knowledge")
        download_json("Record", partial(knowledge_dict, known), f"{known.checkpoint} knowledge")
