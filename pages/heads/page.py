"""Which heads matter: all of them in one table, one question beside the average, patching; and what
they do with random tokens said twice.
"""

import streamlit as st

from pages.heads.controls import ALL, ONE, TWICE, Measured, choose, choose_part
from pages.heads.opened import show_opened
from pages.heads.overview import offer_to_measure, show_overview, table_of
from pages.heads.repeated import show_repeated


def main() -> None:
    """Choose on the left; all heads first, then what one question says, and two of them."""
    part = choose_part()
    try:
        measured = choose(part)
        if not isinstance(measured, Measured):
            show_opened(part, measured)
        elif part == ALL:
            _all_heads(measured)
        elif part == ONE:
            from pages.heads.example import show_example  # noqa: PLC0415 - loads torch

            show_example(measured)
        elif part == TWICE:
            show_repeated(measured)
        else:
            from pages.heads.patches import show_patches  # noqa: PLC0415 - loads torch

            show_patches(measured)
    except ValueError as error:
        st.error("", icon=":material/block:")
        st.text(str(error))


def _all_heads(measured: Measured) -> None:
    table = table_of(measured)
    if table is None:
        offer_to_measure(measured)
    else:
        show_overview(measured, table)


main()
