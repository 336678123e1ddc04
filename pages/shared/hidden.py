"""What a link leaves out of a page: controls by their keys, the text, the sidebar, the header.

What is hidden is drawn all the same, so that every value stays as the link has it.
"""

import re
from collections.abc import Iterable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import link
from pages.shared.text import plain

HIDE = "hide"  # in the address
TEXT, SIDEBAR, HEADER = "text", "sidebar", "header"
_MAIN = "[data-testid=stMain]"
# Captions and explanations of the main part; a text with a heading, and a lesson's own, stay.
_TEXTS = tuple(
    f"{_MAIN} {element}:not(:has(h1, h2, h3, h4, h5, h6)):not(.st-key-lesson-text *)"
    for element in ("[data-testid=stMarkdown]", "[data-testid=stCaptionContainer]")
)
PARTS: dict[str, Sequence[str]] = {
    TEXT: _TEXTS,
    SIDEBAR: ("[data-testid=stSidebar]", "[data-testid=stExpandSidebarButton]"),
    HEADER: ("[data-testid=stHeader]",),
}
_ROOM = "[data-testid=stMainBlockContainer] { padding-top: 1rem; }"  # where the header was
_KEY = re.compile(r"[A-Za-z0-9_-]+")  # as Streamlit has it in the name of a class


def asked() -> list[str]:
    """The names that the address hides."""
    return st.query_params.get_all(HIDE)


def hide(place: DeltaGenerator, names: Iterable[str], *, covered: bool = False) -> None:
    """Hide what has these names; those that nothing here has are told, unless the page is covered.

    A name reaches the style sheet only if a control of this page has it as its key.
    """
    names, keys = list(dict.fromkeys(names)), link.keys_here()
    unknown = [name for name in names if name not in keys and name not in PARTS]
    if unknown and not covered:
        link.tell(_unknown(unknown))
    selectors = [
        selector
        for name in names
        if name not in unknown and (name in PARTS or _KEY.fullmatch(name))
        for selector in PARTS.get(name, (f".st-key-{name}",))
    ]
    if selectors:
        room = _ROOM if HEADER in names else ""
        place.html(f"<style>{', '.join(selectors)} {{ display: none !important; }} {room}</style>")


def _unknown(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{plain(name[: link.MOST_CHARACTERS])}”" for name in names)
    possible = ", ".join([*PARTS, *sorted(link.controls())])
    return f"The link hides {shown}, which this page does not have. It can hide {plain(possible)}."
