"""What all examples share: inputs in the URL with their error beside them, and the layout."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, TypeVar

import streamlit as st

from core.figures.template import Figure
from core.theory.by_hand.check import Check
from pages.attention_by_hand.words import Lines, check_table, tex_lines
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import plain

Made = TypeVar("Made")


def slider(label: str, least: float, most: float, default: float, step: float, key: str) -> float:
    """A slider in the URL."""
    return bound.slider(label, least, most, default, step, key=key)


def count(label: str, least: int, most: int, default: int, key: str) -> int:
    """A whole number in the URL."""
    return int(bound.number_input(label, least, most, default, 1, key=key))


def typed(
    label: str, default: str, key: str, read: Callable[[str], Made], *, note: str = ""
) -> Made | None:
    """A text field in the URL; what cannot be read is said under it, and None is returned."""
    text = bound.text_input(label, default, key=key, help=note or None)
    return attempt(partial(read, text))


def attempt(make: Callable[[], Made]) -> Made | None:
    """What is made, or None after the reason why it cannot be."""
    try:
        return make()
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return None


def waiting() -> None:
    """The main part while an input cannot be used."""
    st.info("An input on the left cannot be used; its reason stands under it.")


def show(
    sentence: str,
    formulas: Lines,
    chart: Figure,
    checks: Sequence[Check],
    *,
    alt_text: str,
    note: str,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """The meaning, lines of mathematics with its numbers, and the picture beside the checks."""
    st.markdown(f"**{sentence}**")
    st.markdown(tex_lines(formulas))
    picture, table = st.columns([1, 1.7], gap="medium")
    with picture:
        show_chart(chart, width=width, alt=alt_text)
        st.markdown(note)
    table.markdown(check_table(checks))
