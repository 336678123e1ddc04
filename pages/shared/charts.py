"""Figures of core on a page, what a click on one says, and what is shown as files."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any, Literal

import pandas as pd
import pyarrow as pa  # Streamlit sends tables in its format
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.plot import Plot
from core.figures.template import Figure, to_svg
from pages.shared import present


def show_chart(
    figure: Figure,
    *,
    alt: str,
    key: str | None = None,
    on_select: Literal["ignore"] | Callable[[], None] = "ignore",
    width: int | Literal["stretch", "content"] | None = None,
    place: DeltaGenerator | None = None,
    main: bool = False,
) -> None:
    """Draw a figure; `alt` says in words what is seen. Its tables travel beside it, by name.

    The `main` one of a page is what is seen where it is presented.
    """
    if main:
        place = (place or st).container(key=present.PICTURE)
        if present.on():
            figure, width = present.enlarged(figure, alt), "content"
    tables = {name: _arrow(frame) for name, frame in figure.tables.items()}
    (place or st).vega_lite_chart(
        spec=figure.spec | {"datasets": tables},
        key=key,
        on_select=on_select,
        width=width,
        alt=alt,
    )


def show_plot(
    plot: Plot,
    *,
    alt: str,
    key: str | None = None,
    on_select: Literal["ignore"] | Callable[[], None] = "ignore",
    main: bool = False,
) -> None:
    """Draw a figure of Plotly's; of what is clicked, points say so, cells do not."""
    place = st.container(key=present.PICTURE) if main else st
    if main and present.on():
        plot = present.enlarged_plot(plot)
    place.plotly_chart(
        plot.to_dict(),
        key=key,
        on_select=on_select,
        selection_mode="points",
        config=plot.config,
        alt=alt,
    )


def clicked_point(key: str) -> int | None:
    """The number of a clicked point in its trace; None if nothing was chosen."""
    points: Any = st.session_state[key]["selection"].get("points")
    point: Any = points[0] if isinstance(points, list) and points else None
    number = point.get("point_index") if isinstance(point, dict) else None
    return number if isinstance(number, int) and number >= 0 else None


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


def download(label: str, data: Callable[[], bytes], file_name: str, mime: str) -> None:
    """One button; nothing is made before it is pressed."""
    st.download_button(
        label, data, file_name, mime, key=label, on_click="ignore", icon=":material/download:"
    )


def download_svg(label: str, chart: Figure, file_name: str, *, width: int | None = None) -> None:
    """A picture as it is drawn; `width` is that of its plot in the file, where it is told."""
    if width is not None:
        chart = replace(chart, spec=chart.spec | {"width": width})
    download(f"{label} (SVG)", partial(to_svg, chart), f"{file_name}.svg", "image/svg+xml")


def download_csv(label: str, table: pd.DataFrame, file_name: str) -> None:
    """A table with its headings."""
    download(f"{label} (CSV)", lambda: table.to_csv().encode(), f"{file_name}.csv", "text/csv")


def download_json(label: str, values: Callable[[], dict[str, Any]], file_name: str) -> None:
    """Values with their names."""
    download(
        f"{label} (JSON)",
        lambda: json.dumps(values(), ensure_ascii=False).encode(),
        f"{file_name}.json",
        "application/json",
    )
