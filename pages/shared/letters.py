"""Lines whose letters stand under one another.

Streamlit's block of code would load a megabyte and a half, the colours of all languages, before it
is drawn; how such lines look is said in pages/shared/style.py.
"""

import re
from collections.abc import Sequence
from html import escape, unescape

from streamlit.delta_generator import DeltaGenerator

_OPEN = '<pre class="letters" tabindex="0" role="group" aria-label="{}">'
_BLOCK = re.compile(r'<pre class="letters"[^>]*>(.*)</pre>', re.DOTALL)


def show_lines(place: DeltaGenerator, lines: Sequence[str], *, name: str) -> None:
    """Draw lines as they are, in a box that scrolls; `name` is what a screen reader calls it."""
    place.html(_OPEN.format(escape(name)) + escape("\n".join(lines)) + "</pre>")


def letters_in(html: str) -> str | None:
    """The lines of an element that `show_lines` drew; None for any other HTML."""
    found = _BLOCK.fullmatch(html.strip())
    return None if found is None else unescape(found[1])
