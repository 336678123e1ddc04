"""Typed text shown as typed."""

import re

# Everything that Markdown, LaTeX, emoji shortcodes or HTML could read as more than itself.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$~:&^=\"'])")


def plain(text: str) -> str:
    """Escape a text for `st.markdown`, titles and labels; line breaks become spaces."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
