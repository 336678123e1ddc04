"""Pictures of a plane in squares: where c lies, the cloud of a key, the places in reach.

Keys are orange, outputs green, weights purple; what was wanted is blue. Empty squares are not sent.
"""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import FONT_SIZE, KEY, MASKED, QUERY, VALUE, WEIGHT
from core.figures.template import Figure, hole, laid_out, table, template

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
MEAN, IDEAL = "mean of c", "ideal midpoint"
HERE, NEAREST = "here", "nearest"
PLANE = 210  # pixels of a side
CLOUD_WIDTH, CLOUD_HEIGHT, CLOUD_BINS = 224, 240, 60  # at most; squares along the longer side
REACH_HEIGHT = 310


def output_plane(counts: Counts, mean: tuple[float, float], *, title: str) -> Figure:
    """Where c lies: counts (bins, bins) of the weights on (v_a, v_b), mean and ideal midpoint.

    The dashed line is the segment between v_a and v_b.
    """
    edge = 1 / len(counts)
    return _output_plane().fill(
        {
            "segment": pd.DataFrame({"a": [1, 0], "b": [0, 1]}),
            "cells": _hit_cells(counts),
            "points": pd.DataFrame(
                {"a": [mean[0], 0.5], "b": [mean[1], 0.5], "name": [MEAN, IDEAL]}
            ),
        },
        right=f"datum.a + {edge}",
        high=f"datum.b + {edge}",
        title=elements.narrow(title),
    )


@template
def _output_plane() -> alt.LayerChart:
    ends: dict[str, Any] = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f"}
    x = _coordinate(alt.X, "a", "weight on v_a", [0, 1], **ends)
    y = _coordinate(alt.Y, "b", "weight on v_b", [0, 1], **ends)
    cells = (
        table("cells")
        .transform_calculate(a2=hole("right"), b2=hole("high"))
        .mark_rect(color=VALUE)
        .encode(x=x, x2="a2:Q", y=y, y2="b2:Q", **_shading(0.12))
    )
    segment = table("segment").mark_line(color=MASKED, strokeDash=[4, 4]).encode(x=x, y=y)
    hover = [
        alt.Tooltip("a:Q", title="weight on v_a", format=".3f"),
        alt.Tooltip("b:Q", title="weight on v_b", format=".3f"),
    ]
    looks = [MEAN, IDEAL], ["diamond", "cross"], [WEIGHT, QUERY]
    marks = elements.named_points("points", x, y, *looks, orient="top-right", tooltip=hover)
    return _sized([segment, cells, marks], PLANE, PLANE)


def key_cloud(points: Array, norms: tuple[float, float], *, title: str) -> Figure:
    """Key a's cloud in the plane of μ_a and μ_b: points (m, 2) in square cells, means as lines.

    Both axes have one scale, so that the cloud has its true shape.
    """
    low, high = min(float(points[:, 0].min()), -0.2), max(float(points[:, 0].max()), norms[0] * 1.1)
    down = min(float(points[:, 1].min()), -0.3 * norms[1])
    up = max(float(points[:, 1].max()), norms[1] * 1.15)
    step = max(high - low, up - down) / CLOUD_BINS
    scale = min(CLOUD_WIDTH / (high - low), CLOUD_HEIGHT / (up - down))
    return _key_cloud().fill(
        {"cells": _cloud_cells(points, step), **_means_of_keys(norms, down)},
        right=f"datum.left + {step}",
        high=f"datum.low + {step}",
        along_a=[low, high],
        along_b=[down, up],
        width=round(scale * (high - low)),
        height=round(scale * (up - down)),
        title=elements.narrow(title),
    )


@template
def _key_cloud() -> alt.LayerChart:
    x = _coordinate(alt.X, "left", "along μ_a", hole("along_a"), tickCount=5)
    y = _coordinate(alt.Y, "low", "along μ_b", hole("along_b"), tickCount=5)
    cells = (
        table("cells")
        .transform_calculate(right=hole("right"), high=hole("high"))
        .mark_rect(color=KEY, clip=True)
        .encode(x=x, x2="right:Q", y=y, y2="high:Q", **_shading(0.15))
    )
    lines = table("means").mark_line(color=MASKED, strokeWidth=2.5)
    names = table("names").mark_text(color=MASKED, fontSize=FONT_SIZE + 2, dx=14, dy=-10)
    layers = [cells, lines.encode(x=x, y=y, detail="key:N"), names.encode(x=x, y=y, text="key:N")]
    return _sized(layers, hole("width"), hole("height"))


def reach_map(
    grid: Array,
    distance: Array,
    here: tuple[float, float],
    nearest: tuple[float, float],
    *,
    title: str,
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
        title=title,
    )


@template
def _reach_map() -> alt.LayerChart:
    ends: dict[str, Any] = {"tickCount": 5, "labelFlush": False}
    x = _coordinate(alt.X, "left", "s, times u_c added", hole("domain"), **ends)
    y = _coordinate(alt.Y, "low", "t, times u_d added", hole("domain"), **ends)
    # The browser computes the edges of a square from its middle.
    edges = {edge: hole(edge) for edge in ("left", "right", "low", "high")}
    hover = ["s:Q", "t:Q", alt.Tooltip("distance:Q", format=".3f")]
    squares = table("places").transform_calculate(**edges).mark_rect(color=VALUE, clip=True)
    looks = [HERE, NEAREST], ["cross", "diamond"], [QUERY, KEY]
    points = elements.named_points("points", x, y, *looks, orient="top", tooltip=[])
    cells = squares.encode(x=x, x2="right:Q", y=y, y2="high:Q", opacity=_nearness(), tooltip=hover)
    return laid_out(
        alt.LayerChart(layer=[cells, points]),
        height=REACH_HEIGHT,
        title=elements.title(hole("title")),
    )


def _coordinate(channel: Any, field: str, title: str, domain: Any, **axis: Any) -> Any:
    """The axis of one coordinate, no longer than its domain."""
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=domain, nice=False),
        axis=elements.axis(grid=False, **axis),
    )


def _shading(faintest: float) -> dict[str, Any]:
    """The part of the draws in a cell: as its opacity, on a root's scale, and as what is told."""
    return {
        "opacity": alt.Opacity(
            "part:Q", scale=alt.Scale(type="sqrt", range=[faintest, 1]), legend=None
        ),
        "tooltip": [alt.Tooltip("part:Q", title="part of the draws", format=".2%")],
    }


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


def _hit_cells(counts: Counts) -> pd.DataFrame:
    """The lower left corner of each cell that was hit, and its part of all draws."""
    at_a, at_b = np.nonzero(counts)
    parts = counts[at_a, at_b] / max(int(counts.sum()), 1)
    return pd.DataFrame(
        {
            "a": (at_a / len(counts)).round(4),
            "b": (at_b / len(counts)).round(4),
            "part": [float(f"{part:.4g}") for part in parts],
        }
    )


def _cloud_cells(points: Array, step: float) -> pd.DataFrame:
    """The points counted in squares of side `step`."""
    at, counts = np.unique(np.floor(points / step).astype(np.int64), axis=0, return_counts=True)
    corners, parts = (at * step).round(5), (counts / len(points)).round(6)
    return pd.DataFrame({"left": corners[:, 0], "low": corners[:, 1], "part": parts})


def _means_of_keys(norms: tuple[float, float], down: float) -> dict[str, pd.DataFrame]:
    """μ_a and μ_b as lines from the origin; the name of μ_a stands below its end, at `down`."""
    keys, (long_a, long_b) = ["μ_a", "μ_b"], norms
    ends = pd.DataFrame({"left": [0, long_a, 0, 0], "low": [0, 0, 0, long_b]}, dtype=float)
    ends["key"] = np.repeat(keys, 2)
    places = pd.DataFrame({"left": [long_a, 0.0], "low": [down, long_b], "key": keys})
    return {"means": ends, "names": places}


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


def _sized(layers: list[alt.Chart], width: Any, height: Any) -> alt.LayerChart:
    """A picture as wide as it says, with its title."""
    return laid_out(
        alt.LayerChart(layer=layers),
        width=width,
        height=height,
        title=elements.title(hole("title")),
        autosize="pad",
    )
