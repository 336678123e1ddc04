"""Everything drawn as a file, and as a table for those who cannot use the picture."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.template import Figure
from core.inspection.heads import head_name
from core.inspection.trace_json import trace_to_dict
from core.inspection.traced import AttentionTrace
from pages.attention.view import View
from pages.shared.charts import download, download_json, download_svg
from pages.shared.text import plain

TABLES_KEY = "tables"
MOST_CELLS, MOST_NUMBERS = 128**2, 5_000_000  # of a table on the page, of a trace as text


def show_downloads(
    trace: AttentionTrace,
    view: View,
    charts: dict[str, Figure],
    at: tuple[int, int],
    row: int,
    *,
    no_first: bool = False,
) -> None:
    """SVG of each picture, CSV of the head's weights, JSON of the whole trace; and tables.

    Files are made when a button is pressed, not before.
    """
    name = head_name(*at) + (" without the first token" if no_first else "")
    n_cells = int(np.prod([len(side) for side in view.axes[at[0]].within]))
    with st.container(horizontal=True):
        for what, chart in charts.items():
            download_svg(what, chart, f"{name} {what.lower()}")
        download("Weights (CSV)", partial(_csv, view, at), f"{name}.csv", "text/csv")
        if trace.weights.size <= MOST_NUMBERS:
            download_json("Trace", partial(trace_to_dict, trace), "trace")
    if trace.weights.size > MOST_NUMBERS:
        st.caption(
            f"No JSON of the whole trace: it has {trace.weights.size / 1e6:.0f} million weights, "
            f"and as text up to {MOST_NUMBERS / 1e6:.0f} million are written."
        )
    tables = st.expander(
        "As tables: rows are queries, columns keys, counted from 0",
        key=TABLES_KEY,
        on_change="rerun",
    )
    if tables.open:  # a styled table of 128 tokens is twice as heavy as all pictures together
        tables.caption(f"Head {plain(name)}")
        if n_cells <= MOST_CELLS:
            table = weight_table(view, at)
            tables.dataframe(table.style.format("{:.3f}", na_rep="masked"))
        else:
            tables.caption(f"Its {n_cells} weights are in the file (CSV); here is the chosen row.")
        tables.dataframe(row_table(view, at, row).style.format("{:.3f}"))


def _csv(view: View, at: tuple[int, int]) -> bytes:
    return weight_table(view, at).to_csv().encode()


def weight_table(view: View, at: tuple[int, int]) -> pd.DataFrame:
    """Weights with position and token in the headings; masked cells are missing values."""
    axes = view.axes[at[0]]
    rows = [f"{index} {axes.row_labels[index]}" for index in axes.rows]
    columns = [f"{index} {axes.column_labels[index]}" for index in axes.columns]
    standing = np.ix_(axes.rows, axes.columns)
    table = pd.DataFrame(view.weights(at)[standing], index=rows, columns=columns)
    return table.where(axes.visible[standing])


def row_table(view: View, at: tuple[int, int], row: int) -> pd.DataFrame:
    """Weight and contribution of one query row, a line a key that it can see."""
    axes = view.axes[at[0]]
    seen = axes.seen(row)
    return pd.DataFrame(
        {"weight": view.weights(at)[row, seen], "contribution": view.contribution(at)[row, seen]},
        index=[f"{index} {axes.column_labels[index]}" for index in seen],
    )
