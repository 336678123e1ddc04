"""A place to draw a digit on, with a pointer or a finger.

Streamlit has none: this is one of its components, of a few lines of script. By the keyboard a
picture is chosen or uploaded in its place.
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from core.pictures.strokes import (
    CANVAS,
    MOST_POINTS,
    MOST_STROKES,
    PEN,
    Strokes,
    parse_strokes,
)

KEY, DRAWN = "look-canvas", "look-drawn"  # the component; in the session: what is drawn on it
LABEL = "Draw a digit here with a pointer or a finger. By keyboard choose or upload a picture."
HTML = f"""
<div class="pad">
  <canvas width="{CANVAS}" height="{CANVAS}" role="img" aria-label="{LABEL}"></canvas>
  <div class="ways">
    <button type="button">Undo</button>
    <button type="button">Clear</button>
  </div>
</div>
"""


def draw_on() -> Strokes:
    """The place to draw on, and what is drawn there; it stays while other pages are looked at."""
    strokes: Strokes = st.session_state.get(DRAWN, ())
    _component()(
        key=KEY,
        data={
            "strokes": [[value for at in stroke for value in at] for stroke in strokes],
            "pen": PEN,
            "most_strokes": MOST_STROKES,
            "most_points": MOST_POINTS,
        },
        on_strokes_change=_keep,
    )
    return strokes


def _keep() -> None:
    """What a browser says is drawn; what is no drawing is as if nothing were."""
    try:
        st.session_state[DRAWN] = parse_strokes(st.session_state[KEY]["strokes"])
    except ValueError:
        st.session_state[DRAWN] = ()


@lru_cache(maxsize=1)
def _component() -> Callable[..., Any]:
    here = Path(__file__)
    css, js = (here.with_suffix(ending).read_text(encoding="utf-8") for ending in (".css", ".js"))
    return component("look_canvas", html=HTML, css=css, js=js)
