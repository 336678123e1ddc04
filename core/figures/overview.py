"""All heads at once: small pictures of them, or one cell a head. Layers keep their numbers.

Where query heads share keys and values, the pair of them is named with the head (kv0, kv1, …), and
lines stand between the groups.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import FONT_SIZE, KEY, MASKED, WEIGHT
from core.figures.template import Figure, hole, table, template

HEAD_SELECTION = "head"
MATRIX_HEIGHT, LEAST_ROW, MOST_ROW = 400, 8, 30  # pixels: of all layers, of one
ROOM_FOR_HEADS = 250
NUMBER = 32  # pixels: of a score that stands beside its picture
MOST_COLUMNS = 16  # pictures beside one another, where rows are layers
Scores = NDArray[np.float64]


def heads_grid(
    images: Sequence[Sequence[str]],
    scores: Scores,
    selected: tuple[int, int],
    *,
    score_name: str,
    size: int = 30,
    off: Collection[tuple[int, int]] = (),
    layers: Sequence[int] | None = None,
    group: int = 1,
    wide: bool = False,
    beside: bool = False,
) -> Figure:
    """Small pictures of a `size`, one a head (columns are layers; if `wide`, rows are), with the
    score under each, or `beside` it. All but a wide one take the width of their place.

    `images` are data URIs [layer][head] of `layers` (all unless told); `scores` has all layers. A
    score that is not a number is shown as a dash, that of a head that is `off` as this word.
    `group` query heads share keys and values. The point selection named `head` returns the clicked
    one.
    """
    layers = range(len(images)) if layers is None else layers
    n_heads = scores.shape[1]
    frame = _heads_frame(scores, layers, selected, off, group)
    frame["image"] = [image for row in images for image in row]
    frame["line"], frame["column"] = _lines(len(layers), n_heads)
    return _heads_grid(size, wide=wide, beside=beside).fill(
        {"heads": frame},
        score_name=score_name,
        head_text=_head_text(group),
        line_text=elements.token_text(_line_names(layers, n_heads)),
        column_text=elements.token_text(_column_names(n_heads, group)),
    )


@template
def _heads_grid(size: int, *, wide: bool, beside: bool) -> alt.LayerChart:
    pick = _pick()
    across, down = ("column", "line") if wide else ("layer", "head")
    across_text = hole("column_text") if wide else "'L' + datum.value"
    down_text = hole("line_text") if wide else hole("head_text")
    base = table("heads").encode(
        x=alt.X(f"{across}:O", title=None, axis=_plain_axis(orient="top", labelExpr=across_text)),
        y=alt.Y(f"{down}:O", title=None, axis=_plain_axis(labelExpr=down_text)),
        tooltip=_tooltip(),
    )
    frames = base.mark_rect(cornerRadius=3, strokeWidth=3).encode(
        fill=alt.value("transparent"),
        stroke=alt.condition("datum.selected", alt.value(KEY), alt.value("transparent")),
    )
    left, up = (-NUMBER // 2, 0) if beside else (0, -6)
    right, down_by = (size // 2, 0) if beside else (0, size // 2 + 1)
    image = base.mark_image(width=size, height=size, xOffset=left, yOffset=up)
    pictures = image.encode(url="image:N")
    numbers = base.mark_text(fontSize=FONT_SIZE, dx=right, dy=down_by).encode(
        text=alt.Text("shown:N"), color=alt.value(MASKED)
    )
    targets = base.mark_rect(opacity=0.001).add_params(pick)
    grid = alt.LayerChart(layer=[frames, pictures, numbers, targets])
    height = alt.Step(size + (4 if beside else 16))
    if wide:
        return grid.properties(width=alt.Step(size + 24), height=height)
    return elements.fitted(grid, height, "")


def head_matrix(
    scores: Scores,
    selected: tuple[int, int],
    *,
    score_name: str,
    layers: Sequence[int],
    off: Collection[tuple[int, int]] = (),
    group: int = 1,
) -> Figure:
    """One score of every head: layers are rows, heads columns, the largest is fully coloured.

    `layers` are those that are drawn, in order; `scores` (n_layers, n_heads) has all. The point
    selection named `head` returns the clicked cell.
    """
    frame = _heads_frame(scores, layers, selected, off, group)
    n_heads, sizes = scores.shape[1], np.abs(scores[list(layers)])
    frame["row"] = np.repeat(np.arange(len(layers)), n_heads)
    frame["size"] = sizes.ravel()
    step = max(LEAST_ROW, min(MOST_ROW, MATRIX_HEIGHT // len(layers)))
    edges = [edge - 0.5 for edge in range(group, n_heads, group)] if group > 1 else []
    names = [f"L{layer}" for layer in layers]
    heads = [f"H{head}" for head in range(n_heads)]
    return _head_matrix().fill(
        {"heads": frame, "edges": pd.DataFrame({"edge": np.array(edges, dtype=np.float64)})},
        **elements.named_tokens("layer", names, step * len(layers), None),
        **elements.named_tokens("head", heads, ROOM_FOR_HEADS / 2, None),  # two letters wide
        layer_ticks=list(range(len(layers))),
        head_ticks=list(range(n_heads)),
        layer_domain=[-0.5, len(layers) - 0.5],
        head_domain=[-0.5, n_heads - 0.5],
        score_name=score_name,
        top=float(np.nanmax(sizes, initial=0.0)) or 1.0,
        height=step * len(layers),
    )


@template
def _head_matrix() -> alt.LayerChart:
    across, down = (
        alt.Scale(domain=hole(f"{side}_domain"), nice=False, zero=False, reverse=side == "layer")
        for side in ("head", "layer")
    )
    heads = elements.token_axis("head", values=hole("head_ticks"), orient="top", grid=False)
    layers = elements.token_axis("layer", values=hole("layer_ticks"), grid=False)
    edges: dict[str, Any] = {
        "x": alt.X("left:Q", title=hole("head_title"), scale=across, axis=heads),
        "x2": "right:Q",
        "y": alt.Y("low:Q", title=hole("layer_title"), scale=down, axis=layers),
        "y2": "high:Q",
    }
    base = table("heads").transform_calculate(
        left="datum.head - 0.5",
        right="datum.head + 0.5",
        low="datum.row - 0.5",
        high="datum.row + 0.5",
    )
    scale = alt.Scale(domain=[0, hole("top")], range=[0.03, 1])
    cells = (
        base.mark_rect(color=WEIGHT)
        .encode(
            **edges,
            opacity=alt.Opacity("size:Q", scale=scale, legend=None),
            tooltip=_tooltip(),
        )
        .add_params(_pick())
    )
    frame = base.transform_filter("datum.selected").mark_rect(
        filled=False, stroke=KEY, strokeWidth=3
    )
    between = table("edges").mark_rule(color=MASKED, strokeWidth=1.5)
    lines = between.encode(x=alt.X("edge:Q", title=hole("head_title"), scale=across, axis=heads))
    return elements.fitted(
        alt.LayerChart(layer=[cells, frame.encode(**edges, tooltip=_tooltip()), lines]),
        hole("height"),
        "",
    )


def _heads_frame(
    scores: Scores,
    layers: Sequence[int],
    selected: tuple[int, int],
    off: Collection[tuple[int, int]],
    group: int,
) -> pd.DataFrame:
    """A row for each head, those of the first layer first."""
    return pd.DataFrame(
        [
            {
                "layer": layer,
                "head": head,
                "score": float(scores[layer, head]),
                "shown": "off" if (layer, head) in off else _number(scores[layer, head], 2),
                "exact": _number(scores[layer, head], 3),
                "name": f"L{layer}·H{head}" + (f" kv{head // group}" if group > 1 else ""),
                "selected": (layer, head) == selected,
            }
            for layer in layers
            for head in range(scores.shape[1])
        ]
    )


def _lines(n_layers: int, n_heads: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The line and the column of each picture; a layer of many heads takes several lines."""
    lines, columns = divmod(np.tile(np.arange(n_heads), n_layers), MOST_COLUMNS)
    layers = np.repeat(np.arange(n_layers), n_heads)
    return layers * math.ceil(n_heads / MOST_COLUMNS) + lines, columns


def _line_names(layers: Sequence[int], n_heads: int) -> list[str]:
    """L5, or of more heads than a line has room for L5 H0…, L5 H16…"""
    firsts = range(0, n_heads, MOST_COLUMNS)
    if len(firsts) == 1:
        return [f"L{layer}" for layer in layers]
    return [f"L{layer} H{first}…" for layer in layers for first in firsts]


def _column_names(n_heads: int, group: int) -> list[str]:
    """H4, with its keys and values if they are shared; +4 where there are several lines."""
    if n_heads > MOST_COLUMNS:
        return [f"+{column}" for column in range(MOST_COLUMNS)]
    return [f"H{head}" + (f" kv{head // group}" if group > 1 else "") for head in range(n_heads)]


def _number(score: float, digits: int) -> str:
    """A dash for a score that means nothing."""
    return f"{score:.{digits}f}".replace("nan", "–")


def _head_text(group: int) -> str:
    """The text of a head's tick, in Vega's language."""
    shared = f" + ' kv' + floor(datum.value / {group})" if group > 1 else ""
    return f"'H' + datum.value{shared}"


def _pick() -> Any:
    return alt.selection_point(
        name=HEAD_SELECTION, fields=["layer", "head"], on="click", empty=False
    )


def _tooltip() -> list[Any]:
    return [
        alt.Tooltip("name:N", title="head"),
        alt.Tooltip("exact:N", title=hole("score_name")),
    ]


def _plain_axis(**options: Any) -> alt.Axis:
    return elements.axis(domain=False, ticks=False, labelAngle=0, labelFlush=False, **options)
