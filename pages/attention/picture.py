"""The chosen picture of one head: map, arcs, parts of its scores, or points in three dimensions."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from core.figures import attention as figures
from core.figures import attention_row as row_figures
from core.figures.cloud import Cloud, cloud
from core.figures.large_map import is_large, large_map
from core.figures.plot import Plot
from core.figures.score_parts import kept_keys, score_parts
from core.figures.template import Figure
from core.inspection.blocks import block_name, kinds_of, sharing
from core.inspection.components import KINDS, principal, token_kind
from core.inspection.heads import Head, head_name
from core.inspection.traced import Array, AttentionTrace
from pages.attention.apart import announced
from pages.attention.controls import Display
from pages.attention.view import ARCS, PARTS, SPACE, Axes, token_axes
from pages.shared import bound
from pages.shared.charts import clicked, clicked_point, show_chart, show_plot
from pages.shared.text import plain

VECTORS, STREAM = "queries and keys", "residual stream"
MAP_KEY = "map-chart"
SAVED = "The camera above this picture saves it as SVG; a double click shows all of it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """One head and one row of it, with the sentence that says what is seen."""

    at: Head
    row: int
    sentence: str


def show_picture(trace: AttentionTrace, display: Display, chosen: Chosen) -> Figure | None:
    """The picture with its sentence above; returns it with the sentence as title, unless it can be
    saved where it stands only.
    """
    st.markdown(f"**{plain(chosen.sentence)}**")
    notes = notes_of(trace, chosen.at)
    if display.no_first:
        notes.append(plain(announced(trace, chosen.at)))
    if notes:
        st.caption(" ".join(notes))
    axes = display.view.axes[chosen.at[0]]
    if display.kind == SPACE:
        return _show_points(trace, display, chosen)
    if display.kind == ARCS:
        weights = display.view.weights(chosen.at)
        return _shown(row_figures.arcs(weights, axes.column_labels, chosen.row), chosen)
    if display.kind == PARTS:
        return _show_parts(trace, display, chosen)
    return _show_map(display, chosen)


def notes_of(trace: AttentionTrace, at: Head) -> list[str]:
    """What must be known of this head: that it is off, its block, and whose keys it has."""
    notes: list[str] = []
    if at in trace.ablated:
        notes.append(
            "This head is off: these are the weights it would have, and it brings nothing."
        )
    if len(kinds_of(trace)) > 1:
        notes.append(f"{block_name(trace, at[0])}.")
    if shared := sharing(trace, at[1]):
        others = ", ".join(f"H{head}" for head in shared)
        notes.append(f"{head_name(*at)} shares keys and values with {others}.")
    return notes


def _shown(chart: Figure, chosen: Chosen) -> Figure:
    show_chart(chart, alt=chosen.sentence, main=True)
    return chart.titled(chosen.sentence)


def _show_map(display: Display, chosen: Chosen) -> Figure | None:
    view, axes = display.view, display.view.axes[chosen.at[0]]
    weights = view.weights(chosen.at)
    down, across = axes.within
    block = weights[down.start : down.stop, across.start : across.stop]
    top = (float(block.max()) or 1.0) if display.own_scale else 1.0
    if display.own_scale:
        st.caption(f"Full colour is a weight of {top:.2g}, the largest of this head.")
    if is_large(len(down), len(across)):
        _show_large_map(weights, axes, chosen, top)
        return None
    key = f"{MAP_KEY}-{chosen.row}"
    chart = figures.attention_map(
        weights,
        view.contribution(chosen.at),
        axes.column_labels,
        chosen.row,
        scores=view.scores(chosen.at),
        visible=axes.visible,
        rows=axes.row_labels,
        sides=axes.sides,
        top=top,
        within=axes.within,
    )
    pick = partial(_pick_row, key)
    width = figures.map_width(len(across))
    show_chart(chart, key=key, on_select=pick, alt=chosen.sentence, width=width, main=True)
    return chart.titled(chosen.sentence)


def _show_large_map(weights: Array, axes: Axes, chosen: Chosen, top: float) -> None:
    name = head_name(*chosen.at)
    plot = large_map(
        weights,
        axes.column_labels,
        chosen.row,
        visible=axes.visible,
        rows=axes.row_labels,
        sides=axes.sides,
        top=top,
        within=axes.within,
        name=f"{name} map",
    )
    key = f"{MAP_KEY}-{name}-{chosen.row}"
    pick = partial(_pick_row_mark, key, axes.within[0].start)
    show_plot(plot, key=key, on_select=pick, alt=chosen.sentence, main=True)
    st.caption(
        "A click on a blue mark at the left chooses its row, as the box above does; the cells "
        f"themselves take no click. {plot.note} {SAVED}"
    )


def _show_parts(trace: AttentionTrace, display: Display, chosen: Chosen) -> Figure | None:
    if trace.query is None or trace.key is None:
        return None
    at = chosen.at
    axes, token = _token_axes(trace, display, chosen)
    query, key = trace.query[at][token], trace.key[at]
    seen = np.flatnonzero(axes.visible[token]).tolist()
    kept = kept_keys(query, key, seen)
    if len(kept) < len(seen):
        st.caption(f"Of {len(seen)} keys the {len(kept)} of largest scores are shown.")
    return _shown(score_parts(query, key, axes.column_labels, token, seen=seen), chosen)


def _show_points(trace: AttentionTrace, display: Display, chosen: Chosen) -> None:
    axes, token = _token_axes(trace, display, chosen)
    of = bound.segmented_control(
        "Points of",
        [VECTORS] if trace.stream is None else [VECTORS, STREAM],
        default=VECTORS,
        required=True,
        key="points",
        label_visibility="collapsed",
    )
    if of == STREAM and trace.stream is not None:
        _show_stream(trace, trace.stream, axes, chosen.at[0], token)
        return
    plot, shares = points_of(trace, axes, chosen.at, token)
    show_plot(plot, alt=f"Queries and keys of {head_name(*chosen.at)} as points", main=True)
    named = " + ".join(f"{share:.0%}" for share in shares)
    st.caption(
        "Queries and keys on the same axes, the principal components of both together, which have "
        f"{named} = **{sum(shares):.0%}** of their variance. Drag to turn; the larger points are "
        f"those of position {token}. Near is not attended to: weights follow from dot products, "
        f"and from what these three axes leave out. {SAVED}"
    )


def _show_stream(trace: AttentionTrace, stream: Array, axes: Axes, layer: int, token: int) -> None:
    """The stream of every token after one layer, on principal components of its own."""
    rows = list(axes.rows)
    found = principal(stream[layer][rows])
    kinds = _kinds(trace, axes.row_labels, rows, latents=False)
    points = Cloud("residual stream", found.points, rows, axes.row_labels, kinds)
    shares, name = found.shares.tolist(), f"L{layer} residual stream"
    plot = cloud([points], shares, KINDS, chosen=token, name=name)
    show_plot(plot, alt=f"The residual stream after L{layer} as points, one a token", main=True)
    named = " + ".join(f"{share:.0%}" for share in shares)
    st.caption(
        f"The residual stream after L{layer}, a point a token, on its principal components, which "
        f"have {named} = **{sum(shares):.0%}** of its variance. A token far from all others takes "
        f"most of it: often the first, on which heads rest. Drag to turn. {SAVED}"
    )


def points_of(trace: AttentionTrace, axes: Axes, at: Head, token: int) -> tuple[Plot, list[float]]:
    """Queries and keys of one head on their common principal components. Raises ValueError for a
    trace that has none.
    """
    if trace.query is None or trace.key is None:
        raise ValueError("this trace has no queries and keys")
    rows, columns = list(axes.rows), list(axes.columns)
    found = principal(np.concatenate([trace.query[at][rows], trace.key[at][columns]]))
    looking = _kinds(trace, axes.row_labels, rows, latents=axes.latents_look)
    seen = _kinds(trace, axes.column_labels, columns, latents=axes.latents_seen)
    clouds = [
        Cloud("queries", found.points[: len(rows)], rows, axes.row_labels, looking),
        Cloud("keys", found.points[len(rows) :], columns, axes.column_labels, seen),
    ]
    name = f"{head_name(*at)} points"
    shares = found.shares.tolist()
    return cloud(clouds, shares, KINDS, chosen=token, name=name), shares


def _kinds(
    trace: AttentionTrace, labels: list[str], positions: list[int], *, latents: bool
) -> list[str]:
    special = trace.special or (False,) * trace.n_tokens
    return [
        token_kind(
            labels[position],
            starts=trace.word_starts[position],
            special=latents or special[position],
            first=position == positions[0],
        )
        for position in positions
    ]


def _token_axes(trace: AttentionTrace, display: Display, chosen: Chosen) -> tuple[Axes, int]:
    """The axes over all tokens, also where words are drawn, and the token of the chosen row."""
    return token_axes(trace, chosen.at[0]), display.view.first_tokens[chosen.row]


def _pick_row(key: str) -> None:
    cell = clicked(key, figures.ROW_SELECTION, "q")
    if cell is not None:
        st.session_state["row"] = str(*cell)


def _pick_row_mark(key: str, first: int) -> None:
    number = clicked_point(key)
    if number is not None:
        st.session_state["row"] = str(first + number)
