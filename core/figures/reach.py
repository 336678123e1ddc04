"""A map of the places that can be reached: how far each is from what was wanted."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import KEY, QUERY, VALUE
from core.figures.template import Figure, hole, laid_out, table, template

Array = NDArray[np.float64]
HERE, NEAREST = "here", "nearest"


def reach_map(
    grid: Array,
    distance: Array,
    here: tuple[float, float],
    nearest: tuple[float, float],
    *,
    title: str,
    height: int = 310,
) -> Figure:
    """The distance (n, n) at each [s, t] of an even grid (n,); a cross here, a diamond nearest.

    Darker is nearer; points outside the map are left out.
    """
    half = float(grid[1] - grid[0]) / 2
    return _reach_map().fill(
        {
            "places": _places(grid, distance),
            "points": _points_inside({HERE: here, NEAREST: nearest}, float(grid[-1])),
        },
        left=f"datum.s - {half}",
        right=f"datum.s + {half}",
        low=f"datum.t - {half}",
        high=f"datum.t + {half}",
        domain=[float(grid[0]), float(grid[-1])],
        distances=[0, float(distance.max())],
        height=height,
        title=title,
    )


@template
def _reach_map() -> alt.LayerChart:
    x = _coordinate("left", "s, times u_c added")
    y = _coordinate("low", "t, times u_d added")
    points = elements.named_points(
        "points",
        x,
        y,
        [HERE, NEAREST],
        ["cross", "diamond"],
        [QUERY, KEY],
        orient="top",
        tooltip=[],
    )
    return laid_out(
        alt.LayerChart(layer=[_cells(x, y), points]),
        height=hole("height"),
        title=elements.title(hole("title")),
    )


def _coordinate(field: str, title: str) -> Any:
    """The axis of one coordinate, no longer than the grid."""
    channel = alt.X if field == "left" else alt.Y
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=hole("domain"), nice=False),
        axis=elements.axis(tickCount=5, grid=False, labelFlush=False),
    )


def _cells(x: alt.X, y: alt.Y) -> alt.Chart:
    """A square around each place of the grid; the browser computes its edges from the middle."""
    edges = {edge: hole(edge) for edge in ("left", "right", "low", "high")}
    return (
        table("places")
        .transform_calculate(**edges)
        .mark_rect(color=VALUE, clip=True)
        .encode(
            x=x,
            x2="right:Q",
            y=y,
            y2="high:Q",
            opacity=_nearness(),
            tooltip=["s:Q", "t:Q", alt.Tooltip("distance:Q", format=".3f")],
        )
    )


def _nearness() -> alt.Opacity:
    """Full colour at distance 0, hardly any at the farthest place."""
    return alt.Opacity(
        "distance:Q",
        title=None,
        scale=alt.Scale(domain=hole("distances"), range=[1, 0.03]),
        legend=elements.legend(
            orient="right",
            symbolType="square",
            symbolFillColor=VALUE,
            symbolStrokeWidth=0,
            tickCount=4,
        ),
    )


def _places(grid: Array, distance: Array) -> pd.DataFrame:
    """A row for each place of the grid."""
    rows, columns = np.indices(distance.shape)
    return pd.DataFrame(
        {
            "s": grid[rows.ravel()].round(4),
            "t": grid[columns.ravel()].round(4),
            "distance": distance.ravel().round(4),
        }
    )


def _points_inside(places: Mapping[str, tuple[float, float]], edge: float) -> pd.DataFrame:
    """The named places (s, t) that lie on the map, whose coordinates end at ± `edge`."""
    return pd.DataFrame(
        [
            {"left": s, "low": t, "name": name}
            for name, (s, t) in places.items()
            if max(abs(s), abs(t)) <= edge
        ],
        columns=["left", "low", "name"],
    )
