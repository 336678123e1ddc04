"""What is shown as files: pictures, tables and values, made when their button is pressed."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.figures.template import Figure, to_svg


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
