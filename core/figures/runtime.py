"""Altair pictures of growth: time or memory against the length of a text, both logarithmic.

A method has its colour by what it does about L² and its shape by its name. Full lines are measured,
with the quartiles as a band; dashes are formulas, dots another machine. A hollow point is to be
read with care, and says why when it is pointed at. Grey is the machine's own floor.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FAMILIES, MASKED

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
) -> alt.LayerChart:
    """All methods in one picture. `unit` is its name and how many of it a value of 1 is."""
    names = [line.name for line in lines]
    legend = elements.legend(
        orient="bottom",
        columns=2,
        symbolSize=90,
        symbolOpacity=1,
        labelLimit=170,
        labelOffset=1,
        rowPadding=1,
        columnPadding=0,  # two names with their powers just fit beside a second picture
    )
    axes = Axes(
        x=partial(_along, lengths=_lengths(lines)),
        y=partial(_up, title=f"{what} ({unit[0]})", ticks=_ticks(lines, unit[1])),
        colour=_channel(alt.Color, names, [FAMILIES[line.family] for line in lines], legend),
        shape=_channel(alt.Shape, names, [SHAPES[line.shape] for line in lines], legend),
    )
    layers = [
        *_crossings(crossings, axes),
        *_floors(floors or {}, unit[1], axes),
        *_thin(lines, unit[1], axes),
        *_measured(lines, unit[1], axes, f"{what}, {unit[0]}"),
    ]
    return alt.LayerChart(layer=layers).properties(
        width="container",
        height=height,
        title=elements.title(title),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )


class Axes(NamedTuple):
    """What all layers share; x and y are made for a field of their data."""

    x: Callable[[str], alt.X]
    y: Callable[[str], alt.Y]
    colour: alt.Color
    shape: alt.Shape


def _measured(lines: Sequence[Line], factor: float, axes: Axes, what: str) -> list[alt.Chart]:
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
    base = alt.Chart(pd.DataFrame(rows, columns=columns)).encode(
        x=axes.x("length"),
        color=axes.colour,
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("length:Q", title="tokens", format=","),
            alt.Tooltip("value:Q", title=what, format=".3~g"),
            alt.Tooltip("low:Q", title="quartiles from", format=".3~g"),
            alt.Tooltip("high:Q", title="to", format=".3~g"),
            alt.Tooltip("flags:N", title="with care"),
        ],
    )
    points = [
        base.transform_filter("datum.flagged" if hollow else "!datum.flagged")
        .mark_point(size=80, filled=not hollow, strokeWidth=2, opacity=1)
        .encode(y=axes.y("value"), shape=axes.shape)
        for hollow in (True, False)
    ]
    return [
        base.mark_area(opacity=0.22).encode(y=axes.y("low"), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=axes.y("value")),
        *points,
    ]


def _thin(lines: Sequence[Line], factor: float, axes: Axes) -> list[alt.Chart]:
    """Formulas and another machine, where there are any."""
    layers: list[alt.Chart] = []
    for what, dash, width in (("predicted", FORMULA, 1.5), ("other", OTHER, 3.0)):
        rows = [
            {"name": line.name, "length": length, "value": factor * value}
            for line in lines
            for length, value in getattr(line, what)
        ]
        if rows:
            layers.append(
                alt.Chart(pd.DataFrame(rows))
                .mark_line(strokeWidth=width, strokeDash=dash, strokeCap="round", opacity=0.75)
                .encode(x=axes.x("length"), y=axes.y("value"), color=axes.colour)
            )
    return layers


def _floors(
    floors: Mapping[str, Sequence[tuple[float, float]]], factor: float, axes: Axes
) -> list[alt.Chart]:
    """Grey lines; their names are seen when they are pointed at."""
    layers: list[alt.Chart] = []
    for name, values in floors.items():
        frame = pd.DataFrame(
            [{"length": length, "value": factor * value} for length, value in values]
        )
        layers.append(
            alt.Chart(frame.assign(name=name))
            .mark_line(color=MASKED, strokeWidth=2.5, strokeDash=FLOOR)
            .encode(
                x=axes.x("length"),
                y=axes.y("value"),
                tooltip=[alt.Tooltip("name:N", title="floor")],
            )
        )
    return layers


def _crossings(crossings: Sequence[Crossing], axes: Axes) -> list[alt.Chart]:
    """A faint stripe as wide as the interval, a line at the length."""
    layers: list[alt.Chart] = []
    for found in crossings:
        row = {"length": found.at, "low": found.low, "high": found.high, "text": found.text}
        base = alt.Chart(pd.DataFrame([row])).encode(
            tooltip=[alt.Tooltip("text:N", title="crossover")]
        )
        colour = FAMILIES[found.family]
        layers += [
            base.mark_rect(color=colour, opacity=0.14).encode(x=axes.x("low"), x2="high:Q"),
            base.mark_rule(color=colour, strokeWidth=1.5).encode(x=axes.x("length")),
        ]
    return layers


def _channel(kind: Any, names: list[str], marks: list[str], legend: alt.Legend) -> Any:
    """Channels with the same names and the same legend are drawn as one."""
    scale = alt.Scale(domain=names, range=marks)
    return kind("name:N", sort=names, title=None, scale=scale, legend=legend)


def _lengths(lines: Sequence[Line]) -> list[float]:
    measured = {point[0] for line in lines for point in line.points}
    return sorted(measured | {length for line in lines for length, _ in line.predicted})


def _along(field: str, *, lengths: Sequence[float]) -> alt.X:
    ends = [lengths[0] / 1.12, lengths[-1] * 1.12] if lengths else [1.0, 10.0]
    return alt.X(
        f"{field}:Q",
        title="tokens L",
        scale=alt.Scale(type="log", base=2, domain=ends, nice=False),
        axis=elements.axis(values=list(lengths), format=",", grid=False, labelOverlap=True),
    )


def _ticks(lines: Sequence[Line], factor: float) -> list[float]:
    values = [factor * value for line in lines for _, *three, _ in line.points for value in three]
    return elements.decades(values)


def _up(field: str, *, title: str, ticks: list[float]) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log"),
        axis=elements.axis(format=",~g", values=ticks),
    )
