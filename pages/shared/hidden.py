"""What a link leaves out of a page: controls by their keys, the text, the sidebar, the header.

What is hidden is drawn all the same, so that every value stays as the link has it.
"""

import re
from collections.abc import Iterable, Sequence

import streamlit as st

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


def hide(names: Iterable[str]) -> set[str]:
    """Hide what has these names, as far as it is known by now; returns which those are.

    A name reaches the style sheet only if a control of this page has it as its key.
    """
    found = {name for name in names if _is_known(name)}
    selectors = [
        selector
        for name in sorted(found)
        if name in PARTS or _KEY.fullmatch(name)
        for selector in PARTS.get(name, (f".st-key-{name}",))
    ]
    if selectors:
        room = _ROOM if HEADER in found else ""
        st.html(f"<style>{', '.join(selectors)} {{ display: none !important; }} {room}</style>")
    return found


def tell_unknown(names: Iterable[str]) -> None:
    """After a page was drawn: tell which names nothing here has."""
    if unknown := [name for name in dict.fromkeys(names) if not _is_known(name)]:
        link.tell(_unknown(unknown))


def _is_known(name: str) -> bool:
    return name in PARTS or name in link.keys_here()


def _unknown(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{plain(name[: link.MOST_CHARACTERS])}”" for name in names)
    possible = ", ".join([*PARTS, *sorted(link.controls())])
    return f"The link hides {shown}, which this page does not have. It can hide {plain(possible)}."
