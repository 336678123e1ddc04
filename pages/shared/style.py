"""What Streamlit's theme cannot say: how much of a window its pages take, what it leaves pale."""

import streamlit as st

# Wide windows: the margins of a page go to its pictures. Phones: three pictures that share a line
# elsewhere stand below one another, each as wide as the window.
# Streamlit writes white on the main colour, which is light where the theme is dark. Too pale are
# the name of a control that cannot be used and the colours of code; and a formula in a line of its
# own is two pixels wider than its box, which then scrolls.
# A button that is there for its key alone (pages/shared/present.py) is not seen.
RULES = """
.st-key-present-now { display:none; }
[data-testid^=stBaseButton-primary] { color: light-dark(#FFFFFF, #14141B) !important; }
[data-testid=stWidgetLabel][disabled] { color: inherit; }
[data-testid=stCode] .token { color: inherit !important; }
.katex-display { padding: 3px; }
pre.letters {
  margin: 0; padding: 0.75rem; border-radius: 0.5rem; overflow-x: auto;
  background: rgba(128, 128, 128, 0.12); font-family: "Source Code Pro", monospace;
}
@media (min-width: 641px) {
  [data-testid=stMainBlockContainer] { padding-left: 2.5rem; padding-right: 2.5rem; }
}
@media (max-width: 640px) {
  .st-key-three [data-testid=stGridCell] { grid-column: 1 / -1 !important; }
}
"""


def apply_style() -> None:
    """Add the rules to the page."""
    st.html(f"<style>{RULES}</style>")
