"""Everything drawn as a file, and as a table for those who cannot use the picture."""

import json

import pandas as pd
import streamlit as st

from core.figures.attention import Figure
from core.figures.export import to_svg
from core.inspection.captions import head_name
from core.inspection.record import AttentionTrace
from pages.attention.view import View


def show_downloads(
    trace: AttentionTrace, view: View, chart: Figure, at: tuple[int, int]
) -> None:
    """SVG of the picture, CSV of the head's weights, JSON of the whole trace; and the table.

    Files are made when a button is pressed, not before.
    """
    name = head_name(*at)
    table = weight_table(view, at)
    with st.container(horizontal=True):
        st.download_button(
            "Picture (SVG)", lambda: to_svg(chart), f"{name}.svg", "image/svg+xml",
            key="svg", on_click="ignore", icon=":material/image:",
        )
        st.download_button(
            "Weights (CSV)", lambda: table.to_csv().encode(), f"{name}.csv", "text/csv",
            key="csv", on_click="ignore", icon=":material/table:",
        )
        st.download_button(
            "Trace (JSON)",
            lambda: json.dumps(trace.to_dict(), ensure_ascii=False).encode(),
            "trace.json", "application/json", key="json", on_click="ignore",
            icon=":material/data_object:",
        )
    with st.expander(f"The map of {name} as a table: rows are queries, columns keys, from 0"):
        st.dataframe(table.style.format("{:.3f}", na_rep="masked"))


def weight_table(view: View, at: tuple[int, int]) -> pd.DataFrame:
    """Weights with position and token in the headings; masked cells are missing values."""
    names = [f"{index} {label}" for index, label in enumerate(view.labels)]
    table = pd.DataFrame(view.weights[at], index=names, columns=names)
    positions = range(len(names))
    later = pd.DataFrame([[k > q for k in positions] for q in positions], names, names)
    return table.mask(later)
