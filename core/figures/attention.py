"""Pictures of attention: arrays and labels in, figures out.

Positions are integers on quantitative axes with the tokens as tick text, so that repeated tokens
keep every row and column. Weight is opacity of one hue: the same chart serves both themes and can
be saved as it is. Masked cells are grey, which is not the same as zero.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import MASKED, QUERY, WEIGHT
from core.figures.template import Figure, hole, laid_out, table, template

Matrix = NDArray[np.float32]
Visible = NDArray[np.bool_]
ROW_SELECTION = "cell"
# Pixels: one row label, what the axis below a map takes, and what its columns have on a projector;
# what the axis beside it takes, and the side of a cell at most.
LINE, ROOM_FOR_AXIS, ROOM_FOR_KEYS = 16, 90, 330
ROOM_FOR_NAMES, MOST_CELL = 110, 64


def attention_map(
    weights: Matrix,
    contribution: Matrix,
    labels: Sequence[str],
    selected_row: int,
    *,
    title: str = "",
    scores: Matrix | None = None,
    visible: Visible | None = None,
    rows: Sequence[str] | None = None,
    sides: tuple[str, str] = ("query (looks)", "key (looked at)"),
    top: float = 1.0,
    size: int = 390,
    within: tuple[range, range] | None = None,
) -> Figure:
    """Weights (L, L) as a map: rows are queries, columns are keys.

    `visible` (L, L) says which cells are not masked: all of the past unless told. `labels` name
    the columns, and the rows too unless `rows` does; `sides` are the titles of the two axes. `top`
    is the weight that is drawn fully opaque. The point selection `cell` returns the clicked query
    and key. Scores are left out for folded maps, where they have no meaning. `within` says which
    rows and columns the map has: all unless told.
    """
    n, rows = len(labels), labels if rows is None else rows
    visible = np.tri(n, dtype=np.bool_) if visible is None else visible
    down, across = within or (range(n), range(n))
    room = min(size - ROOM_FOR_AXIS, MOST_CELL * len(down))
    room = max(room, LINE * min(len(down), elements.MOST_LABELS))
    return _attention_map(scored=scores is not None).fill(
        {
            "masked": _masked(visible, down, across),
            "cells": _map_cells(weights, contribution, scores, visible),
            "row": _row_frame(selected_row, np.flatnonzero(visible[selected_row]), across),
        },
        **elements.named_tokens("query", rows, room, sides[0], at=down),
        **elements.named_tokens("key", labels, ROOM_FOR_KEYS, sides[1], at=across),
        key_angle=elements.leaning([labels[column] for column in across]),
        query_ticks=list(down),
        key_ticks=list(across),
        query_domain=[down.start - 0.5, down.stop - 0.5],
        key_domain=[across.start - 0.5, across.stop - 0.5],
        queries=elements.token_names([f"{i} {label}" for i, label in enumerate(rows)])
        + "[datum.q]",
        keys=elements.token_names([f"{i} {label}" for i, label in enumerate(labels)]) + "[datum.k]",
        top=top,
        width=size,
        height=ROOM_FOR_AXIS + room,
        title=title,
    )


def map_width(n_columns: int) -> int | None:
    """Pixels of a map of few columns, whose cells would be wider than they should; of more None:
    they take the width that there is.
    """
    width = MOST_CELL * n_columns
    return None if width > ROOM_FOR_KEYS else width + ROOM_FOR_NAMES


@template
def _attention_map(*, scored: bool) -> alt.LayerChart:
    edges = _edges()
    pick = alt.selection_point(name=ROW_SELECTION, fields=["q", "k"], on="click", empty=False)
    masked = table("masked").mark_rect(color=MASKED, opacity=0.22).encode(**edges)
    frame = (
        table("row")
        .mark_rect(filled=False, stroke=QUERY, strokeWidth=2.5)
        .encode(**edges, tooltip=alt.value(None))
    )
    layers = [masked, _shaded(edges, scored=scored).add_params(pick), frame]
    return laid_out(
        alt.LayerChart(layer=layers),
        width=hole("width"),
        height=hole("height"),
        title=elements.headline(hole("title")),
    )


def _map_cells(
    weights: Matrix, contribution: Matrix, scores: Matrix | None, visible: Visible
) -> pd.DataFrame:
    """A row for each query and key that it can see."""
    rows, columns = np.nonzero(visible)
    frame = pd.DataFrame(
        {
            "q": rows.astype(np.int16),
            "k": columns.astype(np.int16),
            "weight": weights[rows, columns].round(5),
            "contribution": contribution[rows, columns].round(5),
        }
    )
    if scores is not None:
        frame["score"] = scores[rows, columns].round(4)
    return frame


def _edges() -> dict[str, Any]:
    """The four edges of a cell; layers must share the very axes, or labels get lost in merging."""
    columns, rows = (
        alt.Scale(domain=hole(f"{side}_domain"), nice=False, zero=False, reverse=side == "query")
        for side in ("key", "query")
    )
    keys = elements.token_axis(
        "key", values=hole("key_ticks"), labelAngle=hole("key_angle"), grid=False
    )
    queries = elements.token_axis("query", values=hole("query_ticks"), grid=False)
    return {
        "x": alt.X("left:Q", title=hole("key_title"), scale=columns, axis=keys),
        "x2": "right:Q",
        "y": alt.Y("low:Q", title=hole("query_title"), scale=rows, axis=queries),
        "y2": "high:Q",
    }


def _shaded(edges: dict[str, Any], *, scored: bool) -> alt.Chart:
    """The cells that are seen, as opaque as their weight; the browser adds edges and names."""
    numbers = {"weight": ".3f", "contribution": ".3f"}
    numbers = {"score": ".2f", **numbers} if scored else numbers
    hover = [alt.Tooltip(f"{name}:Q", format=form) for name, form in numbers.items()]
    return (
        table("cells")
        .transform_calculate(
            left="datum.k - 0.5",
            right="datum.k + 0.5",
            low="datum.q - 0.5",
            high="datum.q + 0.5",
            query=hole("queries"),
            key=hole("keys"),
        )
        .mark_rect(color=WEIGHT)
        .encode(
            **edges,
            opacity=alt.Opacity(
                "weight:Q",
                scale=alt.Scale(domain=[0, hole("top")], range=[0.03, 1], clamp=True),
                legend=None,
            ),
            tooltip=[alt.Tooltip("query:N"), alt.Tooltip("key:N"), *hover],
        )
    )


def _masked(visible: Visible, down: range, across: range) -> pd.DataFrame:
    """A stripe for each run of cells that a row may not look at."""
    hidden = ~visible[down.start : down.stop, across.start : across.stop]
    ends = np.diff(np.pad(hidden, ((0, 0), (1, 1))).astype(np.int8))
    rows, left = np.nonzero(ends == 1)
    right = np.nonzero(ends == -1)[1]
    rows, left, right = rows + down.start, left + across.start, right + across.start
    return pd.DataFrame(
        {"low": rows - 0.5, "left": left - 0.5, "high": rows + 0.5, "right": right - 0.5}
    )


def _row_frame(row: int, seen: NDArray[np.intp], across: range) -> pd.DataFrame:
    """The edges of the row that is looked at, up to the last key that it sees; a click on them is a
    click on this row.
    """
    return pd.DataFrame(
        {
            "left": [across.start - 0.5],
            "right": [int(seen.max(initial=across.start)) + 0.5],
            "low": [row - 0.5],
            "high": [row + 0.5],
            "q": [row],
        }
    )
