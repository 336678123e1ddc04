"""Altair pictures of the theory: the share against ε, its spread and its quantiles against β."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import KEY, MASKED, QUERY, WEIGHT

Array = NDArray[np.float64]


def share_against_epsilon(
    epsilon: Array,
    shares: Sequence[tuple[str, Array]],
    density: Array,
    *,
    key: str,
    title: str,
    width: int = 290,
    height: int = 170,
) -> alt.VConcatChart:
    """Shares on a, one dash pattern a name, over the density of ε, the length of `key`."""
    frame = pd.concat(
        [
            pd.DataFrame({"epsilon": epsilon.round(5), "share": share.round(5), "name": name})
            for name, share in shares
        ]
    )
    lines = elements.named_lines(
        frame,
        _epsilon(epsilon, None, labels=False, grid=False),
        _share("share"),
        [name for name, _ in shares],
        colour=WEIGHT,
        tooltip=[
            alt.Tooltip("epsilon:Q", title="ε", format=".3g"),
            alt.Tooltip("share:Q", format=".3f"),
        ],
    )
    below = (
        alt.Chart(pd.DataFrame({"epsilon": epsilon.round(5), "density": density.round(5)}))
        .mark_area(color=KEY, opacity=0.5, line={"color": KEY})
        .encode(
            x=_epsilon(epsilon, f"ε, length of {key}", tickCount=7, grid=False),
            y=alt.Y("density:Q", title="density", axis=elements.axis(tickCount=2)),
        )
    )
    return alt.vconcat(
        lines.properties(width=width, height=height),
        below.properties(width=width, height=70),
        spacing=6,
    ).properties(title=elements.title(title), autosize="pad")


def spread_against_beta(
    betas: Array,
    curves: Sequence[tuple[str, Array]],
    beta: float,
    *,
    title: str,
    sampled: tuple[float, float | None] | None = None,
    height: int = 340,
) -> alt.LayerChart:
    """Standard deviations against β, one dash pattern a name; those that are nan are left out.

    `sampled`: standard deviation at `beta` and its standard error; the bar is four errors long
    on either side, and left out without an error. A deviation that is nan is not drawn.
    """
    y = alt.Y(
        "spread:Q",
        title="sd of the share",
        scale=alt.Scale(domain=[0, 0.5]),
        axis=elements.axis(tickCount=5),
    )
    lines = elements.named_lines(
        _known(betas, curves),
        _beta(betas),
        y,
        [name for name, _ in curves],
        colour=WEIGHT,
        tooltip=[
            alt.Tooltip("beta:Q", title="β", format=".3g"),
            alt.Tooltip("spread:Q", title="standard deviation", format=".3f"),
        ],
    )
    layers = [lines, _rule(beta, betas)]
    if sampled is not None and np.isfinite(sampled[0]):
        layers += _sampled_spread(beta, *sampled, _beta(betas), y)
    return alt.LayerChart(layer=layers).properties(
        width="container", height=height, title=elements.title(title)
    )


def quantile_bands(
    betas: Array,
    quantiles: Array,
    beta: float,
    sampled: Array,
    *,
    title: str,
    height: int = 340,
) -> alt.LayerChart:
    """Quantiles (5, len(betas)) of the share at 5, 25, 50, 75, 95 % as two bands and the median.

    `sampled` (5,): those of the sample at `beta`, as points.
    """
    names = ["q05", "q25", "q50", "q75", "q95"]
    frame = pd.DataFrame({"beta": betas, **dict(zip(names, quantiles.round(5), strict=True))})
    base = alt.Chart(frame).encode(
        x=_beta(betas),
        tooltip=[
            alt.Tooltip("beta:Q", title="β", format=".3g"),
            *(alt.Tooltip(f"{name}:Q", title=f"{name[1:]} %", format=".3f") for name in names),
        ],
    )

    def band(low: str, high: str, opacity: float) -> alt.Chart:
        return base.mark_area(color=WEIGHT, opacity=opacity).encode(y=_share(low), y2=f"{high}:Q")

    points = (
        alt.Chart(pd.DataFrame({"beta": beta, "share": sampled, "name": names}))
        .mark_point(color=QUERY, filled=True, size=70, opacity=1)
        .encode(
            x=_beta(betas),
            y=_share("share"),
            tooltip=[alt.Tooltip("share:Q", title="sample, here", format=".3f")],
        )
    )
    return alt.LayerChart(
        layer=[
            band("q05", "q95", 0.2),
            band("q25", "q75", 0.35),
            base.mark_line(color=WEIGHT, strokeWidth=3).encode(y=_share("q50")),
            _rule(beta, betas),
            points,
        ]
    ).properties(width="container", height=height, title=elements.title(title))


def _known(betas: Array, curves: Sequence[tuple[str, Array]]) -> pd.DataFrame:
    """A row for each spread that the theory knows."""
    kept = [(name, np.isfinite(curve), curve) for name, curve in curves]
    return pd.concat(
        [
            pd.DataFrame({"beta": betas[finite], "spread": curve[finite], "name": name})
            for name, finite, curve in kept
        ]
    )


def _sampled_spread(
    beta: float, value: float, error: float | None, x: alt.X, y: alt.Y
) -> list[alt.Chart]:
    """A point at the standard deviation of the sample, over a bar of four errors on either side."""
    room = 4 * (error or 0.0)
    point = pd.DataFrame(
        {"beta": [beta], "spread": [value], "low": [value - room], "high": [value + room]}
    )
    base = alt.Chart(point).encode(x=x)
    bar = base.mark_rule(color=MASKED, strokeWidth=4).encode(y=alt.Y("low:Q"), y2="high:Q")
    dot = base.mark_point(color=QUERY, filled=True, size=90, opacity=1).encode(
        y=y, tooltip=[alt.Tooltip("spread:Q", title="sample, here", format=".4f")]
    )
    return [dot] if error is None else [bar, dot]


def _epsilon(epsilon: Array, title: str | None, **axis: Any) -> alt.X:
    return alt.X(
        "epsilon:Q",
        title=title,
        scale=alt.Scale(domain=[float(epsilon[0]), float(epsilon[-1])], nice=False),
        axis=elements.axis(**axis),
    )


def _beta(betas: Array) -> alt.X:
    return alt.X(
        "beta:Q",
        title="β, scale of the queries",
        scale=alt.Scale(type="log", domain=[float(betas[0]), float(betas[-1])], nice=False),
        axis=elements.axis(tickCount=4, grid=False, format="~g"),
    )


def _share(field: str) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title="share on a",
        scale=alt.Scale(domain=[0, 1]),
        axis=elements.axis(tickCount=4),
    )


def _rule(beta: float, betas: Array) -> alt.Chart:
    return (
        alt.Chart(pd.DataFrame({"beta": [beta]}))
        .mark_rule(color=QUERY, strokeWidth=1.5)
        .encode(x=_beta(betas), tooltip=[alt.Tooltip("beta:Q", title="β here", format=".3g")])
    )
