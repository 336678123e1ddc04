"""Picture of a key's cloud: points in, counted in squares before they are sent."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.montecarlo import shading, sized
from core.figures.palette import FONT_SIZE, KEY, MASKED
from core.figures.template import Figure, hole, table, template

Array = NDArray[np.float64]


def key_cloud(
    points: Array,
    norms: tuple[float, float],
    *,
    title: str,
    n_bins: int = 60,
    width: int = 224,
    height: int = 240,
) -> Figure:
    """Key a's cloud in the plane of μ_a and μ_b: points (m, 2) in square cells, means as lines.

    Both axes have one scale, so that the cloud has its true shape.
    """
    low, high = min(float(points[:, 0].min()), -0.2), max(float(points[:, 0].max()), norms[0] * 1.1)
    down = min(float(points[:, 1].min()), -0.3 * norms[1])
    up = max(float(points[:, 1].max()), norms[1] * 1.15)
    step = max(high - low, up - down) / n_bins
    scale = min(width / (high - low), height / (up - down))
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
    x = _along("left", "along μ_a", hole("along_a"))
    y = _along("low", "along μ_b", hole("along_b"))
    cells = (
        table("cells")
        .transform_calculate(right=hole("right"), high=hole("high"))
        .mark_rect(color=KEY, clip=True)
        .encode(x=x, x2="right:Q", y=y, y2="high:Q", **shading(0.15))
    )
    lines = table("means").mark_line(color=MASKED, strokeWidth=2.5)
    names = table("names").mark_text(color=MASKED, fontSize=FONT_SIZE + 2, dx=14, dy=-10)
    layers = [cells, lines.encode(x=x, y=y, detail="key:N"), names.encode(x=x, y=y, text="key:N")]
    return sized(layers, hole("width"), hole("height"))


def _cloud_cells(points: Array, step: float) -> pd.DataFrame:
    """The points counted in squares of side `step`; empty ones are not sent."""
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


def _along(field: str, title: str, domain: list[float]) -> Any:
    channel = alt.X if field == "left" else alt.Y
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=domain, nice=False),
        axis=elements.axis(tickCount=5, grid=False),
    )
