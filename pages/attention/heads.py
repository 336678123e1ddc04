"""All heads, one head, one row: a fragment, so that a click redraws only this part."""

from functools import partial

import numpy as np
import streamlit as st

from core.figures import attention as figures
from core.figures import attention_row as row_figures
from core.figures.template import Figure
from core.inspection.captions import strongest_head
from core.inspection.heads import every_head, head_name, parse_head
from core.inspection.traced import AttentionTrace, Step
from pages.attention.apart import announced, row_said
from pages.attention.controls import Display
from pages.attention.downloads import show_downloads
from pages.attention.view import (
    ARCS,
    MAP,
    MEANINGS,
    PARTS,
    SCORES,
    Axes,
    View,
    grid_scores,
    scores_offered,
    thumbnails,
)
from pages.shared import bound
from pages.shared.charts import clicked, show_chart
from pages.shared.text import plain

FOLLOW = "of the written piece"
GRID_KEY, MAP_KEY = "heads-chart", "map-chart"
GRID_CELL = 36  # eight heads fit into the first view of 1280x720


@st.fragment
def show_heads(trace: AttentionTrace, display: Display, whole: AttentionTrace) -> None:
    """Controls; then the grid of heads, one head, and one row of it, from left to right.

    `whole` is the trace with every head on: what is looked at first follows from it.
    """
    view = display.view
    line = st.grid(11, min_column_width=60, gap="xsmall", vertical_alignment="bottom")
    controls = [line.cell(column_span=span) for span in (3, 2, 3, 3)]
    with controls[0]:
        score = _choose_score(trace, no_first=display.no_first)
    with controls[1]:
        at = _choose_head(whole)
    with controls[3]:
        index = _choose_step(trace)
    axes = view.axes[at[0]]
    with controls[2]:
        row, step = _choose_row(trace, axes, index)
    sentence = row_said(trace, view, at, row, step, no_first=display.no_first)
    overview, one_head, one_row = _width(trace), 6, 4
    cells = st.grid(overview + one_head + one_row, min_column_width=46, gap="xsmall")
    with cells.cell(column_span=overview):
        grid = _grid(trace, display, score, at)
    with cells.cell(column_span=one_head):
        chart = _picture(trace, display, at, row, sentence)
    with cells.cell(column_span=one_row):
        bars = _row(view, at, row)
    charts = {"Picture": chart, "Row": bars, "All heads": grid}
    show_downloads(trace, view, charts, at, row, no_first=display.no_first)


def _width(trace: AttentionTrace) -> int:
    """Columns of the overview: four layers fit into three."""
    return min(max(3, round(0.75 * trace.n_layers)), 6)


def _choose_score(trace: AttentionTrace, *, no_first: bool) -> str:
    offered = scores_offered(trace, no_first=no_first)
    return bound.selectbox(
        "Score of each head",
        offered,
        format_func=SCORES.__getitem__,
        key="score",
        follows=True,
        help="  \n".join(
            f"**{name}**: {MEANINGS[score]}" + ("" if score in offered else " (not here)")
            for score, name in SCORES.items()
        ),
    )


def _choose_head(trace: AttentionTrace) -> tuple[int, int]:
    names = [head_name(*head) for head in every_head(trace)]
    default = names.index(head_name(*strongest_head(trace)))
    return parse_head(bound.selectbox("Head", names, default, key="head", follows=True))


def _choose_step(trace: AttentionTrace) -> int:
    if len(trace.steps) == 1:
        return 0
    labels = {str(i): f"{i + 1}: {step.label}" for i, step in enumerate(trace.steps)}
    chosen = bound.select_slider(
        "Written piece",
        list(labels),
        format_func=lambda option: labels.get(option, option),
        key="step",
        on_change=_follow_step,
    )
    return int(chosen)


def _choose_row(trace: AttentionTrace, axes: Axes, index: int) -> tuple[int, Step | None]:
    written = dict(zip(reversed(axes.step_rows), reversed(trace.steps), strict=True))
    chosen = bound.selectbox(
        "Query row",
        [FOLLOW, *map(str, axes.rows)],
        format_func=lambda option: _row_label(axes, written, option),
        key="row",
        help="The row whose weights are shown as bars. Or click a cell of the map.",
    )
    if chosen == FOLLOW:
        return axes.step_rows[index], trace.steps[index]
    return int(chosen), written.get(int(chosen))


def _row_label(axes: Axes, written: dict[int, Step], option: str) -> str:
    if not option.isdigit() or int(option) not in axes.rows:
        return option
    row = int(option)
    step = written.get(row)
    leads = "for" if axes.latents_look else "writes"
    return f"{row} {axes.row_labels[row]}" + (f" → {leads} {step.label}" if step else "")


def _grid(trace: AttentionTrace, display: Display, score: str, selected: tuple[int, int]) -> Figure:
    view = display.view
    values, baseline = grid_scores(trace, score, no_first=display.no_first)
    st.markdown(f"**All heads** (uniform: {baseline})")
    chart = figures.heads_grid(
        thumbnails(view),
        values,
        selected,
        score_name=MEANINGS[score],
        cell=GRID_CELL,
        off=trace.ablated,
    )
    # A new key for each choice forgets the click, so that the same head can be clicked again.
    key = f"{GRID_KEY}-{head_name(*selected)}"
    show_chart(
        chart,
        key=key,
        on_select=partial(_pick_head, key),
        alt=f"Small pictures of all heads with {MEANINGS[score]}; {head_name(*selected)} is chosen",
    )
    return chart.titled(MEANINGS[score])


def _picture(
    trace: AttentionTrace, display: Display, at: tuple[int, int], row: int, sentence: str
) -> Figure:
    """The chosen picture with its sentence above; returns it with the sentence as title."""
    view, axes = display.view, display.view.axes[at[0]]
    st.markdown(f"**{plain(sentence)}**")
    if at in trace.ablated:
        st.caption("This head is off: these are the weights it would have, and it brings nothing.")
    if display.no_first:
        st.caption(plain(announced(trace, at)))
    if display.kind == ARCS:
        chart = row_figures.arcs(view.weights[at], axes.column_labels, row)
    elif display.kind == PARTS and trace.query is not None and trace.key is not None:
        token = view.first_tokens[row]
        seen = np.flatnonzero(trace.visible[at[0], token]).tolist()
        labels = axes.column_labels if axes.latents_seen else trace.labels
        chart = row_figures.score_parts(
            trace.query[at][token], trace.key[at], labels, token, seen=seen
        )
    else:
        top = (float(view.weights[at].max()) or 1.0) if display.own_scale else 1.0
        if display.own_scale:
            st.caption(f"Full colour is a weight of {top:.2g}, the largest of this head.")
        scores = None if view.scores is None else view.scores[at]
        chart = figures.attention_map(
            view.weights[at],
            view.contribution[at],
            axes.column_labels,
            row,
            scores=scores,
            visible=axes.visible,
            rows=axes.row_labels,
            sides=axes.sides,
            top=top,
        )
    if display.kind == MAP:
        key = f"{MAP_KEY}-{row}"
        show_chart(chart, key=key, on_select=partial(_pick_row, key), alt=sentence)
    else:
        show_chart(chart, alt=sentence)
    return chart.titled(sentence)


def _row(view: View, at: tuple[int, int], row: int) -> Figure:
    title = f"Row {row}, key by key"
    st.markdown(f"**{title}**")
    axes = view.axes[at[0]]
    chart = row_figures.row_bars(
        view.weights[at][row],
        view.contribution[at][row],
        axes.column_labels,
        row,
        seen=axes.seen(row) or [row],  # without its first token a row may have no key
    )
    show_chart(chart, alt=f"Weights and contributions of query row {row}")
    st.markdown(
        "Weight is where the head **looks**; contribution, ‖weight · value · W_O‖, is what it "
        "**brings**: a large weight on a short value brings nothing."
    )
    return chart.titled(title)


def _follow_step() -> None:
    st.session_state["row"] = FOLLOW


def _pick_head(key: str) -> None:
    head = clicked(key, figures.HEAD_SELECTION, "layer", "head")
    if head is not None:
        st.session_state["head"] = head_name(*head)


def _pick_row(key: str) -> None:
    cell = clicked(key, figures.ROW_SELECTION, "q")
    if cell is not None:
        st.session_state["row"] = str(*cell)
