"""Pictures of what a memory holds: shares recalled against pairs, bytes kept against tokens.

A line has its colour by what a pair does to what is kept, its shape by its name, and its name at
its end. Full lines are samples or counts, with their intervals as bands; dashes are theory.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FONT_SIZE, MASKED
from core.figures.template import Figure, hole, table, template

ROOM = 126  # pixels for the names at the ends of the lines
LINE = 17  # pixels from one name to the next
WIDEN = 1.1  # of the axis across, on both sides
FEW = 8  # numbers across that are all named
THEORY = [7, 4]
# Tokens as 1k for 1,024; bytes with their unit.
TOKENS = (
    "datum.value >= 1048576 ? datum.value / 1048576 + 'M' : "
    "datum.value >= 1024 ? datum.value / 1024 + 'k' : datum.value"
)
BYTES = "format(datum.value, '~s') + 'B'"


class Point(NamedTuple):
    """A value with the ends of its interval; `text` is the value in words."""

    at: float
    value: float
    low: float
    high: float
    text: str


class Line(NamedTuple):
    """A mechanism, or a model; `theory` are pairs (at, value)."""

    name: str
    colour: str
    shape: str
    points: Sequence[Point]
    theory: Sequence[tuple[float, float]] = ()


def recall_chart(lines: Sequence[Line], *, title: str, height: int = 340) -> Figure:
    """Shares recalled against the number of pairs, which is on a logarithmic axis."""
    return _drawn(lines, is_log=False, limits=(0.0, 1.0), at=None, title=title, height=height)


def bytes_chart(
    lines: Sequence[Line], *, title: str, at: float | None = None, height: int = 340
) -> Figure:
    """Bytes kept against the number of tokens, both logarithmic; a rule stands `at` one length, if
    it is told.
    """
    values = [point.value for line in lines for point in line.points]
    limits = (min(values) / 1.5, max(values) * 1.5) if values else (1.0, 10.0)
    return _drawn(lines, is_log=True, limits=limits, at=at, title=title, height=height)


def _drawn(
    lines: Sequence[Line],
    *,
    is_log: bool,
    limits: tuple[float, float],
    at: float | None,
    title: str,
    height: int,
) -> Figure:
    points = [(line.name, *point) for line in lines for point in line.points]
    theory = [(line.name, *pair) for line in lines for pair in line.theory]
    tables = {
        "points": pd.DataFrame(points, columns=["name", *Point._fields]),
        "theory": pd.DataFrame(theory, columns=["name", "at", "value"]),
        "ends": _ends(lines, limits, height, is_log=is_log),
    }
    if at is not None:
        tables["here"] = pd.DataFrame({"at": [at]})
    places = sorted({point.at for line in lines for point in line.points})
    ticks = [tick for tick in elements.decades(limits) if limits[0] <= tick <= limits[1]]
    return _lines(is_log=is_log, has_rule=at is not None).fill(
        tables,
        places=places if len(places) <= FEW else places[::3],
        ends=[places[0] / WIDEN, places[-1] * WIDEN] if places else [1.0, 10.0],
        span=list(limits),
        ticks=ticks if is_log else [0, 0.25, 0.5, 0.75, 1],
        names=[line.name for line in lines],
        colours=[line.colour for line in lines],
        shapes=[line.shape for line in lines],
        height=height,
        title=title,
    )


def _ends(
    lines: Sequence[Line], limits: tuple[float, float], height: int, *, is_log: bool
) -> pd.DataFrame:
    """The last point of each line, and where its name stands: beside it, where there is room."""
    last = [(line.name, line.points[-1].at, line.points[-1].value) for line in lines if line.points]
    low, high = (math.log(end) if is_log else end for end in limits)
    wanted = [math.log(value) if is_log else value for _, _, value in last]
    places = elements.spread(wanted, LINE * (high - low) / height, low, high)
    rows = [
        (*end, math.exp(place) if is_log else place)
        for end, place in zip(last, places, strict=True)
    ]
    return pd.DataFrame(rows, columns=["name", "at", "value", "beside"])


@template
def _lines(*, is_log: bool, has_rule: bool) -> alt.LayerChart:
    x, colour = _along(is_log=is_log), _named(alt.Color, "colours")
    base = table("points").encode(
        x=x,
        color=colour,
        tooltip=[
            alt.Tooltip("name:N", title="what"),
            alt.Tooltip("at:Q", title="tokens" if is_log else "pairs", format=","),
            alt.Tooltip("text:N", title="kept" if is_log else "recalled"),
        ],
    )
    theory = table("theory").mark_line(strokeWidth=2, strokeDash=THEORY, opacity=0.85)
    rule = table("here").mark_rule(color=MASKED, strokeWidth=1.5, strokeDash=[2, 3]).encode(x=x)
    layers = [
        *([rule] if has_rule else []),
        base.mark_area(opacity=0.2).encode(y=_up("low", is_log=is_log), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=_up("value", is_log=is_log)),
        theory.encode(x=x, y=_up("value", is_log=is_log), color=colour),
        base.mark_point(size=70, filled=True, opacity=1).encode(
            y=_up("value", is_log=is_log), shape=_named(alt.Shape, "shapes")
        ),
        *_names(x, colour, is_log=is_log),
    ]
    return elements.fitted(alt.LayerChart(layer=layers), hole("height"), hole("title"))


def _names(x: alt.X, colour: Any, *, is_log: bool) -> list[alt.Chart]:
    """At the right, with a thin line to the end of each curve."""
    base = table("ends").encode(color=colour)
    return [
        base.mark_rule(strokeWidth=1, strokeDash=[2, 2]).encode(
            x=x, y=_up("value", is_log=is_log), x2=_right(4), y2="beside:Q"
        ),
        base.mark_text(align="left", fontSize=FONT_SIZE).encode(
            x=_right(8), y=_up("beside", is_log=is_log), text="name:N"
        ),
    ]


def _right(pixels: int) -> Any:
    """So far to the right of the curves' part of the plot."""
    return alt.value(alt.ExprRef(f"width - {ROOM - pixels}"))


def _along(*, is_log: bool) -> alt.X:
    scale = alt.Scale(
        type="log",
        base=2,
        domain=hole("ends"),
        nice=False,
        rangeMax=alt.ExprRef(f"width - {ROOM}"),
    )
    said = {"labelExpr": TOKENS} if is_log else {"format": ",d"}
    return alt.X(
        "at:Q",
        title="tokens written" if is_log else "pairs stored",
        scale=scale,
        axis=elements.axis(values=hole("places"), grid=False, labelOverlap="greedy", **said),
    )


def _up(field: str, *, is_log: bool) -> alt.Y:
    said = {"labelExpr": BYTES} if is_log else {"format": ".0%"}
    return alt.Y(
        f"{field}:Q",
        title="kept" if is_log else "recalled",
        scale=alt.Scale(type="log" if is_log else "linear", domain=hole("span"), nice=False),
        axis=elements.axis(values=hole("ticks"), **said),
    )


def _named(kind: Any, marks: str) -> Any:
    scale = alt.Scale(domain=hole("names"), range=hole(marks))
    return kind("name:N", sort=hole("names"), title=None, scale=scale, legend=None)
