"""Every picture as SVG, every measurement as CSV and as a table."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.figures.template import Figure
from core.jobs.curves import flat_rows
from pages.shared.files import download, download_svg
from pages.training.data import Rows

TABLES_KEY = "training-tables"
FILE_WIDTH = 640  # pixels of a picture, which on the page is as wide as its place


def show_files(measured: Mapping[str, Rows], charts: Mapping[str, Figure]) -> None:
    """In a box that makes nothing before it is opened; files are made when one is wanted."""
    if not measured:
        return
    box = st.expander("As tables and files", key=TABLES_KEY, on_change="rerun")
    if not box.open:
        return
    frame = table(measured)
    with box:
        with st.container(horizontal=True):
            for what, chart in charts.items():
                download_svg(what, chart, what.lower(), width=FILE_WIDTH)
            download(
                "Measurements (CSV)",
                lambda: frame.to_csv(index=False).encode(),
                "measurements.csv",
                "text/csv",
            )
        st.dataframe(frame, hide_index=True, height=320)


def table(measured: Mapping[str, Rows]) -> pd.DataFrame:
    """All lines of metrics, the run's name in the first column."""
    return pd.DataFrame(
        [{"run": name, **row} for name, rows in measured.items() for row in flat_rows(rows)]
    )
