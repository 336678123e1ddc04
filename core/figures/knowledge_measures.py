"""Measures of what a model knows: with their intervals, a row each, and what it expects to be right
against what is.

Each series has its shape, and every row and group its name: nothing hangs on a colour.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.named_rows import (
    Named,
    anchor,
    in_rows,
    middle,
    names,
    row_axes,
    shares,
    y_of_row,
)
from core.figures.palette import MASKED, VALUE, WEIGHT, WRONG
from core.figures.template import Figure, hole, table, template

ROW, TALL_ROW = 40, 46  # pixels of a row of one series, and of two
NARROW = 400  # pixels of a plot
SQUARE = 300  # height of the calibration
SHAPES = ("cross", "diamond", "triangle-up", "square", "triangle-down", "circle", "arrow", "stroke")
SYMBOLS: dict[str, Any] = {
    "orient": "top",
    "columns": alt.ExprRef(f"width < {NARROW} ? 1 : 2"),
    "labelLimit": 0,
    "symbolSize": 130,
    "symbolStrokeWidth": 1.5,
}
SHARE_RIGHT = "share that is right"
AUROC, RIGHT, MADE_UP = "AUROC", "right", "made-up words"
DIFFERENCE = "difference"
NEW, OWN, OLD = "new value of a key written twice", "value of the others", "its old value"
ANSWERED, TRAINED = "answers to invented names", "asked about in training"
SERIES = {
    AUROC: ("circle", WEIGHT),
    RIGHT: ("circle", VALUE),
    MADE_UP: ("diamond", WRONG[1]),
    ANSWERED: ("circle", WRONG[0]),
    TRAINED: ("cross", MASKED),
    DIFFERENCE: ("circle", WEIGHT),
    NEW: ("circle", VALUE),
    OWN: ("square", WEIGHT),
    OLD: ("cross", MASKED),
}


class Dot(NamedTuple):
    """A measure on the row `at`, with its interval; `series` says of what."""

    at: int
    series: str
    value: float
    low: float
    high: float


class Calibrated(NamedTuple):
    """Answers alike in how probable they are: the mean of that, how many, what share is right."""

    name: str
    confidence: float
    right: float
    low: float
    high: float
    n: int


def interval_rows(
    rows: Sequence[Named],
    dots: Sequence[Dot],
    *,
    axis: str,
    ends: tuple[float, float] = (0.0, 1.0),
    line: float | None = None,
    in_percent: bool = True,
) -> Figure:
    """Measures with their 95 % intervals, a row a thing; each series has its shape. A dashed line
    stands at `line`.
    """
    series = list(dict.fromkeys(dot.series for dot in dots))
    placed = [
        (*dot[1:], middle(dot.at, len(series), series.index(dot.series)), rows[dot.at].name)
        for dot in dots
    ]
    tables = {
        "dots": pd.DataFrame(placed, columns=["name", "value", "low", "high", "y", "row"]),
        "rows": anchor(len(rows), ends[0]),
    }
    if line is not None:
        tables["lines"] = pd.DataFrame({"x": [line]})
    template_ = _interval_rows(
        has_line=line is not None, has_series=len(series) > 1, form=".0%" if in_percent else ".1f"
    )
    return template_.fill(
        tables,
        axis=axis,
        ends=list(ends),
        series=series,
        shapes=[SERIES[name][0] for name in series],
        colours=[SERIES[name][1] for name in series],
        **names(rows, ROW if len(series) == 1 else TALL_ROW, NARROW),
    )


@template
def _interval_rows(*, has_line: bool, has_series: bool, form: str) -> alt.LayerChart:
    scale = alt.Scale(domain=hole("ends"), nice=False)
    x = alt.X("x:Q", title=hole("axis"), scale=scale, axis=elements.axis(format=form, tickCount=5))
    legend = elements.legend(**SYMBOLS) if has_series else None
    colour = alt.Scale(domain=hole("series"), range=hole("colours"))
    base = table("dots").encode(
        y=y_of_row(),
        stroke=alt.Stroke("name:N", sort=hole("series"), title=None, scale=colour, legend=legend),
        tooltip=[
            alt.Tooltip("row:N", title="of"),
            alt.Tooltip("name:N", title="measure"),
            alt.Tooltip("value:Q", format=".3f"),
            alt.Tooltip("low:Q", title="95 % from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
        ],
    )
    shape = alt.Shape(
        "name:N",
        title=None,
        sort=hole("series"),
        scale=alt.Scale(domain=hole("series"), range=hole("shapes")),
        legend=legend,
    )
    lines = table("lines").mark_rule(color=MASKED, strokeWidth=2.5, strokeDash=[7, 4]).encode(x=x)
    layers = [
        *row_axes(x, "rows"),
        *([lines] if has_line else []),
        base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=hole("axis")), x2="high:Q"),
        base.mark_point(size=120, strokeWidth=2.5, filled=False, opacity=1).encode(
            x=alt.X("value:Q", title=hole("axis")), shape=shape
        ),
    ]
    return in_rows(layers)


def calibration(bins: Sequence[Calibrated], groups: Sequence[Calibrated]) -> Figure:
    """Share of right answers against how probable they were, with a line where both are the same.

    Bins are points by their numbers of answers, each group has a shape.
    """
    columns = list(Calibrated._fields)
    tables = {
        "bins": pd.DataFrame(bins, columns=columns),
        "groups": pd.DataFrame(groups, columns=columns),
        "same": pd.DataFrame({"confidence": [0.0, 1.0], "right": [0.0, 1.0]}),
    }
    names_ = [group.name for group in groups]
    return _calibration().fill(tables, groups=names_, shapes=list(SHAPES[: len(names_)]))


@template
def _calibration() -> alt.LayerChart:
    x = shares("confidence:Q", "mean probability of the answers", [0, 0.25, 0.5, 0.75, 1])
    y = alt.Y(
        "right:Q",
        title=SHARE_RIGHT,
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=elements.axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    hover = [
        alt.Tooltip("name:N", title="answers"),
        alt.Tooltip("n:Q", title="how many"),
        alt.Tooltip("confidence:Q", title="mean probability", format=".1%"),
        alt.Tooltip("right:Q", format=".1%"),
        alt.Tooltip("low:Q", title="95 % from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
    ]
    same = table("same").mark_line(color=MASKED, strokeDash=[7, 4], strokeWidth=2.5)
    bins = table("bins").encode(x=x, y=y, tooltip=hover)
    groups = table("groups").encode(tooltip=hover)
    size = alt.Size("n:Q", legend=None, scale=alt.Scale(range=[40, 500], zero=True))
    shape = alt.Shape(
        "name:N",
        title=None,
        sort=hole("groups"),
        scale=alt.Scale(domain=hole("groups"), range=hole("shapes")),
        legend=elements.legend(**SYMBOLS),
    )
    layers = [
        same.encode(x=x, y=y),
        bins.mark_rule(color=VALUE, strokeWidth=2).encode(
            y=alt.Y("low:Q", title=SHARE_RIGHT), y2="high:Q"
        ),
        bins.mark_circle(color=VALUE, opacity=0.85).encode(size=size),
        groups.mark_point(size=160, stroke=WEIGHT, strokeWidth=2.5, filled=False, opacity=1).encode(
            x=x, y=y, shape=shape
        ),
    ]
    return elements.fitted(alt.LayerChart(layer=layers), SQUARE, "")
