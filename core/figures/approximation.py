"""Pictures of how well mechanisms stand for softmax, and of singular values of heads.

Maps have one colour, states another, windows a third, and all are told apart by dashes and shapes;
softmax has its own; uniform attention, which looks at nothing, is grey.
"""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import FAMILIES, FONT_SIZE, KEY, MASKED, WEIGHT
from core.figures.template import Figure, hole, laid_out, table, template

EXACT = FAMILIES[0]
COLOURS = {"map": FAMILIES[1], "sparse": FAMILIES[3], "state": FAMILIES[5]}
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down")
Look = Literal["map", "sparse", "state", "exact", "reference"]
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
) -> Figure:
    """Medians with their range as a band; hollow where there are values below 0, which `below`
    names. At most five maps, windows and states.
    """
    columns = ["name", "at", "value", "low", "high", "below"]
    return _error_chart(log_x=log_x, log_y=log_y).fill(
        {"errors": pd.DataFrame(rows, columns=columns)},
        ticks=sorted({row[1] for row in rows}),
        x_title=x_title,
        y_title=y_title,
        below=below,
        height=height,
        names=list(looks),
        **_marks(looks),
        **_powers(rows),
    )


@template
def _error_chart(*, log_x: bool, log_y: bool) -> alt.LayerChart:
    colour, dash, shape = _channels()
    y = _value_axis(log=log_y)
    base = table("errors").encode(
        x=_along(log=log_x),
        color=colour,
        tooltip=[
            "name:N",
            alt.Tooltip("at:Q", title=hole("x_title"), format="~g"),
            alt.Tooltip("value:Q", title=hole("y_title"), format=".2~g"),
            alt.Tooltip("below:Q", title=hole("below"), format=".1%"),
        ],
    )
    band = base.mark_area(opacity=0.15, clip=True).transform_calculate(value="datum.low")
    points = [
        base.transform_filter("datum.below > 0" if hollow else "datum.below == 0")
        .mark_point(size=70, filled=not hollow, strokeWidth=2, opacity=1)
        .encode(y=y, shape=shape)
        for hollow in (True, False)
    ]
    lines = base.mark_line(strokeWidth=2.5).encode(y=y, strokeDash=dash)
    return _finished([band.encode(y=y, y2="high:Q"), lines, *points])


def spectrum_chart(
    cumulative: NDArray[np.float64], ranks: Sequence[int], *, title: str, height: int = 300
) -> Figure:
    """Shares (n_layers, n_heads, n) of the first singular values, a line a head, a dash pattern a
    layer; upright lines at Linformer's numbers of rows.
    """
    n_layers, _, n = cumulative.shape
    named = [f"k = {k}" for k in ranks]
    return _spectrum_chart().fill(
        {
            "shares": _shares(cumulative),
            "ranks": pd.DataFrame({"at": list(ranks), "name": named}),
        },
        domain=[0, n],
        layers=[f"L{layer}" for layer in range(n_layers)],
        foot=height - 10,
        height=height,
        title=title,
    )


@template
def _spectrum_chart() -> alt.LayerChart:
    x = alt.X(
        "at:Q",
        title="singular values, the largest first",
        scale=alt.Scale(domain=hole("domain"), nice=False),
        axis=elements.axis(grid=False, tickCount=6),
    )
    y = alt.Y(
        "share:Q",
        title="share of their sum",
        scale=alt.Scale(domain=[0, 1]),
        axis=elements.axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    lines = (
        table("shares")
        .mark_line(color=WEIGHT, strokeWidth=1.5, opacity=0.75)
        .encode(
            x=x,
            y=y,
            detail="head:N",
            strokeDash=elements.dashes(hole("layers"), list(elements.DASHES)),
            tooltip=["head:N", "at:Q", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    rules = table("ranks").mark_rule(color=KEY, strokeWidth=2).encode(x=x)
    texts = table("ranks").mark_text(color=KEY, fontSize=FONT_SIZE, align="left", dx=4)
    layers = [lines, rules, texts.encode(x=x, y=alt.value(hole("foot")), text="name:N")]
    return laid_out(_finished(layers), title=elements.title(hole("title")))


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


def _powers(rows: Sequence[Row]) -> dict[str, list[float]]:
    """The ends and ticks of a logarithmic axis: from a power of ten below all medians to the top
    of the highest band, no further.
    """
    powers = elements.decades(row[2] for row in rows) or [1.0]
    low, top = powers[0], max(10 * powers[0], *(row[4] for row in rows))
    return {"span": [low, top], "powers": [power for power in powers if power <= top]}


def _marks(looks: dict[str, Look]) -> dict[str, list[Any]]:
    """Colours, dashes and shapes of the names, in their order."""
    marks: list[tuple[str, list[int], str]] = []
    n_maps = 0
    for look in looks.values():
        if look in COLOURS:
            marks.append((COLOURS[look], elements.DASHES[n_maps], SHAPES[n_maps]))
            n_maps += 1
        else:
            marks.append((EXACT if look == "exact" else MASKED, [1, 0], "cross"))
    return {
        "colours": [colour for colour, _, _ in marks],
        "patterns": [pattern for _, pattern, _ in marks],
        "shapes": [shape for _, _, shape in marks],
    }


def _channels() -> tuple[alt.Color, alt.StrokeDash, alt.Shape]:
    """Colour, dashes and shape by name, drawn as one legend."""
    kinds = ((alt.Color, "colours"), (alt.StrokeDash, "patterns"), (alt.Shape, "shapes"))
    colour, dash, shape = (_channel(kind, marks) for kind, marks in kinds)
    return colour, dash, shape


def _channel(kind: Any, marks: str) -> Any:
    """Channels with the same names and the same legend are drawn as one."""
    names = hole("names")
    legend = elements.legend(
        orient="bottom",
        columns=1,
        symbolSize=110,
        symbolOpacity=1,
        symbolStrokeWidth=0,
        labelLimit=300,
    )
    scale = alt.Scale(domain=names, range=hole(marks))
    return kind("name:N", sort=names, title=None, scale=scale, legend=legend)


def _along(*, log: bool) -> alt.X:
    return alt.X(
        "at:Q",
        title=hole("x_title"),
        scale=alt.Scale(type="log", base=2) if log else alt.Scale(zero=False, nice=False),
        axis=elements.axis(values=hole("ticks"), format="~g", grid=False, labelFlush=False),
    )


def _value_axis(*, log: bool) -> alt.Y:
    title = hole("y_title")
    if not log:
        return alt.Y("value:Q", title=title, axis=elements.axis(format=",~g", tickCount=5))
    return alt.Y(
        "value:Q",
        title=title,
        scale=alt.Scale(type="log", domain=hole("span"), nice=False),
        axis=elements.axis(format=",~g", values=hole("powers")),
    )


def _finished(layers: list[alt.Chart]) -> alt.LayerChart:
    return laid_out(
        alt.LayerChart(layer=layers),
        width="container",
        height=hole("height"),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
