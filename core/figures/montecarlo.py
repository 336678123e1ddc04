"""Pictures of what was drawn: counts and points in, figures out, binned before they are sent.

Weights are purple, outputs green; the ideal of the query is blue.
"""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import MASKED, QUERY, VALUE, WEIGHT
from core.figures.template import Figure, hole, laid_out, table, template

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
ROOM = 1.12  # above the highest bar, for the mean and its spread
MEAN, IDEAL = "mean of c", "ideal midpoint"


def output_plane(
    counts: Counts, mean: tuple[float, float], *, title: str, size: int = 210
) -> Figure:
    """Where c lies: counts (bins, bins) of the weights on (v_a, v_b), mean and ideal midpoint.

    The dashed line is the segment between v_a and v_b; empty cells are not sent.
    """
    edge = 1 / len(counts)
    return _output_plane().fill(
        {
            "segment": pd.DataFrame({"a": [1, 0], "b": [0, 1]}),
            "cells": _plane_cells(counts),
            "points": pd.DataFrame(
                {"a": [mean[0], 0.5], "b": [mean[1], 0.5], "name": [MEAN, IDEAL]}
            ),
        },
        right=f"datum.a + {edge}",
        high=f"datum.b + {edge}",
        size=size,
        title=elements.narrow(title),
    )


@template
def _output_plane() -> alt.LayerChart:
    x, y = _unit("a", "weight on v_a"), _unit("b", "weight on v_b", of_y=True)
    cells = (
        table("cells")
        .transform_calculate(a2=hole("right"), b2=hole("high"))
        .mark_rect(color=VALUE)
        .encode(x=x, x2="a2:Q", y=y, y2="b2:Q", **shading(0.12))
    )
    segment = table("segment").mark_line(color=MASKED, strokeDash=[4, 4]).encode(x=x, y=y)
    hover = [
        alt.Tooltip("a:Q", title="weight on v_a", format=".3f"),
        alt.Tooltip("b:Q", title="weight on v_b", format=".3f"),
    ]
    marks = elements.named_points(
        "points",
        x,
        y,
        [MEAN, IDEAL],
        ["diamond", "cross"],
        [WEIGHT, QUERY],
        orient="top-right",
        tooltip=hover,
    )
    return sized([segment, cells, marks], hole("size"), hole("size"))


def share_histogram(
    counts: Counts,
    mean: float,
    deviation: float,
    *,
    title: str,
    density: tuple[Array, Array] | None = None,
    height: int = 340,
) -> Figure:
    """Counts of the share on a in equal bins on [0, 1] as bars, the exact density as a line.

    The bar on top is mean ± standard deviation, left out where that is nan (of a single draw). The
    line is cut off above the bars' room.
    """
    parts = _parts(counts)
    top = float(parts.max()) * len(counts) * ROOM
    above = top * 0.97
    tables = {
        "bars": _bars(parts),
        "spread": _spread(mean, deviation, above),
        "mean": pd.DataFrame({"mean": [mean], "density": [above]}),
    }
    if density is not None:
        tables["density"] = _density(*density, top)
    return _share_histogram(known=density is not None).fill(
        tables, domain=[0, top], height=height, title=title
    )


@template
def _share_histogram(*, known: bool) -> alt.LayerChart:
    x = _unit("left", "share on a")
    y = alt.Y(
        "density:Q",
        title="density",
        scale=alt.Scale(domain=hole("domain"), nice=False),
        axis=elements.axis(tickCount=4),
    )
    hover = [
        alt.Tooltip("left:Q", title="from"),
        alt.Tooltip("right:Q", title="to"),
        alt.Tooltip("part:Q", title="part of the draws", format=".3%"),
    ]
    bars = table("bars").mark_rect(color=WEIGHT, opacity=0.45)
    layers = [bars.encode(x=x, x2="right:Q", y=y, y2="ground:Q", tooltip=hover)]
    if known:
        line = table("density").mark_line(color=WEIGHT, strokeWidth=2.5, clip=True)
        layers.append(line.encode(x=x, y=y, order="left:Q"))
    return laid_out(
        alt.LayerChart(layer=[*layers, *_mean_and_spread(x, y)]),
        width="container",
        height=hole("height"),
        title=elements.title(hole("title")),
    )


def _parts(counts: Counts) -> Array:
    """The part of the draws in each bin; zeros where nothing was drawn."""
    return counts / max(int(counts.sum()), 1)


def _plane_cells(counts: Counts) -> pd.DataFrame:
    """The lower left corner of each cell that was hit."""
    at_a, at_b = np.nonzero(counts)
    parts = _parts(counts)[at_a, at_b]
    return pd.DataFrame(
        {
            "a": (at_a / len(counts)).round(4),
            "b": (at_b / len(counts)).round(4),
            "part": [float(f"{part:.4g}") for part in parts],
        }
    )


def _bars(parts: Array) -> pd.DataFrame:
    """A bar for each bin on [0, 1], as high as its density."""
    n_bins = len(parts)
    return pd.DataFrame(
        {
            "left": (np.arange(n_bins) / n_bins).round(4),
            "right": (np.arange(1, n_bins + 1) / n_bins).round(4),
            "density": (parts * n_bins).round(5),
            "part": parts.round(7),
            "ground": 0,
        }
    )


def _spread(mean: float, deviation: float, height: float) -> pd.DataFrame:
    """The mean ± standard deviation, no wider than [0, 1]; no row where that is nan."""
    if np.isnan(deviation):
        return pd.DataFrame(columns=["left", "right", "density"])
    ends = {"left": [max(mean - deviation, 0.0)], "right": [min(mean + deviation, 1.0)]}
    return pd.DataFrame(ends | {"density": [height]})


def _density(at: Array, density: Array, top: float) -> pd.DataFrame:
    """The line's points where the density is finite, cut off far above `top`."""
    kept = np.isfinite(density)
    cut = np.minimum(density[kept], 20 * top).round(5)
    return pd.DataFrame({"left": at[kept].round(6), "density": cut})


def shading(faintest: float) -> dict[str, Any]:
    """The part of the draws in a cell: as its opacity, on a root's scale, and as what is told."""
    return {
        "opacity": alt.Opacity(
            "part:Q", scale=alt.Scale(type="sqrt", range=[faintest, 1]), legend=None
        ),
        "tooltip": [alt.Tooltip("part:Q", title="part of the draws", format=".2%")],
    }


def _mean_and_spread(x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The spread as a bar and a diamond at the mean."""
    line = table("spread").mark_rule(color=MASKED, strokeWidth=3).encode(x=x, x2="right:Q", y=y)
    dot = table("mean").mark_point(shape="diamond", size=110, filled=True, color=WEIGHT, opacity=1)
    return [line, dot.encode(x=alt.X("mean:Q"), y=y)]


def sized(layers: list[alt.Chart], width: Any, height: Any) -> alt.LayerChart:
    """A picture as wide as it says, with its title."""
    return laid_out(
        alt.LayerChart(layer=layers),
        width=width,
        height=height,
        title=elements.title(hole("title")),
        autosize="pad",
    )


def _unit(field: str, title: str, *, of_y: bool = False) -> Any:
    channel = alt.Y if of_y else alt.X
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=elements.axis(values=[0, 0.25, 0.5, 0.75, 1], grid=False, format=".2~f"),
    )
