"""Altair pictures of trainings: loss and right answers as they go.

Runs are told apart by colour, dashes and the shape of their points, in the order given; what a
constant answer would reach is grey. Shares lie on a scale from 0 to 1, so that small steps stay
small. Titles come last (`titled`): a chart that differs in its data alone is not drawn anew when
more has been measured, so it does not flicker.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FONT_SIZE, MASKED, RUNS

LossCurve = tuple[str, Sequence[tuple[float, float]]]  # name, (x, loss) …
AccuracyCurve = tuple[str, Sequence[tuple[float, float, float, float]]]  # …, (x, share, low, high)
SHAPES = ("circle", "square", "triangle-up", "diamond")
MOST_CURVES = len(RUNS)
SHORT = "format(datum.value, datum.value < 10000 ? ',' : '~s')"  # 1,500 and 15k
LATE = 0.6  # names of phases that begin behind it stand on the left of their line


def loss_chart(
    curves: Sequence[LossCurve],
    *,
    axis: str,
    phases: Sequence[tuple[float, str]] = (),
    most: float | None = None,
    height: int = 250,
) -> alt.LayerChart:
    """The loss of some runs; `phases` are (x of its begin, name), `most` is the end of the axis."""
    frame = pd.DataFrame(
        [(name, at, loss) for name, points in curves for at, loss in points],
        columns=["name", "at", "loss"],
    ).round(5)
    names, x = [name for name, _ in curves], _along(axis, most)
    legend = _legend(names, 400)
    end = max((at for _, points in curves for at, _ in points), default=0.0)
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=alt.Y(
                "loss:Q",
                title="loss (nats a token)",
                scale=alt.Scale(zero=False),
                axis=elements.axis(tickCount=5),
            ),
            color=_colour(names, legend),
            strokeDash=_dash(names, legend),
            tooltip=[*_where(axis), alt.Tooltip("loss:Q", format=".3f")],
        )
    )
    return _finished([*_phases(phases, x, most or end), lines], height)


def accuracy_chart(
    curves: Sequence[AccuracyCurve],
    lines: Sequence[tuple[str, float]],
    *,
    axis: str,
    most: float | None = None,
    height: int = 250,
) -> alt.LayerChart:
    """Shares of right answers with their 95 % intervals as bands; `lines` are (name, share)."""
    rows = [(name, *point) for name, points in curves for point in points]
    frame = pd.DataFrame(rows, columns=["name", "at", "share", "low", "high"]).round(5)
    names = [name for name, _ in curves]
    base = alt.Chart(frame).encode(
        x=_along(axis, most),
        tooltip=[
            *_where(axis),
            alt.Tooltip("share:Q", title="right", format=".1%"),
            alt.Tooltip("low:Q", title="95 % from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
        ],
    )
    legend = _legend(names, 110, symbolStrokeWidth=0)
    y, colour, dash = _share("share"), _colour(names, legend), _dash(names, None)
    shape = alt.Shape("name:N", sort=names, title=None, scale=_scale(names, SHAPES), legend=legend)
    layers = [
        base.mark_area(opacity=0.2).encode(y=_share("low"), y2="high:Q", color=colour),
        base.mark_line(strokeWidth=2.5).encode(y=y, color=colour, strokeDash=dash),
        base.mark_point(size=60, filled=True, opacity=1).encode(y=y, shape=shape, color=colour),
    ]
    return _finished([*_constants(lines), *layers], height)


def titled(chart: alt.LayerChart, title: str) -> alt.LayerChart:
    """The chart with a title of its own, for a file."""
    return chart.properties(title=elements.title(title))


def _along(axis: str, most: float | None) -> alt.X:
    scale = alt.Scale() if most is None else alt.Scale(domain=[0, most], nice=False)
    ticks = elements.axis(tickCount=4, grid=False, labelExpr=SHORT)
    return alt.X("at:Q", title=axis, scale=scale, axis=ticks)


def _share(field: str) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title="right answers",
        scale=alt.Scale(domain=[0, 1]),
        axis=elements.axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1]),
    )


def _where(axis: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("name:N", title="run"),
        alt.Tooltip("at:Q", title=axis, format=",.6~g"),
    ]


def _colour(names: list[str], legend: alt.Legend | None) -> alt.Color:
    return alt.Color("name:N", sort=names, title=None, scale=_scale(names, RUNS), legend=legend)


def _dash(names: list[str], legend: alt.Legend | None) -> alt.StrokeDash:
    """With the same legend as the colour, Vega draws the two as one."""
    scale = _scale(names, elements.DASHES)
    return alt.StrokeDash("name:N", sort=names, title=None, scale=scale, legend=legend)


def _scale(names: list[str], marks: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=names, range=list(marks[: len(names)]))


def _legend(names: list[str], size: int, **more: Any) -> alt.Legend | None:
    """None where there is one run."""
    if len(names) == 1:
        return None
    return elements.legend(
        orient="top", columns=1, symbolSize=size, symbolOpacity=1, labelLimit=320, **more
    )


def _phases(phases: Sequence[tuple[float, str]], x: alt.X, end: float) -> list[alt.Chart]:
    """A thin line where a phase begins, its name on top."""
    layers: list[alt.Chart] = []
    for begin, phase in phases:
        late = begin > LATE * end
        base = alt.Chart(pd.DataFrame({"at": [begin], "phase": [phase]})).encode(x=x)
        layers += [
            base.mark_rule(color=MASKED, strokeWidth=1),
            base.mark_text(
                align="right" if late else "left",
                dx=-5 if late else 5,
                fontSize=FONT_SIZE,
                color=MASKED,
            ).encode(text="phase:N", y=alt.value(9)),
        ]
    return layers


def _constants(lines: Sequence[tuple[str, float]]) -> list[alt.Chart]:
    """Grey dashes across, each with its name on its right end."""
    if not lines:
        return []
    base = alt.Chart(pd.DataFrame(list(lines), columns=["constant", "share"])).encode(
        y=_share("share")
    )
    return [
        base.mark_rule(color=MASKED, strokeWidth=2, strokeDash=[2, 3]),
        base.mark_text(align="right", dy=-10, fontSize=FONT_SIZE, color=MASKED).encode(
            x=alt.value("width"), text="constant:N"
        ),
    ]


def _finished(layers: list[alt.Chart], height: int) -> alt.LayerChart:
    """As wide as its place; the height is that of the plot alone, axis and legend come to it."""
    return alt.LayerChart(layer=layers).properties(
        width="container",
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
