"""Altair pictures of what was drawn: counts and points in, charts out, binned before they are sent.

Weights are purple, outputs green, keys orange; the ideal of the query is blue.
"""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import FONT_SIZE, KEY, MASKED, QUERY, VALUE, WEIGHT

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
ROOM = 1.12  # above the highest bar, for the mean and its spread


def output_plane(
    counts: Counts, mean: tuple[float, float], *, title: str, size: int = 240
) -> alt.LayerChart:
    """Where c lies: counts (bins, bins) of the weights on (v_a, v_b), mean and ideal midpoint.

    The dashed line is the segment between v_a and v_b; empty cells are not sent.
    """
    n_bins = len(counts)
    at_a, at_b = np.nonzero(counts)
    parts = _parts(counts)[at_a, at_b]
    frame = pd.DataFrame(
        {
            "a": (at_a / n_bins).round(4),
            "b": (at_b / n_bins).round(4),
            "part": [float(f"{part:.4g}") for part in parts],
        }
    )
    x, y = _unit("a", "weight on v_a"), _unit("b", "weight on v_b", of_y=True)
    cells = (
        alt.Chart(frame)
        .transform_calculate(a2=f"datum.a + {1 / n_bins}", b2=f"datum.b + {1 / n_bins}")
        .mark_rect(color=VALUE)
        .encode(x=x, x2="a2:Q", y=y, y2="b2:Q", **_shading(0.12))
    )
    segment = (
        alt.Chart(pd.DataFrame({"a": [1, 0], "b": [0, 1]}))
        .mark_line(color=MASKED, strokeDash=[4, 4])
        .encode(x=x, y=y)
    )
    shapes = {"mean of c": ("diamond", WEIGHT), "ideal midpoint": ("cross", QUERY)}
    points = pd.DataFrame({"a": [mean[0], 0.5], "b": [mean[1], 0.5], "name": list(shapes)})
    hover = [
        alt.Tooltip("a:Q", title="weight on v_a", format=".3f"),
        alt.Tooltip("b:Q", title="weight on v_b", format=".3f"),
    ]
    marks = elements.named_points(points, x, y, shapes, orient="top-right", tooltip=hover)
    return alt.LayerChart(layer=[segment, cells, marks]).properties(
        width=size, height=size, title=elements.title(title), autosize="pad"
    )


def share_histogram(
    counts: Counts,
    mean: float,
    deviation: float,
    *,
    title: str,
    density: tuple[Array, Array] | None = None,
    height: int = 340,
) -> alt.LayerChart:
    """Counts of the share on a in equal bins on [0, 1] as bars, the exact density as a line.

    The bar on top is mean ± standard deviation, left out where that is nan (of a single draw). The
    line is cut off above the bars' room.
    """
    parts = _parts(counts)
    top = float(parts.max()) * len(counts) * ROOM
    x = _unit("left", "share on a")
    y = alt.Y(
        "density:Q",
        title="density",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=elements.axis(tickCount=4),
    )
    layers = [_bars(parts, x, y), *_mean_and_spread(mean, deviation, top * 0.97, x, y)]
    if density is not None:
        layers.insert(1, _density_line(*density, top, x, y))
    return alt.LayerChart(layer=layers).properties(
        width="container", height=height, title=elements.title(title)
    )


def key_cloud(
    points: Array,
    norms: tuple[float, float],
    *,
    title: str,
    n_bins: int = 60,
    width: int = 290,
    height: int = 240,
) -> alt.LayerChart:
    """Key a's cloud in the plane of μ_a and μ_b: points (m, 2) in square cells, means as lines.

    Both axes have one scale, so that the cloud has its true shape.
    """
    low, high = min(float(points[:, 0].min()), -0.2), max(float(points[:, 0].max()), norms[0] * 1.1)
    down = min(float(points[:, 1].min()), -0.3 * norms[1])
    up = max(float(points[:, 1].max()), norms[1] * 1.15)
    step = max(high - low, up - down) / n_bins
    scale = min(width / (high - low), height / (up - down))
    x = _along("left", "along μ_a", low, high)
    y = _along("low", "along μ_b", down, up)
    layers = [_cloud_cells(points, step, x, y), *_means_of_keys(norms, down, x, y)]
    return alt.LayerChart(layer=layers).properties(
        width=round(scale * (high - low)),
        height=round(scale * (up - down)),
        title=elements.title(title),
        autosize="pad",
    )


def _parts(counts: Counts) -> Array:
    """The part of the draws in each bin; zeros where nothing was drawn."""
    return counts / max(int(counts.sum()), 1)


def _shading(faintest: float) -> dict[str, Any]:
    """The part of the draws in a cell: as its opacity, on a root's scale, and as what is told."""
    return {
        "opacity": alt.Opacity(
            "part:Q", scale=alt.Scale(type="sqrt", range=[faintest, 1]), legend=None
        ),
        "tooltip": [alt.Tooltip("part:Q", title="part of the draws", format=".2%")],
    }


def _bars(parts: Array, x: alt.X, y: alt.Y) -> alt.Chart:
    """A bar for each bin on [0, 1], as high as its density."""
    n_bins = len(parts)
    frame = pd.DataFrame(
        {
            "left": (np.arange(n_bins) / n_bins).round(4),
            "right": (np.arange(1, n_bins + 1) / n_bins).round(4),
            "density": (parts * n_bins).round(5),
            "part": parts.round(7),
            "ground": 0,
        }
    )
    hover = [
        alt.Tooltip("left:Q", title="from"),
        alt.Tooltip("right:Q", title="to"),
        alt.Tooltip("part:Q", title="part of the draws", format=".3%"),
    ]
    bars = alt.Chart(frame).mark_rect(color=WEIGHT, opacity=0.45)
    return bars.encode(x=x, x2="right:Q", y=y, y2="ground:Q", tooltip=hover)


def _mean_and_spread(
    mean: float, deviation: float, height: float, x: alt.X, y: alt.Y
) -> list[alt.Chart]:
    """The mean ± standard deviation, no wider than [0, 1], and a diamond at the mean."""
    spread = pd.DataFrame(
        {
            "left": [max(mean - deviation, 0.0)],
            "right": [min(mean + deviation, 1.0)],
            "mean": [mean],
            "density": [height],
        }
    )
    base = alt.Chart(spread).encode(y=y)
    line = base.mark_rule(color=MASKED, strokeWidth=3).encode(x=x, x2="right:Q")
    dot = base.mark_point(shape="diamond", size=110, filled=True, color=WEIGHT, opacity=1)
    diamond = dot.encode(x=alt.X("mean:Q"))
    return [diamond] if np.isnan(deviation) else [line, diamond]


def _cloud_cells(points: Array, step: float, x: alt.X, y: alt.Y) -> alt.Chart:
    """The points counted in squares of side `step`; empty ones are not sent."""
    at, counts = np.unique(np.floor(points / step).astype(np.int64), axis=0, return_counts=True)
    corners, parts = (at * step).round(5), (counts / len(points)).round(6)
    frame = pd.DataFrame({"left": corners[:, 0], "low": corners[:, 1], "part": parts})
    return (
        alt.Chart(frame)
        .transform_calculate(right=f"datum.left + {step}", high=f"datum.low + {step}")
        .mark_rect(color=KEY, clip=True)
        .encode(x=x, x2="right:Q", y=y, y2="high:Q", **_shading(0.15))
    )


def _means_of_keys(norms: tuple[float, float], down: float, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """μ_a and μ_b as lines from the origin; the name of μ_a stands below its end, at `down`."""
    keys, (long_a, long_b) = ["μ_a", "μ_b"], norms
    ends = pd.DataFrame({"left": [0, long_a, 0, 0], "low": [0, 0, 0, long_b]}, dtype=float)
    ends["key"] = np.repeat(keys, 2)
    lines = alt.Chart(ends).mark_line(color=MASKED, strokeWidth=2.5).encode(x=x, y=y, detail="key")
    places = pd.DataFrame({"left": [long_a, 0.0], "low": [down, long_b], "key": keys})
    names = alt.Chart(places).mark_text(color=MASKED, fontSize=FONT_SIZE + 2, dx=14, dy=-10)
    return [lines, names.encode(x=x, y=y, text="key:N")]


def _density_line(at: Array, density: Array, top: float, x: alt.X, y: alt.Y) -> alt.Chart:
    kept = np.isfinite(density)
    cut = np.minimum(density[kept], 20 * top).round(5)
    frame = pd.DataFrame({"left": at[kept].round(6), "density": cut})
    line = alt.Chart(frame).mark_line(color=WEIGHT, strokeWidth=2.5, clip=True)
    return line.encode(x=x, y=y, order="left:Q")


def _unit(field: str, title: str, *, of_y: bool = False) -> Any:
    channel = alt.Y if of_y else alt.X
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=elements.axis(values=[0, 0.25, 0.5, 0.75, 1], grid=False, format=".2~f"),
    )


def _along(field: str, title: str, low: float, high: float) -> Any:
    channel = alt.X if field == "left" else alt.Y
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[low, high], nice=False),
        axis=elements.axis(tickCount=5, grid=False),
    )
