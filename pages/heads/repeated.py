"""Random tokens said twice: every head beside uniform attention, and what the best are worth.

It needs no question, so it is for any decoder.
"""

import shlex
from functools import partial

import streamlit as st

from core.inspection.repeated_record import repeated_dict
from core.inspection.repeated_rows import NAMES, Repeated
from pages.heads import repeated_words as words
from pages.heads.controls import PREFIX, Measured
from pages.heads.overview import HEAD_LINE, LINE, link_of
from pages.heads.repeated_data import is_small, problem_of, result_of, want
from pages.shared import bound, who
from pages.shared.charts import download_csv, download_json
from pages.shared.models import listed
from pages.shared.text import plain, sentence

MOST_LINES = 10  # of the table, before it scrolls
WHY = (
    "In random tokens said twice there is nothing to know but what was just read. Heads that look "
    "back at what followed on the same token (induction) let a model write the second half."
)


def show_repeated(measured: Measured) -> None:
    """The result, or the way to get one. Raises ValueError for a model that is no decoder."""
    found = result_of(measured)
    if found is None:
        _offer(measured)
    else:
        _show(measured, found)


def _show(measured: Measured, found: Repeated) -> None:
    st.markdown(f"#### {plain(words.headline(found))}")
    st.markdown(f"{words.who_does_what(found)}  \n{words.what_it_costs(found)}")
    heads, losses = st.columns([1.4, 1], gap="medium")
    with heads:
        _show_heads(measured, found)
    with losses:
        st.markdown(words.losses_table(found))
    st.caption(plain(words.setting(found)))
    with st.container(horizontal=True):
        name = f"{measured.named} tokens said twice"
        download_csv("Table", words.frame(found), name)
        download_json("Result", partial(repeated_dict, found), name)


def _show_heads(measured: Measured, found: Repeated) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = bound.selectbox(
            "Sorted by (largest first)",
            list(words.SORTS),
            list(words.SORTS).index("induction"),
            format_func=words.SORTS.__getitem__,
            key=f"{PREFIX}twice-sort",
            width=220,
        )
        without_first = bound.toggle(
            "Without the first token",
            key=f"{PREFIX}twice-without-first",
            help="Many heads rest on the first token. Left out, the other weights of each row are "
            "divided by their sum; bold stays what is clear with it.",
        )
    rows = list(found.rows)
    if order in NAMES:
        rows = found.sorted_by(order, without_first=without_first)
    with st.container(height=LINE * min(len(rows), MOST_LINES) + HEAD_LINE, border=False):
        st.markdown(words.heads_table(rows, link_of(measured), without_first=without_first))


def _offer(measured: Measured) -> None:
    """Why there is no result yet, and how to get one."""
    st.markdown(f"#### {plain(measured.named)}: random tokens said twice")
    st.markdown(WHY)
    if problem := problem_of(measured):
        st.caption(f"The recorded result cannot be used: {plain(problem)}")
    if is_small(measured) or listed(measured.checkpoint) is not None:
        from pages.heads.measuring import why_not_twice  # noqa: PLC0415 - loads torch

        if why := why_not_twice(measured):
            st.info(sentence(why), icon=":material/info:")
            return
    st.info("Nothing is recorded for these weights yet.", icon=":material/hourglass_empty:")
    _offer_to_measure(measured, is_small=is_small(measured))


def _offer_to_measure(measured: Measured, *, is_small: bool) -> None:
    """A button for a small model, and the command for the end of a training."""
    if is_small:
        refused = who.refusal("measure")
        st.button(
            "Measure now",
            key=f"{PREFIX}measure-twice",
            on_click=want,
            args=(measured,),
            icon=":material/play_arrow:",
            help="A few seconds.",
            disabled=bool(refused),
        )
        who.say(refused)
    else:
        st.markdown("These weights are too large to be measured while a page waits.")
    if measured.snapshot is None:
        st.markdown("Once and for all, from the command line:")
        st.code(
            f"python -m core repeated --checkpoint {shlex.quote(measured.checkpoint)} --record",
            language="bash",
            wrap_lines=True,
        )
