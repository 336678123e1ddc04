"""What Streamlit's theme cannot say: how much of a window its pages take."""

import streamlit as st

# Wide windows: the margins of a page go to its pictures. Phones: three pictures that share a line
# elsewhere stand below one another, each as wide as the window.
# A button that is there for its key alone (pages/shared/present.py) is not seen.
RULES = """
.st-key-present-now { display:none; }
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
