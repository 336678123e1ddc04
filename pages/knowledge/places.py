"""Whose places it knows: by continent, pronoun, century and how often a place occurs; and where it
puts people whom nobody knows.
"""

import streamlit as st

from core.figures import knowledge_measures as figures
from core.knowledge import bias_words as words
from core.knowledge import rows
from core.knowledge.bias_words import BREAKDOWNS
from core.knowledge.record import Knowledge
from pages.knowledge.controls import PREFIX
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import sentence, whole

INVENTED = "continents_of_invented"


def show_places(known: Knowledge) -> None:
    """One breakdown of the people that it read about, and the continents of invented names."""
    st.markdown("#### Whose places?")
    what = bound.selectbox(
        "By",
        list(BREAKDOWNS),
        format_func=BREAKDOWNS.__getitem__,
        key=f"{PREFIX}by",
        width=360,
    )
    people, invented = st.columns(2, gap="medium")
    with people:
        _show_people(known, what)
    with invented:
        _show_invented(known)


def _show_people(known: Knowledge, what: str) -> None:
    of = BREAKDOWNS[what]
    found = words.shares_by(known, what)
    if not found:
        _say_lacking(known, what)
        return
    title = f"Right answers and made-up words by {of}"
    st.markdown(f"**{title}**")
    show_chart(figures.interval_rows(*rows.breakdown(found), axis="share of answers"), alt=title)
    st.markdown(whole(words.breakdown_words(found, of)))
    if said := words.table_words(known):
        st.markdown(whole(said))


def _show_invented(known: Knowledge) -> None:
    found = known.continents_of_invented
    if not found:
        _say_lacking(known, INVENTED)
        return
    title = "Continents of the places that invented names get, and of training"
    st.markdown(f"**{title}**")
    show_chart(figures.interval_rows(*rows.continents(found), axis="share"), alt=title)
    st.markdown(whole(words.model_words(found)))


def _say_lacking(known: Knowledge, part: str) -> None:
    why = known.lacking.get(part, "nothing of this is in the record")
    st.info(sentence(why.rstrip(".")), icon=":material/info:")
