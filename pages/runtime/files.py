"""Every picture as SVG, every number as CSV, JSON and as a table."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.bench.record import Bench, Record, Setting
from core.bench.summary import report_of
from core.figures.template import Figure
from pages.shared.files import download, download_svg

TABLES_KEY = "rt-tables"
FILE_WIDTH = 640  # pixels of a picture, which on the page is as wide as its place


def show_files(
    bench: Bench, setting: Setting, records: Sequence[Record], charts: Mapping[str, Figure]
) -> None:
    """In a box that makes nothing before it is opened; files are made when one is wanted."""
    box = st.expander("As table and files", key=TABLES_KEY, on_change="rerun")
    if not box.open:
        return
    frame = table(records)
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
            download(
                "Report (JSON)", partial(report, bench, setting), "bench.json", "application/json"
            )
        st.dataframe(frame, hide_index=True, height=320)


def table(records: Sequence[Record]) -> pd.DataFrame:
    """One line a record; its flags as one text."""
    return pd.DataFrame([{**r.to_dict(whole=False), "flags": "; ".join(r.flags)} for r in records])


def report(bench: Bench, setting: Setting) -> bytes:
    """The JSON that `python -m core bench --json` prints, of one setting."""
    one = Bench(
        machine=bench.machine, environment=bench.environment, records=tuple(bench.of(setting))
    )
    return json.dumps(report_of(one), ensure_ascii=False, indent=1).encode()
