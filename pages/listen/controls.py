"""Who listens, to what, and with which heads off."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.checkpoints.shelf import list_checkpoints
from core.inspection.heads import HeadsOff, head_name, parse_head
from core.paths import CHECKPOINTS
from pages.listen.sounds import PREFIX, Given, choose_sound
from pages.shared import bound
from pages.shared.choosing import choose_name
from pages.shared.loading import HASHED, Source, shipped

if TYPE_CHECKING:
    from core.inspection.heard import Listened

USUAL, BESIDE = "speech-attention", "speech-lstm"
NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A recogniser, None where there is none; a sound, None while there is none; heads that are
    off. `other` listens beside it.
    """

    source: Source | None
    given: Given | None
    off: HeadsOff
    other: str | None = None


def choose() -> Chosen:
    """The controls of the side bar. Raises ValueError for weights or a sound of no use."""
    names = list_checkpoints(CHECKPOINTS, hears=True)
    with st.sidebar:
        given = choose_sound()
        if not names:
            return Chosen(source=None, given=given, off=HeadsOff())
        name = choose_name(names, prefix=PREFIX, label="Recogniser", default=USUAL)
        source = shipped(name, None)
        off = _choose_off(source)
        others = [other for other in names if other != name]
        other = NONE
        if others:
            usual = next((one for one in (BESIDE, USUAL) if one in others), others[0])
            other = bound.selectbox(
                "Beside it",
                [*others, NONE],
                others.index(usual),
                key=f"{PREFIX}other",
                follows=True,
                help="A second recogniser, which hears the same.",
            )
    return Chosen(source=source, given=given, off=off, other=None if other == NONE else other)


def _choose_off(source: Source) -> HeadsOff:
    kinds = source.load().model.shape.kinds
    n_heads = source.load().model.shape.n_heads
    named = {
        head_name(layer, head): kind for layer, kind in enumerate(kinds) for head in range(n_heads)
    }
    names = bound.multiselect(
        "Heads off",
        list(named),
        format_func=lambda name: f"{name} {named[name]}",
        key=f"{PREFIX}off",
        placeholder="all are on",
        help="What they give becomes zero. Cross heads look at the sound.",
    )
    return HeadsOff(heads=tuple(sorted(map(parse_head, names))))


def hear(source: Source, given: Given, off: HeadsOff | None = None) -> "Listened":
    """What a recogniser makes of a sound, kept by weights, sound and heads."""
    return _heard(source, given.digest, off or HeadsOff(), given)


@st.cache_resource(max_entries=64, show_spinner="Listening", hash_funcs=HASHED)
def _heard(source: Source, digest: str, off: HeadsOff, _given: Given) -> "Listened":
    from core.inspection.listening import listen  # noqa: PLC0415 - loads torch

    return listen(source.load(), _given.frames.copy(), off=off)  # torch takes what may be written
