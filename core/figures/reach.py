"""An Altair map of the places that can be reached: how far each is from what was wanted."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import KEY, QUERY, VALUE

Array = NDArray[np.float64]
MARKS = {"here": ("cross", QUERY), "nearest": ("diamond", KEY)}


def reach_map(
    grid: Array,
    distance: Array,
    here: tuple[float, float],
    nearest: tuple[float, float],
    *,
    title: str,
    height: int = 310,
) -> alt.LayerChart:
    """The distance (n, n) at each [s, t] of an even grid (n,); a cross here, a diamond nearest.

    Darker is nearer; points outside the map are left out.
    """
    x = _coordinate("left", "s, times u_c added", grid)
    y = _coordinate("low", "t, times u_d added", grid)
    points = _points_inside({"here": here, "nearest": nearest}, float(grid[-1]))
    layers = [
        _cells(grid, distance, x, y),
        elements.named_points(points, x, y, MARKS, orient="top", tooltip=[]),
    ]
    return alt.LayerChart(layer=layers).properties(height=height, title=elements.title(title))


def _coordinate(field: str, title: str, grid: Array) -> Any:
    """The axis of one coordinate, no longer than the grid."""
    channel = alt.X if field == "left" else alt.Y
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[float(grid[0]), float(grid[-1])], nice=False),
        axis=elements.axis(tickCount=5, grid=False, labelFlush=False),
    )


def _cells(grid: Array, distance: Array, x: alt.X, y: alt.Y) -> alt.Chart:
    """A square around each place of the grid; the browser computes its edges from the middle."""
    half = float(grid[1] - grid[0]) / 2
    rows, columns = np.indices(distance.shape)
    frame = pd.DataFrame(
        {
            "s": grid[rows.ravel()].round(4),
            "t": grid[columns.ravel()].round(4),
            "distance": distance.ravel().round(4),
        }
    )
    return (
        alt.Chart(frame)
        .transform_calculate(
            left=f"datum.s - {half}",
            right=f"datum.s + {half}",
            low=f"datum.t - {half}",
            high=f"datum.t + {half}",
        )
        .mark_rect(color=VALUE, clip=True)
        .encode(
            x=x,
            x2="right:Q",
            y=y,
            y2="high:Q",
            opacity=_nearness(float(distance.max())),
            tooltip=["s:Q", "t:Q", alt.Tooltip("distance:Q", format=".3f")],
        )
    )


def _nearness(farthest: float) -> alt.Opacity:
    """Full colour at distance 0, hardly any at the farthest place."""
    return alt.Opacity(
        "distance:Q",
        title=None,
        scale=alt.Scale(domain=[0, farthest], range=[1, 0.03]),
        legend=elements.legend(
            orient="right",
            symbolType="square",
            symbolFillColor=VALUE,
            symbolStrokeWidth=0,
            tickCount=4,
        ),
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
