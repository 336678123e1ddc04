"""Pictures of growth: time or memory against the length of a text, both logarithmic.

A method has its colour by what it does about L² and its shape by its name. Full lines are measured,
with the quartiles as a band; dashes are formulas, dots another machine. A hollow point is to be
read with care, and says why when it is pointed at. Grey is the machine's own floor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FAMILIES, MASKED
from core.figures.template import Figure, hole, table, template

ROOM_FOR_TWO = 285  # pixels of a plot; a narrower one has its names below one another
STAR = (
    "M0,-1L.235,-.324L.951,-.309L.38,.124L.588,.809L0,.4"
    "L-.588,.809L-.38,.124L-.951,-.309L-.235,-.324Z"
)
HEXAGON = "M0,-.9L.78,-.45L.78,.45L0,.9L-.78,.45L-.78,-.45Z"
SHAPES = (
    "square",
    "circle",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    STAR,
    "triangle-left",
    "triangle-right",
    HEXAGON,
)
FORMULA, OTHER, FLOOR = [7, 4], [1, 4], [2, 3]
NO_VALUES: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One method. `points` are (length, value, lower quartile, upper quartile, why to be careful);
    `predicted` and `other` (length, value). `name` stands in the legend.
    """

    name: str
    method: str
    family: int
    shape: int
    points: Sequence[tuple[float, float, float, float, str]]
    predicted: Sequence[tuple[float, float]] = NO_VALUES
    other: Sequence[tuple[float, float]] = NO_VALUES


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where a method begins to win: the length, and the ends of its interval."""

    text: str
    family: int
    at: float
    low: float
    high: float


def growth_chart(
    lines: Sequence[Line],
    *,
    title: str,
    what: str,
    unit: tuple[str, float],
    crossings: Sequence[Crossing] = (),
    floors: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    height: int = 260,
) -> Figure:
    """All methods in one picture. `unit` is its name and how many of it a value of 1 is."""
    unit_name, factor = unit
    beside = {
        "crossings": _crossings(crossings),
        "floors": _pairs(floors or {}, factor),
        "predicted": _pairs({line.name: line.predicted for line in lines}, factor),
        "other": _pairs({line.name: line.other for line in lines}, factor),
    }
    drawn = {name: frame for name, frame in beside.items() if not frame.empty}
    lengths = _lengths(lines)
    return _growth_chart(tuple(drawn)).fill(
        {**drawn, "measured": _measured(lines, factor)},
        lengths=lengths,
        ends=[lengths[0] / 1.12, lengths[-1] * 1.12] if lengths else [1.0, 10.0],
        ticks=_ticks(lines, factor),
        axis=f"{what} ({unit_name})",
        value=f"{what}, {unit_name}",
        names=[line.name for line in lines],
        colours=[FAMILIES[line.family] for line in lines],
        shapes=[SHAPES[line.shape] for line in lines],
        height=height,
        title=title,
    )


@template
def _growth_chart(beside: tuple[str, ...]) -> alt.LayerChart:
    """`beside` are the tables, other than what was measured, that have rows."""
    layers = {
        "crossings": _stripes(),
        "floors": [_grey()],
        "predicted": [_thin("predicted", FORMULA, 1.5)],
        "other": [_thin("other", OTHER, 3.0)],
    }
    drawn = [layer for name in beside for layer in layers[name]]
    chart = alt.LayerChart(layer=[*drawn, *_curves()])
    return elements.fitted(chart, hole("height"), hole("title"))


def _measured(lines: Sequence[Line], factor: float) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [
        {
            "name": line.name,
            "method": line.method,
            "length": length,
            "value": factor * value,
            "low": factor * low,
            "high": factor * high,
            "flags": flags or "none",
            "flagged": bool(flags),
        }
        for line in lines
        for length, value, low, high, flags in line.points
    ]
    columns = "name method length value low high flags flagged".split()
    return pd.DataFrame(rows, columns=columns)


def _pairs(lines: Mapping[str, Sequence[tuple[float, float]]], factor: float) -> pd.DataFrame:
    rows = [
        (name, length, factor * value) for name, pairs in lines.items() for length, value in pairs
    ]
    return pd.DataFrame(rows, columns=["name", "length", "value"])


def _crossings(crossings: Sequence[Crossing]) -> pd.DataFrame:
    rows = [
        (found.at, found.low, found.high, found.text, FAMILIES[found.family]) for found in crossings
    ]
    return pd.DataFrame(rows, columns=["length", "low", "high", "text", "colour"])


def _curves() -> list[alt.Chart]:
    """Line, band and points of what was measured."""
    colour, shape = _channel(alt.Color, "colours"), _channel(alt.Shape, "shapes")
    base = table("measured").encode(
        x=_along("length"),
        color=colour,
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("length:Q", title="tokens", format=","),
            alt.Tooltip("value:Q", title=hole("value"), format=".3~g"),
            alt.Tooltip("low:Q", title="quartiles from", format=".3~g"),
            alt.Tooltip("high:Q", title="to", format=".3~g"),
            alt.Tooltip("flags:N", title="with care"),
        ],
    )
    points = [
        base.transform_filter("datum.flagged" if hollow else "!datum.flagged")
        .mark_point(size=80, filled=not hollow, strokeWidth=2, opacity=1)
        .encode(y=_up("value"), shape=shape)
        for hollow in (True, False)
    ]
    return [
        base.mark_area(opacity=0.22).encode(y=_up("low"), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=_up("value")),
        *points,
    ]


def _thin(name: str, dash: list[int], width: float) -> alt.Chart:
    """Formulas, or another machine."""
    return (
        table(name)
        .mark_line(strokeWidth=width, strokeDash=dash, strokeCap="round", opacity=0.75)
        .encode(x=_along("length"), y=_up("value"), color=_channel(alt.Color, "colours"))
    )


def _grey() -> alt.Chart:
    """The floors; their names are seen when they are pointed at."""
    return (
        table("floors")
        .mark_line(color=MASKED, strokeWidth=2.5, strokeDash=FLOOR)
        .encode(
            x=_along("length"),
            y=_up("value"),
            detail=alt.Detail("name:N", title="floor"),
            tooltip=[alt.Tooltip("name:N", title="floor")],
        )
    )


def _stripes() -> list[alt.Chart]:
    """A faint stripe as wide as the interval, a line at the length, in the colour of the row."""
    base = table("crossings").encode(tooltip=[alt.Tooltip("text:N", title="crossover")])
    colour = alt.ExprRef("datum.colour")
    return [
        base.mark_rect(color=colour, opacity=0.14).encode(x=_along("low"), x2="high:Q"),
        base.mark_rule(color=colour, strokeWidth=1.5).encode(x=_along("length")),
    ]


def _channel(kind: Any, marks: str) -> Any:
    """Channels with the same names and the same legend are drawn as one."""
    legend = elements.legend(
        orient="bottom",
        columns=alt.ExprRef(f"width < {ROOM_FOR_TWO} ? 1 : 2"),
        symbolSize=90,
        symbolOpacity=1,
        labelLimit=170,
        labelOffset=1,
        rowPadding=1,
        columnPadding=0,  # two names with their powers just fit beside a second picture
    )
    scale = alt.Scale(domain=hole("names"), range=hole(marks))
    return kind("name:N", sort=hole("names"), title=None, scale=scale, legend=legend)


def _lengths(lines: Sequence[Line]) -> list[float]:
    measured = {point[0] for line in lines for point in line.points}
    return sorted(measured | {length for line in lines for length, _ in line.predicted})


def _ticks(lines: Sequence[Line], factor: float) -> list[float]:
    values = [factor * value for line in lines for _, *three, _ in line.points for value in three]
    return elements.decades(values)


def _along(field: str) -> alt.X:
    return alt.X(
        f"{field}:Q",
        title="tokens L",
        scale=alt.Scale(type="log", base=2, domain=hole("ends"), nice=False),
        axis=elements.axis(values=hole("lengths"), format=",", grid=False, labelOverlap=True),
    )


def _up(field: str) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title=hole("axis"),
        scale=alt.Scale(type="log"),
        axis=elements.axis(format=",~g", values=hole("ticks")),
    )
