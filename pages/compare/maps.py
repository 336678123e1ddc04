"""One head of each run as maps on the same rows, their signed difference, and all heads at once."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.figures import compare as figures
from core.figures.large_map import is_large, large_side
from core.figures.plot import Plot
from core.figures.template import Figure
from core.inspection.captions import mechanism_note
from core.inspection.compare import Comparison, compare_heads, distances
from core.inspection.heads import Head, head_name
from pages.compare import words
from pages.compare.controls import PREFIX, Pair
from pages.compare.view import HEAD_KEY, OTHER_KEY, Traces, View
from pages.shared.charts import (
    clicked,
    download_csv,
    download_json,
    download_svg,
    show_chart,
    show_plot,
)
from pages.shared.text import percent, plain

# Columns of the grid that a map takes; the third has its scale beside it. On less than some 240
# pixels the leaning names of keys would overlap, so that maps wrap instead.
SPANS, COLUMN = (3, 3, 4), 74
DIFFERENCE = "B less A"
GRID_KEY, TABLE_KEY = f"{PREFIX}grid", f"{PREFIX}table"


def show_maps(pair: Pair, traces: Traces, view: View) -> None:
    """The difference in a sentence, three maps, all heads, files."""
    compared = compare_heads(
        traces, view.alignment, view.heads, view.quantity, no_first=view.no_first
    )
    names = (head_name(*view.heads[0]), head_name(*view.heads[1]))
    title = words.headline(compared, names)
    st.markdown(f"#### {plain(title)}")
    if view.no_first:
        st.caption(words.APART)
    charts = _show_three(compared, names, title, own=view.own_scale)
    st.markdown(words.moved(compared, view.alignment.how))
    for note in dict.fromkeys(filter(None, map(mechanism_note, traces))):
        st.markdown(f":material/info: {note}")
    apart = _distances(traces, view)
    charts |= _show_all(pair, apart, view.heads[0])
    _show_files(pair, compared, names, pair.charts | charts, apart)


def _show_three(
    found: Comparison, names: tuple[str, str], title: str, *, own: bool
) -> dict[str, Figure]:
    own = own or found.quantity != "weight"
    top, reach = (found.top, found.reach) if own else (1.0, 1.0)
    drawn = _large(found, names, top, reach) if is_large(len(found.labels), 0) else None
    sides = drawn or _small(found, names, top, reach)
    charts: dict[str, Figure] = {}
    cells = st.grid(sum(SPANS), min_column_width=COLUMN, gap="xsmall")
    for span, (name, chart) in zip(SPANS, sides.items(), strict=True):
        alt, main = f"{found.quantity}, {name}. {title}", name == DIFFERENCE
        with cells.cell(column_span=span):
            st.markdown(f"**{plain(name)}**")
            if isinstance(chart, Plot):
                show_plot(chart, alt=alt, main=main)
            else:
                show_chart(chart, alt=alt, main=main)
                charts[name.split(":")[0]] = chart.titled(name)
    if own:
        st.caption(f"Full colour: {top:.2g} in A and B, {reach:.2g} in the difference.")
    if drawn:
        notes = " ".join(dict.fromkeys(plot.note for plot in drawn.values()))
        st.caption(f"{notes} The camera above each map saves it as SVG.".strip())
    return charts


def _names(names: tuple[str, str]) -> tuple[str, str, str]:
    """What stands above the maps."""
    return f"A: {names[0]}", f"B: {names[1]}", DIFFERENCE


def _small(
    found: Comparison, names: tuple[str, str], top: float, reach: float
) -> dict[str, Figure | Plot]:
    sides = [
        figures.side_map(
            values, found.labels, found.visible, quantity=found.quantity, top=top, title=""
        )
        for values in (found.first, found.second)
    ]
    change = figures.difference_map(
        found.difference,
        found.labels,
        found.visible,
        quantity=found.quantity,
        reach=reach,
        title="",
    )
    return dict(zip(_names(names), [*sides, change], strict=True))


def _large(found: Comparison, names: tuple[str, str], top: float, reach: float) -> dict[str, Plot]:
    """The same by Plotly, where they have many tokens."""
    maps = (
        (found.first, top, False),
        (found.second, top, False),
        (found.difference, reach, True),
    )
    return {
        name: large_side(
            values,
            found.labels,
            found.visible,
            quantity=f"difference of {found.quantity}" if signed else found.quantity,
            top=most,
            colour=figures.QUANTITIES[found.quantity],
            signed=signed,
            name=name,
        )
        for name, (values, most, signed) in zip(_names(names), maps, strict=True)
    }


def _distances(traces: Traces, view: View) -> NDArray[np.float64] | str:
    """How far all heads lie apart, or why that cannot be said."""
    try:
        return distances(traces, view.alignment, no_first=view.no_first)
    except ValueError as error:
        return str(error)


def _show_all(pair: Pair, apart: NDArray[np.float64] | str, chosen: Head) -> dict[str, Figure]:
    if about := words.about_heads(pair):
        st.markdown(f":material/info: {about}")
    if isinstance(apart, str):
        st.markdown(f":material/info: {plain(apart)}.")
        return {}
    title = words.furthest(apart)
    st.markdown(f"**All heads: {plain(title)}**")
    chart = figures.distance_grid(apart, chosen if pair.same_heads else None, title="")
    key = f"{GRID_KEY}-{head_name(*chosen)}"
    picked = partial(_pick, key, both=not pair.same_heads)
    show_chart(chart, key=key, on_select=picked, alt=f"All heads: {title}")
    if (most := float(np.nanmax(apart, initial=0.0))) > 0:
        st.caption(f"A cell a head: full colour is {percent(most)} of its weight.")
    return {"All heads": chart.titled(title)}


def _pick(key: str, *, both: bool) -> None:
    head = clicked(key, figures.HEAD_SELECTION, "layer", "head")
    if head is not None:
        st.session_state[HEAD_KEY] = head_name(*head)
        if both:
            st.session_state[OTHER_KEY] = head_name(*head)


def _show_files(
    pair: Pair,
    found: Comparison,
    names: tuple[str, str],
    charts: dict[str, Figure],
    apart: NDArray[np.float64] | str,
) -> None:
    rows, name = words.frame(found), f"{pair.what} {' '.join(dict.fromkeys(names))}"
    if found.no_first:
        name += " without the first token"
    with st.container(horizontal=True):
        for what, chart in charts.items():
            download_svg(what, chart, f"{name} {what}")
        download_csv("Cells", rows, name)
        download_json("Cells", partial(_values, pair, found, names), name)
    box = st.expander("As tables: cell by cell, and all heads", key=TABLE_KEY, on_change="rerun")
    if box.open:
        box.dataframe(rows.style.format(precision=3), hide_index=True)
        if not isinstance(apart, str):
            box.caption("Share of weight that lies elsewhere")
            box.dataframe(words.heads_frame(apart).style.format(precision=3))


def _values(pair: Pair, found: Comparison, names: tuple[str, str]) -> dict[str, Any]:
    sides = {
        side.letter: {
            "checkpoint": side.source.name,
            "snapshot": side.source.snapshot,
            "question": side.question,
            "head": name,
        }
        for side, name in zip((pair.first, pair.second), names, strict=True)
    }
    return {
        **sides,
        "quantity": found.quantity,
        "without_first": found.no_first,
        "labels": list(found.labels),
        "A_values": found.first.tolist(),
        "B_values": found.second.tolist(),
        "visible": found.visible.tolist(),
    }
