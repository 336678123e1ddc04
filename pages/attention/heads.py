"""All heads, one head, one row: a fragment, so that a click redraws only this part."""

from collections.abc import Sequence

import streamlit as st

from core.figures import attention_row as row_figures
from core.figures.template import Figure
from core.inspection.blocks import first_row, kinds_of
from core.inspection.captions import strongest_head
from core.inspection.heads import Head, head_name, parse_head
from core.inspection.traced import AttentionTrace, Step
from pages.attention.apart import row_said
from pages.attention.controls import Display
from pages.attention.downloads import show_downloads
from pages.attention.overview import (
    Overview,
    overview,
    show_grid,
    show_matrix,
    show_range,
    show_table,
)
from pages.attention.picture import Chosen, show_picture
from pages.attention.view import SCORES, Axes, View, scores_offered
from pages.shared import bound, present
from pages.shared.charts import show_chart
from pages.shared.steps import choose_step
from pages.shared.text import plain

FOLLOW, FOLLOW_GIVEN = "of the written piece", "of the piece of the target"
PARTS_OF_MODEL = {"encoder": "encoder", "decoder": "decoder", "cross": "cross-attention"}


@st.fragment
def show_heads(trace: AttentionTrace, display: Display, whole: AttentionTrace) -> None:
    """Controls; then all heads, one head, and one row of it, from left to right.

    `whole` is the trace with every head on: what is looked at first follows from it.
    """
    view, layers = display.view, _choose_part(trace)
    line = st.grid(11, min_column_width=60, gap="xsmall", vertical_alignment="bottom")
    controls = [line.cell(column_span=span) for span in (3, 2, 3, 3)]
    offered = scores_offered(trace, layers, no_first=display.no_first)
    with controls[0]:
        score = _choose_score(offered)
    with controls[1]:
        at = _choose_head(whole, layers)
    axes = view.axes[at[0]]
    with controls[3]:
        index = _choose_step(view, axes)
    with controls[2]:
        row, step = _choose_row(view, axes, at[0], index)
    given = overview(view, layers, at, score)
    said = row_said(trace, view, at, row, step, no_first=display.no_first)
    chosen = Chosen(at=at, row=row, sentence=said)
    charts = _show_three(trace, display, given, chosen)
    if given.is_large:
        charts["Pictures"] = show_range(given)
        show_table(given, offered)
    drawn = {name: chart for name, chart in charts.items() if chart is not None}
    show_downloads(trace, view, drawn, at, row, no_first=display.no_first)


def _show_three(
    trace: AttentionTrace, display: Display, given: Overview, chosen: Chosen
) -> dict[str, Figure | None]:
    """All heads, the chosen one, its row: side by side as far as there is room."""
    n_layers = len(given.layers)
    width = 4 if given.is_large else min(max(3, n_layers + 1), 6)
    one_head, one_row = 6, 4
    with st.container(key="three"):  # pages/shared/style.py: one below the other on a phone
        cells = st.grid(width + one_head + one_row, min_column_width=46, gap="xsmall")
    with cells.cell(column_span=width):
        grid = show_matrix(given) if given.is_large else show_grid(given)
    with cells.cell(column_span=one_head):
        picture = show_picture(trace, display, chosen)
    with cells.cell(column_span=one_row):
        bars = _row(display.view, chosen.at, chosen.row)
    return {"Picture": picture, "Row": bars, "All heads": grid}


def _choose_part(trace: AttentionTrace) -> list[int]:
    """The layers of one kind, where there are several; those of which a head is recorded."""
    there = {layer for layer, _ in trace.heads}
    kinds = [kind for kind in kinds_of(trace) if there & {*trace.layers_of(kind)}]
    if len(kinds) == 1:
        return sorted(there & {*trace.layers_of(kinds[0])})
    kind = bound.segmented_control(
        "Part",
        kinds,
        default="decoder" if "decoder" in kinds else kinds[0],
        format_func=PARTS_OF_MODEL.__getitem__,
        required=True,
        key="part",
    )
    return sorted(there & {*trace.layers_of(kind)})


def _choose_score(offered: Sequence[str]) -> str:
    return bound.selectbox(
        "Score of each head",
        offered,
        format_func=SCORES.__getitem__,
        key="score",
        follows=True,
        help="One number a head, to compare them all. Uniform is what a head would score that "
        "looks at everything it may equally.",
    )


def _choose_head(trace: AttentionTrace, layers: Sequence[int]) -> Head:
    names = [head_name(*head) for head in trace.heads if head[0] in layers]
    default = names.index(head_name(*strongest_head(trace, layers)))
    at = parse_head(bound.selectbox("Head", names, default, key="head", follows=True))
    there = [head for head in trace.heads if head[0] in layers]
    beside = [head_name(*head) for head in there if head[0] == at[0]]
    above = [head_name(*head) for head in there if head[1] == at[1]]
    present.keys_step("head", beside, ("Left", "Right"), "Head")
    present.keys_step("head", above, ("Up", "Down"), "Layer")
    return at


def _choose_step(view: View, axes: Axes) -> int:
    """Which written piece or word; none where nothing is written."""
    if len(axes.step_rows) < 2:
        return 0
    piece = "word" if view.folded else "piece"
    label = f"{piece} of the target" if view.trace.teacher_forced else f"written {piece}"
    names = list(map(str, range(len(view.steps))))
    index = choose_step(view.steps, "step", label=label.capitalize(), on_change=_follow_step)
    present.keys_step("step", names, ("P", "N"), "Written", then=_follow_step)
    return index


def _choose_row(view: View, axes: Axes, layer: int, index: int) -> tuple[int, Step | None]:
    steps = view.steps[: len(axes.step_rows)]
    written = dict(zip(reversed(axes.step_rows), reversed(steps), strict=True))
    given = view.trace.teacher_forced
    leads = "for" if axes.latents_look or given else "writes"
    follows = FOLLOW_GIVEN if given else FOLLOW
    follows = follows.replace("piece", "word") if view.folded else follows
    options = [*([FOLLOW] if written else []), *map(str, axes.rows)]
    chosen = bound.selectbox(
        "Query row",
        options,
        0 if written else options.index(str(view.row_of(first_row(view.trace, layer)))),
        format_func=lambda option: (
            follows if option == FOLLOW else _row_label(axes, written, option, leads)
        ),
        key="row",
        help="Which row the bars show. Or click a cell of the map.",
    )
    if chosen == FOLLOW:
        return axes.step_rows[index], view.steps[index]
    return int(chosen), written.get(int(chosen))


def _row_label(axes: Axes, written: dict[int, Step], option: str, leads: str) -> str:
    if not option.isdigit() or int(option) not in axes.rows:
        return option
    row = int(option)
    step = written.get(row)
    return f"{row} {axes.row_labels[row]}" + (f" → {leads} {step.label}" if step else "")


def _row(view: View, at: Head, row: int) -> Figure | None:
    title = f"Row {row}, key by key"
    st.markdown(f"**{title}**")
    axes = view.axes[at[0]]
    seen = axes.seen(row)
    if not seen:
        st.caption("This row may look at no key.")
        return None
    chart = row_figures.row_bars(
        view.weights(at)[row],
        view.contribution(at)[row],
        axes.column_labels,
        row,
        seen=seen,
    )
    show_chart(chart, alt=f"Weights and contributions of query row {row}")
    if rest := row_figures.the_rest(len(seen)):
        st.caption(rest)
    if (n_pieces := view.n_pieces(row)) > 1:
        st.caption(f"The mean of {n_pieces} rows, one a piece of “{plain(axes.row_labels[row])}”.")
    st.markdown(
        "Weight is where the head **looks**; contribution, ‖weight · value · W_O‖, is what it "
        "**brings**: a large weight on a short value brings nothing."
    )
    return chart.titled(title)


def _follow_step() -> None:
    st.session_state["row"] = FOLLOW
