"""Pictures of the theory: the share against ε, its spread and its quantiles against β."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import KEY, MASKED, QUERY, WEIGHT
from core.figures.template import Figure, hole, laid_out, table, template

Array = NDArray[np.float64]
WIDTH, HEIGHT = 212, 340  # pixels: of the share against ε, of a picture as wide as its place
QUANTILES = ("q05", "q25", "q50", "q75", "q95")


def share_against_epsilon(
    epsilon: Array,
    shares: Sequence[tuple[str, Array]],
    density: Array,
    *,
    key: str,
    title: str,
) -> Figure:
    """Shares on a, one dash pattern a name, over the density of ε, the length of `key`."""
    at = epsilon.round(5)
    lines = [
        pd.DataFrame({"epsilon": at, "share": share.round(5), "name": name})
        for name, share in shares
    ]
    return _share_against_epsilon().fill(
        {
            "lines": pd.concat(lines),
            "density": pd.DataFrame({"epsilon": at, "density": density.round(5)}),
        },
        names=[name for name, _ in shares],
        domain=_ends(epsilon),
        length=f"ε, length of {key}",
        title=elements.narrow(title),
    )


@template
def _share_against_epsilon() -> alt.VConcatChart:
    lines = elements.named_lines(
        "lines",
        _epsilon(None, labels=False, grid=False),
        _share("share"),
        hole("names"),
        colour=WEIGHT,
        columns=1,  # side by side they would be wider than a small phone
        tooltip=[
            alt.Tooltip("epsilon:Q", title="ε", format=".3g"),
            alt.Tooltip("share:Q", format=".3f"),
        ],
    )
    below = (
        table("density")
        .mark_area(color=KEY, opacity=0.5, line={"color": KEY})
        .encode(
            x=_epsilon(hole("length"), tickCount=7, grid=False),
            y=alt.Y("density:Q", title="density", axis=elements.axis(tickCount=2)),
        )
    )
    both = alt.vconcat(
        laid_out(lines, width=WIDTH, height=170),
        laid_out(below, width=WIDTH, height=70),
        spacing=6,
    )
    return laid_out(both, title=elements.title(hole("title")), autosize="pad")


def spread_against_beta(
    betas: Array,
    curves: Sequence[tuple[str, Array]],
    beta: float,
    *,
    title: str,
    sampled: tuple[float, float | None] | None = None,
) -> Figure:
    """Standard deviations against β, one dash pattern a name; those that are nan are left out.

    `sampled`: standard deviation at `beta` and its standard error; the bar is four errors long
    on either side, and left out without an error. A deviation that is nan is not drawn.
    """
    tables = {"lines": _known(betas, curves), "here": pd.DataFrame({"beta": [beta]})}
    if sampled is not None:
        tables["sample"] = _sampled_spread(beta, sampled[0])
        tables["errors"] = _errors(beta, *sampled)
    return _spread_against_beta(sampled=sampled is not None).fill(
        tables, names=[name for name, _ in curves], betas=_ends(betas), title=title
    )


@template
def _spread_against_beta(*, sampled: bool) -> alt.LayerChart:
    y = alt.Y(
        "spread:Q",
        title="sd of the share",
        scale=alt.Scale(domain=[0, 0.5]),
        axis=elements.axis(tickCount=5),
    )
    lines = elements.named_lines(
        "lines",
        _beta(),
        y,
        hole("names"),
        colour=WEIGHT,
        tooltip=[
            alt.Tooltip("beta:Q", title="β", format=".3g"),
            alt.Tooltip("spread:Q", title="standard deviation", format=".3f"),
        ],
    )
    return _wide([lines, _rule(), *(_point_with_errors(y) if sampled else [])])


def quantile_bands(
    betas: Array,
    quantiles: Array,
    beta: float,
    sampled: Array,
    *,
    title: str,
) -> Figure:
    """Quantiles (5, len(betas)) of the share at 5, 25, 50, 75, 95 % as two bands and the median.

    `sampled` (5,): those of the sample at `beta`, as points.
    """
    known = dict(zip(QUANTILES, quantiles.round(5), strict=True))
    return _quantile_bands().fill(
        {
            "bands": pd.DataFrame({"beta": betas, **known}),
            "here": pd.DataFrame({"beta": [beta]}),
            "sample": pd.DataFrame({"beta": beta, "share": sampled, "name": list(QUANTILES)}),
        },
        betas=_ends(betas),
        title=title,
    )


@template
def _quantile_bands() -> alt.LayerChart:
    hover = [alt.Tooltip(f"{name}:Q", title=f"{name[1:]} %", format=".3f") for name in QUANTILES]
    base = table("bands").encode(
        x=_beta(), tooltip=[alt.Tooltip("beta:Q", title="β", format=".3g"), *hover]
    )

    def band(low: str, high: str, opacity: float) -> alt.Chart:
        return base.mark_area(color=WEIGHT, opacity=opacity).encode(y=_share(low), y2=f"{high}:Q")

    points = (
        table("sample")
        .mark_point(color=QUERY, filled=True, size=70, opacity=1)
        .encode(
            x=_beta(),
            y=_share("share"),
            tooltip=[alt.Tooltip("share:Q", title="sample, here", format=".3f")],
        )
    )
    median = base.mark_line(color=WEIGHT, strokeWidth=3).encode(y=_share("q50"))
    bands = [band("q05", "q95", 0.2), band("q25", "q75", 0.35)]
    return _wide([*bands, median, _rule(), points])


def _known(betas: Array, curves: Sequence[tuple[str, Array]]) -> pd.DataFrame:
    """A row for each spread that the theory knows."""
    kept = [(name, np.isfinite(curve), curve) for name, curve in curves]
    return pd.concat(
        [
            pd.DataFrame({"beta": betas[finite], "spread": curve[finite], "name": name})
            for name, finite, curve in kept
        ]
    )


def _sampled_spread(beta: float, value: float) -> pd.DataFrame:
    """The standard deviation of the sample; no row where it is nan."""
    return pd.DataFrame({"beta": [beta], "spread": [value]}).dropna()


def _errors(beta: float, value: float, error: float | None) -> pd.DataFrame:
    """Four errors on either side; no row without an error."""
    room = float("nan") if error is None else 4 * error
    ends = {"beta": [beta], "low": [value - room], "high": [value + room]}
    return pd.DataFrame(ends).dropna()


def _ends(values: Array) -> list[float]:
    return [float(values[0]), float(values[-1])]


def _point_with_errors(y: alt.Y) -> list[alt.Chart]:
    """A point at what the sample has, over the bar of its errors."""
    bar = table("errors").mark_rule(color=MASKED, strokeWidth=4)
    dot = table("sample").mark_point(color=QUERY, filled=True, size=90, opacity=1)
    hover = [alt.Tooltip("spread:Q", title="sample, here", format=".4f")]
    return [
        bar.encode(x=_beta(), y=alt.Y("low:Q"), y2="high:Q"),
        dot.encode(x=_beta(), y=y, tooltip=hover),
    ]


def _wide(layers: list[alt.Chart]) -> alt.LayerChart:
    return laid_out(
        alt.LayerChart(layer=layers),
        width="container",
        height=HEIGHT,
        title=elements.title(hole("title")),
    )


def _epsilon(title: str | None, **axis: Any) -> alt.X:
    return alt.X(
        "epsilon:Q",
        title=title,
        scale=alt.Scale(domain=hole("domain"), nice=False),
        axis=elements.axis(**axis),
    )


def _beta() -> alt.X:
    return alt.X(
        "beta:Q",
        title="β, scale of the queries",
        scale=alt.Scale(type="log", domain=hole("betas"), nice=False),
        axis=elements.axis(tickCount=4, grid=False, format="~g"),
    )


def _share(field: str) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title="share on a",
        scale=alt.Scale(domain=[0, 1]),
        axis=elements.axis(tickCount=4),
    )


def _rule() -> alt.Chart:
    return (
        table("here")
        .mark_rule(color=QUERY, strokeWidth=1.5)
        .encode(x=_beta(), tooltip=[alt.Tooltip("beta:Q", title="β here", format=".3g")])
    )
