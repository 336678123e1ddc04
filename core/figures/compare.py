"""Altair pictures of two runs side by side: a map of each, their signed difference, all heads.

All maps of one pair have the same rows, columns and height, so that they can be read across.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.elements import MOST_LABELS
from core.figures.palette import KEY, MASKED, VALUE, WEIGHT

HEAD_SELECTION = "head"
LINE, LEAST, MOST = 17, 150, 420  # pixels: of a row with its label, of a whole map
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
) -> alt.LayerChart:
    """One of the two maps: opacity of one hue from 0 to `top`; masked cells are grey."""
    cells = _cells(values, labels, visible)
    squares = (
        alt.Chart(cells)
        .mark_rect(color=QUANTITIES[quantity])
        .encode(
            opacity=alt.Opacity(
                "value:Q", scale=alt.Scale(domain=[0, top], range=[0, 1], clamp=True), legend=None
            ),
            **_places(labels),
            tooltip=_tooltip(quantity),
        )
    )
    return _laid_out([_masked(labels, visible), squares], labels, title)


def difference_map(
    values: Matrix,
    labels: Sequence[str],
    visible: Visible,
    *,
    quantity: str,
    reach: float,
    title: str,
) -> alt.LayerChart:
    """The second less the first on a diverging scale from −reach to reach."""
    squares = (
        alt.Chart(_cells(values, labels, visible))
        .mark_rect()
        .encode(
            color=alt.Color(
                "value:Q",
                title=None,
                scale=alt.Scale(domain=[-reach, reach], domainMid=0, clamp=True),
                legend=elements.legend(
                    orient="right", format=".2~g", values=[-reach, 0, reach], gradientLength=110
                ),
            ),
            **_places(labels),
            tooltip=_tooltip(f"difference of {quantity}"),
        )
    )
    return _laid_out([_masked(labels, visible), squares], labels, title)


def distance_grid(
    distances: NDArray[np.float64], chosen: tuple[int, int] | None, *, title: str
) -> alt.LayerChart:
    """How far each head (layers in rows) lies from its counterpart, 0 to 1.

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
        ]
    )
    pick = alt.selection_point(
        name=HEAD_SELECTION, fields=["layer", "head"], on="click", empty=False
    )
    base = alt.Chart(frame).encode(
        x=alt.X("head:O", title=None, axis=_named("H", labelAngle=0)),
        y=alt.Y("layer:O", title=None, axis=_named("L")),
        tooltip=["name:N", alt.Tooltip("distance:Q", format=".3f")],
    )
    cells = base.mark_rect(color=WEIGHT).encode(
        opacity=alt.Opacity("distance:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None)
    )
    frames = base.mark_rect(filled=False, strokeWidth=3).encode(
        stroke=alt.condition("datum.chosen", alt.value(KEY), alt.value("transparent"))
    )
    targets = base.mark_rect(opacity=0.001).add_params(pick)
    return elements.fitted(
        alt.LayerChart(layer=[cells, frames, targets]), GRID * distances.shape[0], title
    )


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


def _masked(labels: Sequence[str], visible: Visible) -> alt.Chart:
    rows, columns = np.nonzero(~visible)
    frame = pd.DataFrame({"q": rows.astype(np.int16), "k": columns.astype(np.int16)})
    return alt.Chart(frame).mark_rect(color=MASKED, opacity=0.22).encode(**_places(labels))


def _places(labels: Sequence[str]) -> dict[str, Any]:
    domain = alt.Scale(domain=list(range(len(labels))), paddingInner=0, paddingOuter=0)
    crowded = len(labels) > MOST_LABELS // 2
    angle = 0 if max(map(len, labels), default=0) <= 1 else -60
    names = {"labelOverlap": crowded}
    return {
        "x": alt.X(
            "k:O",
            title="key (looked at)",
            scale=domain,
            axis=elements.label_axis(labels, labelAngle=angle, **names),
        ),
        "y": alt.Y(
            "q:O", title="query (looks)", scale=domain, axis=elements.label_axis(labels, **names)
        ),
    }


def _tooltip(name: str) -> list[Any]:
    return ["query:N", "key:N", alt.Tooltip("value:Q", title=name, format=".3f")]


def _named(letter: str, **options: Any) -> alt.Axis:
    return elements.axis(
        labelExpr=f"'{letter}' + datum.value", ticks=False, domain=False, **options
    )


def _laid_out(layers: list[alt.Chart], labels: Sequence[str], title: str) -> alt.LayerChart:
    return elements.fitted(
        alt.LayerChart(layer=layers), min(max(LINE * len(labels), LEAST), MOST), title
    )
