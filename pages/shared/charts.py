"""Figures of core on a page, and what a click on one says."""

from collections.abc import Callable
from math import isfinite
from typing import Any, Literal

import pandas as pd
import pyarrow as pa  # Streamlit sends tables in its format
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
    tables = {name: _arrow(frame) for name, frame in figure.tables.items()}
    (place or st).vega_lite_chart(
        spec=figure.spec | {"datasets": tables},
        key=key,
        on_select=on_select,
        width=width,
        alt=alt,
    )


def _arrow(frame: pd.DataFrame) -> pa.Table:
    """The columns alone: the index and what pandas notes of it cost half of a small table."""
    return pa.table({str(name): pa.array(frame[name], from_pandas=True) for name in frame})


def clicked(key: str, selection: str, *fields: str) -> tuple[int, ...] | None:
    """The whole numbers that a clicked mark has in these fields; None if nothing was chosen.

    A mark of another layer, or a message that no browser of ours sent, need not have them.
    """
    points: Any = st.session_state[key]["selection"].get(selection)
    point: Any = points[0] if isinstance(points, list) and points else None
    values = [point.get(field) for field in fields] if isinstance(point, dict) else []
    numbers = [int(v) for v in values if isinstance(v, int | float) and isfinite(v) and v == int(v)]
    return tuple(numbers) if len(numbers) == len(fields) else None
