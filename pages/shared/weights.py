"""Which weights a view shows, by a short hash of their content, and which a link was made with."""

from dataclasses import dataclass, field

import streamlit as st

from pages.shared import link
from pages.shared.text import plain

WEIGHTS = "weights"  # in the address
STATE = "weights-shown"
N_DIGITS = 8


@dataclass(slots=True)
class Shown:
    """Short hashes: of the present run; and, of a link that names some, those that it asked for and
    what was shown when it was opened.
    """

    now: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])
    opened: list[str] = field(default_factory=list[str])


def short(digest: str) -> str:
    """The first digits of a content digest."""
    return digest[:N_DIGITS]


def begin() -> None:
    """Before a page is drawn."""
    _shown().now.clear()


def note(digest: str) -> None:
    """These weights were chosen on the page."""
    if short(digest) not in _shown().now:
        _shown().now.append(short(digest))


def shown() -> list[str]:
    """Short hashes of what the page has chosen."""
    return list(_shown().now)


def compare() -> None:
    """After a page was drawn: tell that it shows other weights than the link was made with.

    With another choice the link's weights are out of date and leave the address.
    """
    found, asked = _shown(), st.query_params.get_all(WEIGHTS)
    if not asked or not found.now:
        found.asked, found.opened = [], []
        return
    if found.asked != asked:
        found.asked, found.opened = asked, list(found.now)
    elif found.opened != found.now:
        del st.query_params[WEIGHTS]
        return
    if others := [one for one in asked if one[:N_DIGITS].lower() not in found.now]:
        theirs = plain(", ".join(others)[: link.MOST_CHARACTERS])
        link.tell(
            f"The link was made with other weights ({theirs}; here they are "
            f"{', '.join(found.now)}), so numbers may differ from what it showed."
        )


def _shown() -> Shown:
    return st.session_state.setdefault(STATE, Shown())
