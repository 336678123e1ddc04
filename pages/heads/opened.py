"""A trace from a file: what its heads look at and bring in this one example. No model, no torch."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.figures import heads as figures
from core.figures.heads import Beside
from core.inspection.captions import mechanism_note
from core.inspection.head_rows import Scores, known
from core.inspection.heads import head_name
from core.inspection.readings import named_scores, read_trace
from core.inspection.sinks import sinks_apart
from core.inspection.traced import AttentionTrace
from pages.heads.controls import ALL, ONE, PREFIX, TWICE, choose_first_out
from pages.heads.overview_words import NAMES, SCORES, cell
from pages.shared import bound
from pages.shared.charts import download_csv, download_json, download_svg, show_chart
from pages.shared.choosing import TRACE
from pages.shared.no_first import why_not
from pages.shared.text import percent, plain
from pages.shared.trace_files import (
    OpenedTrace,
    asked_line,
    needs_model,
    show_lacking,
    show_origin,
    show_proof,
)

HERE = {  # measures that one example has by itself, by their name among the scores
    "name": NAMES["weight_on_name"],
    "contribution": NAMES["contribution"],
    **SCORES,
}
LACKING = {
    ALL: "The table over many questions, and what each head is worth",
    TWICE: "Reading random tokens that are said twice",
    ONE: "What changes with a head off, direct attribution and the logit lens",
}
PATCHING = "Patching, which runs the model once for every site"


def show_opened(part: str, opened: OpenedTrace | None) -> None:
    """One measure of every recorded head, the caption of one, and all numbers as a table."""
    if opened is None or opened.file is None:
        show_lacking(opened)
        return
    trace = opened.file.trace
    chance = f", {percent(trace.probability)}" if trace.steps else ""
    st.markdown(f"#### {asked_line(trace)}{chance}")
    needs_model(LACKING.get(part, PATCHING))
    if note := mechanism_note(trace):
        st.markdown(f":material/info: {note}")
    scores = named_scores(read_trace(trace), apart=sinks_apart(trace))
    if choose_first_out(why_not([trace])):
        scores = scores.without_first or scores
    picture, beside = st.columns([1.2, 1], gap="medium")
    with beside:
        measure = _choose_measure()
        _show_head(trace, scores, opened)
        show_proof(opened.file)
        show_origin(opened, opened.file)
    with picture:
        title = f"{HERE[measure]}: this one example"
        rows = [Beside(name, value, None) for name, value in _values(trace, scores, measure)]
        chart = figures.beside_average(rows, axis=HERE[measure], average="", title="")
        st.markdown(f"**{plain(title)}**")
        show_chart(chart, alt=title)
    table = frame(trace, scores)
    with st.container(horizontal=True):
        download_svg("Picture", chart.titled(title), "heads of a trace")
        download_csv("Scores", table, "heads of a trace")
        download_json("Scores", partial(_json, table), "heads of a trace")
    box = st.expander("As a table: every score", key=f"{PREFIX}trace-table", on_change="rerun")
    if box.open:
        box.dataframe(table.style.format(precision=3, na_rep="–"))


def _choose_measure() -> str:
    return bound.selectbox(
        "Measure of each head",
        list(HERE),
        format_func=HERE.__getitem__,
        key=f"{PREFIX}measure-trace",
    )


def _show_head(trace: AttentionTrace, scores: Scores, opened: OpenedTrace) -> None:
    """One head in a sentence, and the way to its map."""
    names = {head_name(*head): head for head in trace.heads}
    measured = _values(trace, scores, "contribution")
    best = max(measured, key=lambda pair: -1.0 if pair[1] is None else pair[1])[0]
    name = bound.selectbox(
        "Head", list(names), list(names).index(best), key=f"{PREFIX}head-trace", follows=True
    )
    layer, head = names[name]
    st.markdown(plain(scores.sentence(layer, head)))
    brought = scores.heads["contribution"][layer, head]
    if trace.name_positions:
        st.markdown(f"It brings **{cell(known(brought))}** from the name.")
    query = {"checkpoint": TRACE, "head": name}
    st.page_link(
        "pages/attention/page.py",
        label=f"The map of {plain(name)}",
        icon=":material/grid_on:",
        query_params={**query, "trace": opened.name} if opened.in_folder else query,
    )


def frame(trace: AttentionTrace, scores: Scores) -> pd.DataFrame:
    """Every score of every recorded head."""
    return pd.DataFrame(
        {text: [value for _, value in _values(trace, scores, name)] for name, text in HERE.items()},
        index=[head_name(*head) for head in trace.heads],
        dtype=float,
    )


def _values(trace: AttentionTrace, scores: Scores, measure: str) -> list[tuple[str, float | None]]:
    found = scores.heads[measure]
    return [(head_name(*head), known(found[head])) for head in trace.heads]


def _json(table: pd.DataFrame) -> dict[Any, Any]:
    return table.astype(object).where(table.notna(), None).to_dict("index")
