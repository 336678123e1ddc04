"""Words of all pages: hints are short, and no text names a place that a phone has folded away."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest

from pages.heads.controls import ALL, ONE, PATCH, TWICE
from pages.listen.sounds import SOURCES
from pages.memory.controls import VIEWS as MEMORY_VIEWS
from pages.runtime.words import VIEWS
from pages.shared.choosing import TRACE, UPLOADED

Open = Callable[..., AppTest]
MOST_WORDS = 39
PLACES = re.compile(r"\b(side ?bar|on the (left|right)|(left|right)[- ]hand)\b", re.IGNORECASE)
EXAMPLES = ("Weights", "Copy", "Average", "Take out", "Identity", "Design")
SAID = ("body", "label", "help", "text", "placeholder")  # fields of what a page sends
VIEWED: list[tuple[str, dict[str, str]]] = [
    ("home", {}),
    ("lessons", {}),
    ("attention", {}),
    ("attention", {"checkpoint": UPLOADED}),
    ("heads", {"heads-checkpoint": TRACE}),
    *[("heads", {"heads-part": part}) for part in (ALL, ONE, PATCH, TWICE)],
    ("knowledge", {}),
    *[("listen", {"listen-source": source}) for source in SOURCES],
    ("compare", {}),
    ("look", {}),
    ("look", {"look-from": "wrong"}),
    ("look", {"look-from": "draw"}),
    ("monte_carlo", {"mc-predict": "false", "mc-heads": "free"}),
    ("monte_carlo", {"mc-beta": "-1"}),
    *[("attention_by_hand", {"hand-example": example}) for example in EXAMPLES],
    ("attention_by_hand", {"hand-scores": "none"}),
    ("memory", {}),
    *[("memory", {"memory-predict": "false", "memory-view": view}) for view in MEMORY_VIEWS],
    *[("runtime", {"rt-view": view}) for view in VIEWS],
    ("training", {}),
    ("training", {"training-view": "Compare"}),
    ("report_card", {}),
]


def said(part: Any) -> Iterator[tuple[str, str]]:
    """(field, text) of everything under a part of a page's tree."""
    if getattr(part, "proto", None) is not None:
        yield from _texts(MessageToDict(part.proto, preserving_proto_field_name=True))
    for child in getattr(part, "children", {}).values():
        yield from said(child)


def _texts(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, field)
    elif isinstance(value, str) and field in SAID:
        yield field, value


@pytest.mark.parametrize(("page", "query"), VIEWED, ids=str)
def test_every_hint_is_short_and_no_text_names_a_place_that_may_be_folded_away(
    open_by_link: Open, page: str, query: dict[str, str]
):
    found = list(said(open_by_link(page, **query)._tree))
    assert len(found) > 5
    hints = {text for field, text in found if field == "help"}
    assert {text: n for text in hints if (n := len(text.split())) > MOST_WORDS} == {}
    assert [text for _, text in found if PLACES.search(text)] == []


@pytest.mark.parametrize(
    "text", ["Start one on the left.", "Upload it in the side bar.", "Sidebar"]
)
def test_a_place_is_found_in_a_text(text: str):
    assert PLACES.search(text)


def test_what_was_left_is_no_place():
    assert not PLACES.search("Left empty: as in the preset; what is left over, from the left.")
