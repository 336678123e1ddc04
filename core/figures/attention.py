"""Altair pictures of attention: arrays and labels in, charts out.

Positions are integers on quantitative axes with the tokens as tick text, so that repeated tokens
keep every row and column. Weight is opacity of one hue: the same chart serves both themes and can
be saved as it is. Masked cells are grey, which is not the same as zero.
"""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures.palette import FONT_SIZE, KEY, MASKED, QUERY, VALUE, WEIGHT

Matrix = NDArray[np.float32]
Visible = NDArray[np.bool_]
Figure = alt.Chart | alt.LayerChart | alt.HConcatChart
ROW_SELECTION, HEAD_SELECTION = "cell", "head"
MOST_LABELS = 60
LINE, ROOM_FOR_AXIS = 16, 90  # pixels: one row label, and what the axis below a map takes


def heads_grid(
    images: Sequence[Sequence[str]],
    scores: NDArray[np.float64],
    selected: tuple[int, int],
    *,
    score_name: str,
    cell: int = 42,
) -> alt.LayerChart:
    """Small pictures, one a head (columns are layers), with the score under each.

    `images` are data URIs [layer][head]; a score that is not a number is shown as a dash. The point
    selection named `head` returns the clicked one.
    """
    n_layers, n_heads = scores.shape
    frame = pd.DataFrame(
        [
            {
                "layer": layer,
                "head": head,
                "image": images[layer][head],
                "score": float(scores[layer, head]),
                "shown": f"{scores[layer, head]:.2f}".replace("nan", "–"),
                "exact": f"{scores[layer, head]:.3f}".replace("nan", "–"),
                "name": f"L{layer}·H{head}",
                "selected": (layer, head) == selected,
            }
            for layer in range(n_layers)
            for head in range(n_heads)
        ]
    )
    pick = alt.selection_point(
        name=HEAD_SELECTION, fields=["layer", "head"], on="click", empty=False
    )
    base = alt.Chart(frame).encode(
        x=alt.X(
            "layer:O", title=None, axis=_plain_axis(orient="top", labelExpr="'L' + datum.value")
        ),
        y=alt.Y("head:O", title=None, axis=_plain_axis(labelExpr="'H' + datum.value")),
        tooltip=[
            alt.Tooltip("name:N", title="head"),
            alt.Tooltip("exact:N", title=score_name),
        ],
    )
    frames = base.mark_rect(cornerRadius=3, strokeWidth=3).encode(
        fill=alt.value("transparent"),
        stroke=alt.condition("datum.selected", alt.value(KEY), alt.value("transparent")),
    )
    pictures = base.mark_image(width=cell - 12, height=cell - 12, yOffset=-6).encode(url="image:N")
    numbers = base.mark_text(dy=cell // 2 - 5, fontSize=FONT_SIZE).encode(
        text=alt.Text("shown:N"),
        color=alt.value(MASKED),
    )
    targets = base.mark_rect(opacity=0.001).add_params(pick)
    return alt.LayerChart(layer=[frames, pictures, numbers, targets]).properties(
        width=alt.Step(cell + 12), height=alt.Step(cell + 4)
    )


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
    size: int = 330,
) -> alt.LayerChart:
    """Weights (L, L) as a map: rows are queries, columns are keys.

    `visible` (L, L) says which cells are not masked: all of the past unless told. `labels` name
    the columns, and the rows too unless `rows` does; `sides` are the titles of the two axes. `top`
    is the weight that is drawn fully opaque. The point selection `cell` returns the clicked query
    and key. Scores are left out for folded maps, where they have no meaning.
    """
    n, rows = len(labels), labels if rows is None else rows
    visible = np.tri(n, dtype=np.bool_) if visible is None else visible
    frame = _map_cells(weights, contribution, scores, visible)
    edges = _edges(rows, labels, sides)
    hover = [
        alt.Tooltip("query:N"),
        alt.Tooltip("key:N"),
        alt.Tooltip("weight:Q", format=".3f"),
        alt.Tooltip("contribution:Q", format=".3f"),
    ]
    if scores is not None:
        hover.insert(2, alt.Tooltip("score:Q", format=".2f"))
    queries, keys = ([f"{i} {label}" for i, label in enumerate(side)] for side in (rows, labels))
    pick = alt.selection_point(name=ROW_SELECTION, fields=["q", "k"], on="click", empty=False)
    cells = (
        alt.Chart(frame)
        .transform_calculate(
            left="datum.k - 0.5",
            right="datum.k + 0.5",
            low="datum.q - 0.5",
            high="datum.q + 0.5",
            query=f"{_names(queries)}[datum.q]",
            key=f"{_names(keys)}[datum.k]",
        )
        .mark_rect(color=WEIGHT)
        .encode(
            **edges,
            opacity=alt.Opacity(
                "weight:Q",
                scale=alt.Scale(domain=[0, top], range=[0.03, 1], clamp=True),
                legend=None,
            ),
            tooltip=hover,
        )
        .add_params(pick)
    )
    last = int(np.flatnonzero(visible[selected_row]).max(initial=0))
    layers = [_masked(visible, edges), cells, _row_frame(selected_row, last, edges)]
    return alt.LayerChart(layer=layers).properties(
        width=size,
        height=max(size, ROOM_FOR_AXIS + LINE * min(n, MOST_LABELS)),
        title=_title(title),
    )


def row_bars(
    weights: NDArray[np.float32],
    contribution: NDArray[np.float32],
    labels: Sequence[str],
    row: int,
    *,
    seen: Sequence[int] | None = None,
    height: int = 330,
    title: str = "",
) -> alt.HConcatChart:
    """One query row as bars: weight, and beside it the contribution, key by key.

    `seen` are the keys that the row may look at: 0 to `row` unless told.
    """
    keys_seen = list(range(row + 1)) if seen is None else list(seen)
    frame = pd.DataFrame(
        {
            "k": keys_seen,
            "token": [f"{k} {labels[k]}" for k in keys_seen],
            "weight": weights[keys_seen],
            "contribution": contribution[keys_seen],
        }
    )
    step = max(6, min(22, height // len(keys_seen)))
    # The title stands above the tokens, where it takes no width.
    above = {"titleAngle": 0, "titleAlign": "right", "titleX": -6, "titleY": -6}
    keys = _label_axis(labels, labelOverlap=step < 12, **above)
    charts = [
        alt.Chart(frame)
        .mark_bar(color=colour)
        .encode(
            x=alt.X(f"{field}:Q", title=field, axis=_axis(tickCount=2), scale=scale),
            y=alt.Y("k:O", title="key" if first else None, axis=keys if first else None),
            tooltip=["token:N", alt.Tooltip(f"{field}:Q", format=".3f")],
        )
        .properties(width=88, height=alt.Step(step))
        for field, colour, scale, first in (
            ("weight", WEIGHT, alt.Scale(domain=[0, 1]), True),
            ("contribution", VALUE, alt.Scale(zero=True), False),
        )
    ]
    return (
        alt.hconcat(*charts, spacing=10).resolve_scale(y="shared").properties(title=_title(title))
    )


def score_parts(
    query: NDArray[np.float32],
    key: Matrix,
    labels: Sequence[str],
    row: int,
    *,
    seen: Sequence[int] | None = None,
    title: str = "",
) -> alt.Chart:
    """The scores of one row split into their q·k parts: key by dimension, around zero.

    query (d,), key (L, d). The parts of a key sum to its score: q·k / √d = Σ qᵢ kᵢ / √d. `seen`
    are the keys that the row may look at: 0 to `row` unless told.
    """
    keys_seen = list(range(row + 1)) if seen is None else list(seen)
    parts = key[keys_seen] * query / np.sqrt(len(query))
    cells = [(k, dimension) for k in keys_seen for dimension in range(len(query))]
    frame = pd.DataFrame(
        {
            "k": [k for k, _ in cells],
            "dimension": [dimension for _, dimension in cells],
            "part": parts.ravel().round(4),
            "token": [f"{k} {labels[k]}" for k, _ in cells],
        }
    )
    reach = float(np.abs(parts).max()) or 1.0
    return (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X("dimension:O", title="dimension of the head", axis=_axis(labelOverlap=True)),
            y=alt.Y(
                "k:O",
                title="key",
                axis=_label_axis(labels, labelOverlap=len(keys_seen) > MOST_LABELS // 2),
            ),
            color=alt.Color(
                "part:Q",
                title="q·k part",
                scale=alt.Scale(domain=[-reach, reach], domainMid=0),
            ),
            tooltip=["token:N", "dimension:O", alt.Tooltip("part:Q", format=".3f")],
        )
        .properties(
            width=520,
            height=alt.Step(max(8, min(22, 420 // len(keys_seen)))),
            title=_title(title),
        )
    )


def arcs(
    weights: Matrix,
    labels: Sequence[str],
    selected_row: int,
    *,
    title: str = "",
    least: float = 0.05,
) -> alt.LayerChart:
    """Arcs from each query back to its keys; weights below `least` are not drawn, nor is a token's
    weight on itself.

    The arcs of the selected row are opaque, the others faint.
    """
    frame = _arc_points(weights, labels, selected_row, least)
    axis = _axis(
        values=list(range(len(labels))),
        labelExpr=f"{_names(labels)}[datum.value]",
        labelAngle=-60,
        labelOverlap=len(labels) > MOST_LABELS,
        ticks=False,
        grid=False,
    )
    lines = (
        alt.Chart(frame)
        .mark_line(color=WEIGHT)
        .encode(
            x=alt.X(
                "x:Q",
                title="token",
                axis=axis,
                scale=alt.Scale(domain=[-0.5, len(labels) - 0.5], nice=False),
            ),
            y=alt.Y("y:Q", axis=None),
            detail="arc:N",
            order="order:O",
            strokeWidth=alt.StrokeWidth(
                "weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.5, 6]), legend=None
            ),
            opacity=alt.condition("datum.chosen", alt.value(1.0), alt.value(0.18)),
            tooltip=["pair:N", alt.Tooltip("weight:Q", format=".3f")],
        )
    )
    here = (
        alt.Chart(pd.DataFrame({"x": [selected_row], "y": [0]}))
        .mark_point(color=QUERY, filled=True, size=90)
        .encode(x="x:Q", y="y:Q")
    )
    return alt.LayerChart(layer=[lines, here]).properties(
        height=300, width=520, title=_title(title)
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


def _arc_points(
    weights: Matrix, labels: Sequence[str], selected_row: int, least: float
) -> pd.DataFrame:
    """Points along each arc that is drawn, in order."""
    angles = np.linspace(0, np.pi, 16)
    rows, columns = np.nonzero(np.tril(weights, k=-1) >= least)
    pieces = [
        pd.DataFrame(
            {
                "arc": number,
                "x": (q + k) / 2 + (q - k) / 2 * np.cos(angles),
                "y": (q - k) / 2 * np.sin(angles),
                "order": np.arange(len(angles)),
                "weight": weights[q, k],
                "chosen": q == selected_row,
                "pair": f"{labels[q]} → {labels[k]}",
            }
        )
        for number, (q, k) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))
    ]
    empty = pd.DataFrame(columns=["arc", "x", "y", "order", "weight", "chosen", "pair"])
    return pd.concat(pieces) if pieces else empty


def _names(labels: Sequence[str]) -> str:
    return json.dumps(list(labels), ensure_ascii=False)


def _title(text: str) -> alt.TitleParams:
    return alt.TitleParams(text, anchor="start", fontSize=FONT_SIZE + 1)


def _axis(**options: Any) -> alt.Axis:
    return alt.Axis(labelFontSize=FONT_SIZE, titleFontSize=FONT_SIZE, **options)


def _plain_axis(**options: Any) -> alt.Axis:
    return _axis(domain=False, ticks=False, labelAngle=0, **options)


def _label_axis(labels: Sequence[str], **options: Any) -> alt.Axis:
    expression = f"{_names(labels)}[datum.value]"
    return _axis(labelExpr=expression, ticks=False, domain=False, labelLimit=120, **options)


def _token_axis(
    field: str, title: str, labels: Sequence[str], *, reverse: bool = False, angle: int = 0
) -> alt.X | alt.Y:
    n = len(labels)
    channel = alt.Y if reverse else alt.X
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[-0.5, n - 0.5], nice=False, zero=False, reverse=reverse),
        axis=_axis(
            values=list(range(n)),
            labelExpr=f"{_names(labels)}[datum.value]",
            labelAngle=angle,
            labelOverlap=n > MOST_LABELS,
            ticks=False,
            grid=False,
            labelLimit=110,
        ),
    )


def _edges(rows: Sequence[str], columns: Sequence[str], sides: tuple[str, str]) -> dict[str, Any]:
    """The four edges of a cell; layers must share the very axes, or labels get lost in merging."""
    return {
        "x": _token_axis("left", sides[1], columns, angle=_angle(columns)),
        "x2": "right:Q",
        "y": _token_axis("low", sides[0], rows, reverse=True),
        "y2": "high:Q",
    }


def _angle(labels: Sequence[str]) -> int:
    """Characters stand upright, longer tokens lean so that they do not overlap."""
    return 0 if max(map(len, labels)) <= 1 else -60


def _masked(visible: Visible, edges: dict[str, Any]) -> alt.Chart:
    """A grey stripe for each run of cells that a row may not look at."""
    ends = np.diff(np.pad(~visible, ((0, 0), (1, 1))).astype(np.int8))
    rows, left = np.nonzero(ends == 1)
    right = np.nonzero(ends == -1)[1]
    frame = pd.DataFrame({"low": rows - 0.5, "left": left - 0.5})
    frame["high"], frame["right"] = frame["low"] + 1, right - 0.5
    return alt.Chart(frame).mark_rect(color=MASKED, opacity=0.22).encode(**edges)


def _row_frame(row: int, last: int, edges: dict[str, Any]) -> alt.Chart:
    frame = pd.DataFrame(
        {"left": [-0.5], "right": [last + 0.5], "low": [row - 0.5], "high": [row + 0.5]}
    )
    return (
        alt.Chart(frame)
        .mark_rect(filled=False, stroke=QUERY, strokeWidth=2.5)
        .encode(**edges, tooltip=alt.value(None))
    )
