"""Picture of the share on a: the counts of the draws as bars, the exact density as a line."""

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import MASKED, WEIGHT
from core.figures.template import Figure, hole, laid_out, table, template

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
ROOM = 1.12  # above the highest bar, for the mean and its spread
HEIGHT = 340  # pixels


def share_histogram(
    counts: Counts,
    mean: float,
    deviation: float,
    *,
    title: str,
    density: tuple[Array, Array] | None = None,
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
    return _share_histogram(known=density is not None).fill(tables, domain=[0, top], title=title)


@template
def _share_histogram(*, known: bool) -> alt.LayerChart:
    x = alt.X(
        "left:Q",
        title="share on a",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=elements.axis(values=[0, 0.25, 0.5, 0.75, 1], grid=False, format=".2~f"),
    )
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
        height=HEIGHT,
        title=elements.title(hole("title")),
    )


def _parts(counts: Counts) -> Array:
    """The part of the draws in each bin; zeros where nothing was drawn."""
    return counts / max(int(counts.sum()), 1)


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


def _mean_and_spread(x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The spread as a bar and a diamond at the mean."""
    line = table("spread").mark_rule(color=MASKED, strokeWidth=3).encode(x=x, x2="right:Q", y=y)
    dot = table("mean").mark_point(shape="diamond", size=110, filled=True, color=WEIGHT, opacity=1)
    return [line, dot.encode(x=alt.X("mean:Q"), y=y)]
