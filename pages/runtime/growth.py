"""What was measured, of either question: how it stands, two pictures, numbers below, files."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.bench.curves import not_run
from core.bench.record import Bench, Record, Setting
from core.bench.spec import GENERATION
from core.bench.summary import report_of
from core.catalogue import label
from core.figures.template import Figure
from pages.runtime import controls, generation, passes, words
from pages.runtime.controls import Looked, Source
from pages.runtime.job import show_job
from pages.shared import jobs as job_kit
from pages.shared.charts import download, show_chart
from pages.shared.text import plain

TABLES_KEY = "rt-tables"
NARROWEST = 400  # pixels of a picture: narrower, and little is left beside the names at its edge


def show_growth(looked: Looked) -> None:
    """From the state of a job down to the files; a damaged measurement says what is wrong."""
    source = controls.all_sources().get(looked.source)
    if source is None:
        st.info(words.EMPTY, icon=":material/timer:")
        return
    if source.job is not None:
        show_job(source.job)
    try:
        bench = controls.read_source(source)
    except (ValueError, OSError) as error:
        st.error("", icon=":material/block:")
        st.text(str(error))
        return
    setting = looked.setting
    if setting is None:
        st.info(words.not_asked(looked.question), icon=":material/timer:")
        return
    records = [r for r in bench.of(setting) if r.method not in looked.hidden]
    if not records:
        st.info("The first points appear when the shortest texts are measured.")
        return
    _show_measured(source, bench, records, looked)


def _show_measured(source: Source, bench: Bench, records: list[Record], looked: Looked) -> None:
    """The headline, two pictures, and what the times depend on."""
    setting = records[0].setting
    there, other = _beside(looked.beside, setting)
    question = generation if setting.question == GENERATION else passes
    told = question.told(bench, setting, records, looked, other)
    st.markdown(f"##### {plain(told.title)}")
    if there is not None:
        st.markdown(words.which(plain(source.label), plain(there.label)))
    pictures = st.grid(2, min_column_width=NARROWEST)
    for first, picture in zip((True, False), told.pictures, strict=True):
        with pictures.cell():
            show_chart(picture.chart, alt=picture.alt, main=first)
    st.markdown(told.how)
    with st.expander(told.heading):
        _show_table(told.rows)
        st.markdown(told.more)
        _show_left_out(records)
        st.caption(plain(words.conditions(bench)))
        if other is not None:
            st.caption(f"Dotted: {plain(words.conditions(other))}")
    charts = {picture.name: picture.chart for picture in told.pictures}
    show_files(bench, setting, records, charts)


def _show_table(rows: list[dict[str, str]]) -> None:
    """On a narrow screen it moves sideways under its first column."""
    st.dataframe(
        rows,
        hide_index=True,
        height="content",
        column_config={words.FIRST: st.column_config.TextColumn(pinned=True)},
    )


def _beside(other: str | None, setting: Setting) -> tuple[Source | None, Bench | None]:
    """Another machine and its measurement, if it has this setting."""
    source = None if other is None else controls.all_sources().get(other)
    if source is None:
        return None, None
    try:
        bench = controls.read_source(source)
    except (ValueError, OSError) as error:
        st.text(str(error))
        return None, None
    if setting not in bench.settings:
        st.caption(
            f"{plain(source.label)} was not measured with this setting: "
            f"{plain(words.setting_label(setting))}."
        )
        return None, None
    return source, bench


def _show_left_out(records: list[Record]) -> None:
    """What has no time, with its reason, each reason once a method."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for method, length, why in not_run(records):
        reasons.setdefault((method, why), []).append(f"{length:,}")
    if reasons:
        st.markdown(
            "Not run: "
            + "; ".join(
                f"{label(method)} at {', '.join(lengths)} tokens ({plain(why)})"
                for (method, why), lengths in reasons.items()
            )
            + "."
        )


def show_files(
    bench: Bench, setting: Setting, records: Sequence[Record], charts: Mapping[str, Figure]
) -> None:
    """The files of one picture, and the report of its setting."""

    def offer_report() -> None:
        make = partial(report, bench, setting)
        download("Report (JSON)", make, "bench.json", "application/json")

    job_kit.show_files(
        "As table and files", charts, lambda: _table(records), key=TABLES_KEY, more=offer_report
    )


def _table(records: Sequence[Record]) -> pd.DataFrame:
    """One line a record; its flags as one text."""
    return pd.DataFrame([{**r.to_dict(whole=False), "flags": "; ".join(r.flags)} for r in records])


def report(bench: Bench, setting: Setting) -> bytes:
    """The JSON that `python -m core bench --json` prints, of one setting."""
    one = Bench(
        machine=bench.machine, environment=bench.environment, records=tuple(bench.of(setting))
    )
    return json.dumps(report_of(one), ensure_ascii=False, indent=1).encode()
