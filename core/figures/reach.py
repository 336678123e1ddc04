"""An Altair map of the places that can be reached: how far each is from what was wanted."""

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
    half = float(grid[1] - grid[0]) / 2
    rows, columns = np.indices(distance.shape)
    frame = pd.DataFrame(
        {
            "s": grid[rows.ravel()].round(4),
            "t": grid[columns.ravel()].round(4),
            "distance": distance.ravel().round(4),
        }
    )
    scale = alt.Scale(domain=[float(grid[0]), float(grid[-1])], nice=False)
    axis = elements.axis(tickCount=5, grid=False, labelFlush=False)
    x = alt.X("left:Q", title="s, times u_c added", scale=scale, axis=axis)
    y = alt.Y("low:Q", title="t, times u_d added", scale=scale, axis=axis)
    cells = (
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
            opacity=alt.Opacity(
                "distance:Q",
                title=None,
                scale=alt.Scale(domain=[0, float(distance.max())], range=[1, 0.03]),
                legend=elements.legend(
                    orient="right",
                    symbolType="square",
                    symbolFillColor=VALUE,
                    symbolStrokeWidth=0,
                    tickCount=4,
                ),
            ),
            tooltip=["s:Q", "t:Q", alt.Tooltip("distance:Q", format=".3f")],
        )
    )
    points = pd.DataFrame(
        [
            {"left": s, "low": t, "name": name}
            for name, (s, t) in (("here", here), ("nearest", nearest))
            if max(abs(s), abs(t)) <= grid[-1]
        ],
        columns=["left", "low", "name"],
    )
    marks = elements.named_points(points, x, y, MARKS, orient="top", tooltip=[])
    return alt.LayerChart(layer=[cells, marks]).properties(
        height=height, title=elements.title(title)
    )
