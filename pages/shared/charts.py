"""Figures of core on a page, and what a click on one says."""

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.template import Figure


def show_chart(
    figure: Figure,
    *,
    alt: str,
    key: str | None = None,
    on_select: Literal["ignore"] | Callable[[], None] = "ignore",
    width: int | Literal["stretch", "content"] | None = None,
    place: DeltaGenerator | None = None,
) -> None:
    """Draw a figure; `alt` says in words what is seen. Its tables travel beside it, by name."""
    (place or st).vega_lite_chart(
        spec=figure.spec | {"datasets": dict(figure.tables)},
        key=key,
        on_select=on_select,
        width=width,
        alt=alt,
    )


def clicked(key: str, selection: str, *fields: str) -> tuple[int, ...] | None:
    """The whole numbers that a clicked mark has in these fields; None if nothing was chosen.

    A mark of another layer, or a message that no browser of ours sent, need not have them.
    """
    points: Any = st.session_state[key]["selection"].get(selection)
    point = points[0] if isinstance(points, list) and points else None
    values = [point.get(field) for field in fields] if isinstance(point, dict) else [None]
    if not all(isinstance(value, int | float) and value == int(value) for value in values):
        return None
    return tuple(int(value) for value in values)
