"""One question: every head beside its average, what each part adds, what each layer would write."""

from functools import partial

import pandas as pd
import streamlit as st

from core.figures import heads as figures
from core.figures.signed import grid_cells, signed_grid
from core.figures.template import Figure
from core.inspection.attribution import Attribution, Lens
from core.inspection.captions import mechanism_note
from core.inspection.head_rows import HeadTable
from core.inspection.head_table import HeadExample
from pages.heads import example_words as said
from pages.heads.controls import PREFIX, TOO_OLD, Measured, choose_first_out
from pages.heads.measuring import in_place, load_attribution, load_lens, source_of
from pages.heads.overview import table_of
from pages.shared import bound
from pages.shared.charts import download_csv, download_json, download_svg, show_chart
from pages.shared.loading import Source, load_example, load_trace
from pages.shared.no_first import why_not
from pages.shared.questions import choose_question, unread_badge
from pages.shared.steps import choose_step
from pages.shared.text import percent, plain, sentence, shortened, verdict_badge

TABLES_KEY = f"{PREFIX}example-tables"
CELL = 30


def show_example(measured: Measured) -> None:
    """Averages against this question on the left, logits on the right."""
    with st.sidebar:
        question, expected = choose_question(measured.task, prefix=PREFIX, asked=measured.asked)
    source = source_of(measured)
    if why := source.load().model.cannot("logits"):
        st.info(sentence(why), icon=":material/info:")
        return
    trace = load_trace(source, question)
    found = load_example(source, question, in_place(measured, source))
    table = table_of(measured)
    rule = "exact" if measured.asked is None else measured.asked.rule
    verdict = verdict_badge(expected, trace.answer, rule) + unread_badge(measured.task, question)
    answer = plain(trace.answer) or "(nothing)"
    st.markdown(
        f"#### {plain(shortened(question))} → **{answer}**, {percent(trace.probability)}{verdict}"
    )
    st.markdown(said.what_changes(found, trace))
    if note := mechanism_note(trace):
        st.markdown(f":material/info: {note}")
    if choose_first_out(why_not([trace])):
        found, table = found.without_first, _averages_without_first(table)
    beside, logits = st.columns([1, 1.15], gap="medium")
    with beside:
        charts = {"Heads": _show_beside(measured, found, table)}
    with logits:
        several = len(trace.steps) > 1
        step = choose_step(trace.steps, f"{PREFIX}step") if several else 0
        added, lens = _added(source, question, step), _lens(source, question, step)
        charts |= _show_attribution(added)
        if not (isinstance(lens, str) and lens == added):  # one reason is said once
            charts |= _show_lens(lens)
    tables = {"Every head": said.frame(found, table)}
    if isinstance(added, Attribution):
        tables["Logits"] = said.attribution_frame(added)
    if isinstance(lens, Lens):
        tables["Layers"] = said.lens_frame(lens)
    _show_files(measured, tables, charts)


def _averages_without_first(table: HeadTable | None) -> HeadTable | None:
    """The averages that stand beside a question without its first token, None if not recorded."""
    if table is not None and table.without_first is None:
        st.caption(f"No averages stand beside. {TOO_OLD}")
    return None if table is None else table.without_first


def _show_beside(measured: Measured, found: HeadExample, table: HeadTable | None) -> Figure:
    measure = bound.selectbox(
        "Measure of each head",
        said.offered(found),
        format_func=said.OFFERED.__getitem__,
        key=f"{PREFIX}measure-one",
    )
    average = f"average of {measured.split}" if table else ""
    rows = said.rows_beside(found, table, measure)
    chart = figures.beside_average(rows, axis=said.OFFERED[measure], average=average, title="")
    title = f"{said.OFFERED[measure]}: this question" + (f" and the {average}" if average else "")
    show_chart(chart, alt=title)
    st.markdown(said.match(found, table, measure))
    return chart.titled(title)


def _added(source: Source, question: str, step: int) -> Attribution | str:
    """What each part adds, or why that cannot be said."""
    try:
        return load_attribution(source, question, step)
    except ValueError as error:
        return str(error)


def _lens(source: Source, question: str, step: int) -> Lens | str:
    """The lens, or why there is none."""
    try:
        return load_lens(source, question, step)
    except ValueError as error:
        return str(error)


def _show_attribution(added: Attribution | str) -> dict[str, Figure]:
    if isinstance(added, str):
        st.markdown(f":material/info: {sentence(added)}")
        return {}
    values = added.by_layer
    n_layers, n_columns = values.shape
    title = said.attribution_title(added)
    chart = signed_grid(
        grid_cells(values),
        [f"L{layer}" for layer in range(n_layers)],
        [*(f"H{head}" for head in range(n_columns - 2)), "bias", "MLP"],
        reach=added.largest_head or None,
        sides=(None, None),
        name="logits",
        title="",
        height=CELL * n_layers,
    )
    st.markdown(f"**{plain(title)}**")
    show_chart(chart, alt=title)
    st.markdown(said.attribution_note(added))
    return {"Attribution": chart.titled(title)}


def _show_lens(lens: Lens | str) -> dict[str, Figure]:
    if isinstance(lens, str):
        st.markdown(f":material/info: {sentence(lens)}")
        return {}
    title = said.lens_title(lens)
    chart = figures.lens_bars(
        said.layer_names(lens), lens.probability.tolist(), said.lens_notes(lens), title=""
    )
    st.markdown(f"**{plain(title)}**")
    show_chart(chart, alt=f"{title}: {', '.join(said.lens_notes(lens))}")
    return {"Lens": chart.titled(title)}


def _show_files(
    measured: Measured, tables: dict[str, pd.DataFrame], charts: dict[str, Figure]
) -> None:
    name = f"{measured.named} one question"
    with st.container(horizontal=True):
        for what, chart in charts.items():
            download_svg(what, chart, f"{name} {what.lower()}")
        for what, table in tables.items():
            download_csv(what, table, f"{name} {what.lower()}")
        download_json("Every head", partial(tables["Every head"].to_dict, "index"), name)
    box = st.expander("As tables", key=TABLES_KEY, on_change="rerun")
    if box.open:
        for what, table in tables.items():
            box.caption(what)
            box.dataframe(table.style.format(precision=3, na_rep="–"))
