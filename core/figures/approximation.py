"""Altair pictures of how well feature maps stand for exp, and of singular values of heads.

Maps have one colour and are told apart by dashes and shapes; softmax has its own; uniform
attention, which looks at nothing, is grey.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import FAMILIES, FONT_SIZE, KEY, MASKED, WEIGHT

EXACT, MAP = FAMILIES[0], FAMILIES[1]
SHAPES = ("circle", "square", "triangle-up", "diamond")
Look = Literal["map", "exact", "reference"]
Row = tuple[str, float, float, float, float, float]  # name, at, value, low, high, share below 0


def error_chart(
    rows: Sequence[Row],
    looks: dict[str, Look],
    *,
    x_title: str,
    y_title: str,
    below: str,
    log_x: bool = True,
    log_y: bool = True,
    height: int = 300,
) -> alt.LayerChart:
    """Medians with their range as a band; hollow where there are values below 0, which `below`
    names. At most four maps.
    """
    frame = pd.DataFrame(rows, columns=["name", "at", "value", "low", "high", "below"])
    channels = _channels(looks)
    y = _log_axis(rows, y_title) if log_y else _axis(y_title)
    base = alt.Chart(frame).encode(
        x=_along({row[1] for row in rows}, x_title, log=log_x),
        color=channels.colour,
        tooltip=[
            "name:N",
            alt.Tooltip("at:Q", title=x_title, format="~g"),
            alt.Tooltip("value:Q", title=y_title, format=".2~g"),
            alt.Tooltip("below:Q", title=below, format=".1%"),
        ],
    )
    band = base.mark_area(opacity=0.15, clip=True).transform_calculate(value="datum.low")
    points = [
        base.transform_filter("datum.below > 0" if hollow else "datum.below == 0")
        .mark_point(size=70, filled=not hollow, strokeWidth=2, opacity=1)
        .encode(y=y, shape=channels.shape)
        for hollow in (True, False)
    ]
    lines = base.mark_line(strokeWidth=2.5).encode(y=y, strokeDash=channels.dash)
    return _finished([band.encode(y=y, y2="high:Q"), lines, *points], height)


def _axis(title: str) -> alt.Y:
    return alt.Y("value:Q", title=title, axis=elements.axis(format=",~g", tickCount=5))


def _log_axis(rows: Sequence[Row], title: str) -> alt.Y:
    """From a power of ten below all medians to the top of the highest band, no further."""
    powers = elements.decades(row[2] for row in rows) or [1.0]
    low, top = powers[0], max(10 * powers[0], *(row[4] for row in rows))
    return alt.Y(
        "value:Q",
        title=title,
        scale=alt.Scale(type="log", domain=[low, top], nice=False),
        axis=elements.axis(format=",~g", values=[power for power in powers if power <= top]),
    )


def spectrum_chart(
    cumulative: NDArray[np.float64], ranks: Sequence[int], *, title: str, height: int = 300
) -> alt.LayerChart:
    """Shares (n_layers, n_heads, n) of the first singular values, a line a head, a dash pattern a
    layer; upright lines at Linformer's numbers of rows.
    """
    n_layers, _, n = cumulative.shape
    x = alt.X(
        "at:Q",
        title="singular values, the largest first",
        scale=alt.Scale(domain=[0, n], nice=False),
        axis=elements.axis(grid=False, tickCount=6),
    )
    y = alt.Y(
        "share:Q",
        title="share of their sum",
        scale=alt.Scale(domain=[0, 1]),
        axis=elements.axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    lines = (
        alt.Chart(_shares(cumulative))
        .mark_line(color=WEIGHT, strokeWidth=1.5, opacity=0.75)
        .encode(
            x=x,
            y=y,
            detail="head:N",
            strokeDash=elements.dashes([f"L{layer}" for layer in range(n_layers)]),
            tooltip=["head:N", "at:Q", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    rules = alt.Chart(pd.DataFrame({"at": list(ranks), "name": [f"k = {k}" for k in ranks]}))
    texts = rules.mark_text(color=KEY, fontSize=FONT_SIZE, align="left", dx=4)
    layers = [
        lines,
        rules.mark_rule(color=KEY, strokeWidth=2).encode(x=x),
        texts.encode(x=x, y=alt.value(height - 10), text="name:N"),
    ]
    return _finished(layers, height).properties(title=elements.title(title))


def _shares(cumulative: NDArray[np.float64]) -> pd.DataFrame:
    """A row for each head and number of values, from none on."""
    n_layers, n_heads, n = cumulative.shape
    shares = np.concatenate([np.zeros((n_layers, n_heads, 1)), cumulative], axis=-1).round(4)
    return pd.DataFrame(
        [
            {"head": f"L{i}·H{j}", "name": f"L{i}", "at": k, "share": float(shares[i, j, k])}
            for i in range(n_layers)
            for j in range(n_heads)
            for k in range(n + 1)
        ]
    )


class Channels(NamedTuple):
    """Colour, dashes and shape by name, drawn as one legend."""

    colour: alt.Color
    dash: alt.StrokeDash
    shape: alt.Shape


def _channels(looks: dict[str, Look]) -> Channels:
    names, marks = list(looks), _marks(looks)
    legend = elements.legend(
        orient="bottom",
        columns=1,
        symbolSize=110,
        symbolOpacity=1,
        symbolStrokeWidth=0,
        labelLimit=300,
    )
    return Channels(
        _channel(alt.Color, names, [mark[0] for mark in marks], legend),
        _channel(alt.StrokeDash, names, [mark[1] for mark in marks], legend),
        _channel(alt.Shape, names, [mark[2] for mark in marks], legend),
    )


def _along(values: set[float], title: str, *, log: bool) -> alt.X:
    return alt.X(
        "at:Q",
        title=title,
        scale=alt.Scale(type="log", base=2) if log else alt.Scale(zero=False, nice=False),
        axis=elements.axis(values=sorted(values), format="~g", grid=False, labelFlush=False),
    )


def _marks(looks: dict[str, Look]) -> list[tuple[str, list[int], str]]:
    """Colour, dashes and shape of each name."""
    marks: list[tuple[str, list[int], str]] = []
    n_maps = 0
    for look in looks.values():
        if look == "map":
            marks.append((MAP, elements.DASHES[n_maps], SHAPES[n_maps]))
            n_maps += 1
        else:
            marks.append((EXACT if look == "exact" else MASKED, [1, 0], "cross"))
    return marks


def _channel(kind: Any, names: list[str], marks: list[Any], legend: alt.Legend) -> Any:
    """Channels with the same names and the same legend are drawn as one."""
    scale = alt.Scale(domain=names, range=marks)
    return kind("name:N", sort=names, title=None, scale=scale, legend=legend)


def _finished(layers: list[alt.Chart], height: int) -> alt.LayerChart:
    return alt.LayerChart(layer=layers).properties(
        width="container",
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
