"""Pictures of two runs side by side: a map of each, their signed difference, all heads.

All maps of one pair have the same rows, columns and height, so that they can be read across.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import KEY, MASKED, VALUE, WEIGHT
from core.figures.template import Figure, hole, table, template

HEAD_SELECTION = "head"
# Pixels: of a row with its label, of a whole map, and what its columns have on a projector.
LINE, LEAST, MOST, WIDTH = 17, 150, 420, 200
GRID = 26
QUANTITIES = {"weight": WEIGHT, "contribution": VALUE}
Matrix = NDArray[np.floating[Any]]
Visible = NDArray[np.bool_]


def side_map(
    values: Matrix,
    labels: Sequence[str],
    visible: Visible,
    *,
    quantity: str,
    top: float,
    title: str,
) -> Figure:
    """One of the two maps: opacity of one hue from 0 to `top`; masked cells are grey."""
    return _side_map().fill(
        {"cells": _cells(values, labels, visible), "masked": _masked(visible)},
        **_values(labels, title),
        quantity=quantity,
        colour=QUANTITIES[quantity],
        top=top,
    )


@template
def _side_map() -> alt.LayerChart:
    squares = (
        table("cells")
        .mark_rect(color=hole("colour"))
        .encode(
            opacity=alt.Opacity(
                "value:Q",
                scale=alt.Scale(domain=[0, hole("top")], range=[0, 1], clamp=True),
                legend=None,
            ),
            **_places(),
            tooltip=_tooltip(),
        )
    )
    return _on_masked(squares)


def difference_map(
    values: Matrix,
    labels: Sequence[str],
    visible: Visible,
    *,
    quantity: str,
    reach: float,
    title: str,
) -> Figure:
    """The second less the first on a diverging scale from −reach to reach."""
    return _difference_map().fill(
        {"cells": _cells(values, labels, visible), "masked": _masked(visible)},
        **_values(labels, title),
        quantity=f"difference of {quantity}",
        ends=[-reach, reach],
        ticks=[-reach, 0, reach],
    )


@template
def _difference_map() -> alt.LayerChart:
    squares = (
        table("cells")
        .mark_rect()
        .encode(
            color=alt.Color(
                "value:Q",
                title=None,
                scale=alt.Scale(domain=hole("ends"), domainMid=0, clamp=True),
                legend=elements.legend(
                    orient="right", format=".2~g", values=hole("ticks"), gradientLength=110
                ),
            ),
            **_places(),
            tooltip=_tooltip(),
        )
    )
    return _on_masked(squares)


def distance_grid(
    distances: NDArray[np.float64], chosen: tuple[int, int] | None, *, title: str
) -> Figure:
    """How far each head (layers in rows) lies from its counterpart, 0 to 1; nan: no number.

    The furthest is fully coloured: of two texts in a large model every head may lie near 0.
    The point selection named `head` returns the clicked one.
    """
    frame = pd.DataFrame(
        [
            {
                "layer": layer,
                "head": head,
                "name": f"L{layer}·H{head}",
                "distance": float(distances[layer, head]),
                "chosen": (layer, head) == chosen,
            }
            for layer, head in np.ndindex(distances.shape)
            if not np.isnan(distances[layer, head])
        ],
        columns=["layer", "head", "name", "distance", "chosen"],
    )
    top = float(np.nanmax(distances, initial=0.0)) or 1.0
    height = (GRID if GRID * len(distances) <= MOST else LINE) * len(distances)
    return _distance_grid().fill({"heads": frame}, top=top, height=height, title=title)


@template
def _distance_grid() -> alt.LayerChart:
    pick = alt.selection_point(
        name=HEAD_SELECTION, fields=["layer", "head"], on="click", empty=False
    )
    base = table("heads").encode(
        x=alt.X("head:O", title=None, axis=_named("H", labelAngle=0)),
        y=alt.Y("layer:O", title=None, axis=_named("L", labelOverlap=False)),
        tooltip=["name:N", alt.Tooltip("distance:Q", format=".3f")],
    )
    cells = base.mark_rect(color=WEIGHT).encode(
        opacity=alt.Opacity(
            "distance:Q", scale=alt.Scale(domain=[0, hole("top")], range=[0, 1]), legend=None
        )
    )
    frames = base.mark_rect(filled=False, strokeWidth=3).encode(
        stroke=alt.condition("datum.chosen", alt.value(KEY), alt.value("transparent"))
    )
    targets = base.mark_rect(opacity=0.001).add_params(pick)
    layers = [cells, frames, targets]
    return elements.fitted(alt.LayerChart(layer=layers), hole("height"), hole("title"))


def _cells(values: Matrix, labels: Sequence[str], visible: Visible) -> pd.DataFrame:
    rows, columns = np.nonzero(visible)
    return pd.DataFrame(
        {
            "q": rows.astype(np.int16),
            "k": columns.astype(np.int16),
            "value": values[rows, columns].astype(np.float64).round(5),
            "query": [labels[row] for row in rows.tolist()],
            "key": [labels[column] for column in columns.tolist()],
        }
    )


def _masked(visible: Visible) -> pd.DataFrame:
    rows, columns = np.nonzero(~visible)
    return pd.DataFrame({"q": rows.astype(np.int16), "k": columns.astype(np.int16)})


def _values(labels: Sequence[str], title: str) -> dict[str, Any]:
    """What the holes of every map get."""
    height = min(max(LINE * len(labels), LEAST), MOST)
    return {
        **elements.named_tokens("query", labels, height, "query (looks)"),
        **elements.named_tokens("key", labels, WIDTH, "key (looked at)"),
        "places": list(range(len(labels))),
        "angle": elements.leaning(labels),
        "height": height,
        "title": title,
    }


def _places() -> dict[str, Any]:
    domain = alt.Scale(domain=hole("places"), paddingInner=0, paddingOuter=0)
    keys = elements.token_axis("key", labelAngle=hole("angle"), domain=False)
    queries = elements.token_axis("query", domain=False)
    return {
        "x": alt.X("k:O", title=hole("key_title"), scale=domain, axis=keys),
        "y": alt.Y("q:O", title=hole("query_title"), scale=domain, axis=queries),
    }


def _tooltip() -> list[Any]:
    return ["query:N", "key:N", alt.Tooltip("value:Q", title=hole("quantity"), format=".3f")]


def _named(letter: str, **options: Any) -> alt.Axis:
    return elements.axis(
        labelExpr=f"'{letter}' + datum.value",
        ticks=False,
        domain=False,
        labelFlush=False,
        **options,
    )


def _on_masked(squares: alt.Chart) -> alt.LayerChart:
    """The cells above those that are masked."""
    masked = table("masked").mark_rect(color=MASKED, opacity=0.22).encode(**_places())
    layers = [masked, squares]
    return elements.fitted(alt.LayerChart(layer=layers), hole("height"), hole("title"))
