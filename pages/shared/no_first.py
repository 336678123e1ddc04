"""The toggle that leaves out the first token, and what is said where it is on."""

from collections.abc import Iterable

import streamlit as st

from core.inspection.sinks import first_stays
from core.inspection.traced import AttentionTrace
from pages.shared import bound
from pages.shared.text import plain

LABEL = "Without the first token"
HELP = (
    "Many heads rest on the first token while they have nothing to look at. Without it, weights "
    "are renormalised over the other keys, and a row that leaves them nothing is none."
)


def choose_no_first(key: str, reason: str = "") -> bool:
    """On or off; with a reason why there is no choice, that."""
    if reason:
        st.toggle(LABEL, disabled=True, key=f"{key}-lacking")
        st.caption(plain(reason))
        return False
    return bound.toggle(LABEL, key=key, help=HELP)


def why_not(traces: Iterable[AttentionTrace]) -> str:
    """Why the first token of some trace stays; empty where it can be left out of all."""
    return next(filter(None, map(first_stays, traces)), "")
