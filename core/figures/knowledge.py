"""Pictures of what a model knows: how sure it is of its answers, what they are, what gives it away.

Every row is named in words and numbers, every kind of answer by its letter: nothing hangs on a
colour.
"""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.named_rows import (
    BOTTOM,
    TOP,
    Named,
    anchor,
    in_rows,
    middle,
    names,
    row_axes,
    y_of_row,
)
from core.figures.palette import FONT_SIZE, KEY, MASKED, VALUE, WEIGHT, WRONG
from core.figures.template import Figure, hole, table, template

ROW, BAR_ROW, DOT_ROW = 44, 46, 40  # pixels
LEAST_TEXT = 0.045  # share of a bar that has room for a letter and a number
LETTERS = {"right": "R", "nearest": "N", "most_frequent": "F", "known_place": "K", "made_up": "M"}
COLOURS = (VALUE, *[WRONG[0]] * 3, WRONG[1])
ON_COLOURS = ("black", *["white"] * 4)
SERIES = (("circle", VALUE), ("diamond", WRONG[1]), ("cross", MASKED))


class Sureness(NamedTuple):
    """A group: the shares of its answers whose probability lies in equal steps from 0 to 1, and the
    median. `beside` it is drawn hollow: that of a second model.
    """

    row: Named
    shares: Sequence[float]
    median: float
    beside: bool = False


class Outcomes(NamedTuple):
    """A group: its shares of each kind of answer, in the order of LETTERS."""

    row: Named
    shares: Sequence[float]
    words: Sequence[str]


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


def sureness_rows(rows: Sequence[Sureness], *, title: str) -> Figure:
    """A histogram a row, all on one scale of heights; the answers above the last step stand out."""
    most = max((share for row in rows for share in row.shares), default=0) or 1.0
    bars = [
        (
            step / len(row.shares),
            (step + 1) / len(row.shares),
            index + BOTTOM,
            index + BOTTOM - (BOTTOM - TOP) * share / most,
            share,
            row.row.name,
            0.0 if row.beside else 0.9 if step == len(row.shares) - 1 else 0.4,
        )
        for index, row in enumerate(rows)
        for step, share in enumerate(row.shares)
        if share
    ]
    medians = [
        (row.median, index + TOP, index + BOTTOM, row.row.name) for index, row in enumerate(rows)
    ]
    return _sureness_rows().fill(
        {
            "bars": pd.DataFrame(
                bars, columns=["low", "high", "y", "top", "share", "group", "filled"]
            ),
            "medians": pd.DataFrame(medians, columns=["median", "y", "end", "group"]),
            "rows": anchor(len(rows), 0),
        },
        title=title,
        **names([row.row for row in rows], ROW),
    )


@template
def _sureness_rows() -> alt.LayerChart:
    x = _shares("x:Q", "probability of the whole answer", [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1])
    y = y_of_row()
    bars = (
        table("bars")
        .mark_rect(fill=VALUE, stroke=VALUE, strokeWidth=1.5)
        .encode(
            x=alt.X("low:Q", title=None),
            x2="high:Q",
            y=y,
            y2="top:Q",
            fillOpacity=alt.FillOpacity("filled:Q", scale=None, legend=None),
            tooltip=[
                "group:N",
                alt.Tooltip("low:Q", title="probability from", format=".0%"),
                alt.Tooltip("high:Q", title="to", format=".0%"),
                alt.Tooltip("share:Q", title="share of its answers", format=".1%"),
            ],
        )
    )
    medians = (
        table("medians")
        .mark_rule(color=KEY, strokeWidth=4)
        .encode(
            x=alt.X("median:Q", title=None),
            y=y,
            y2="end:Q",
            tooltip=["group:N", alt.Tooltip("median:Q", format=".1%")],
        )
    )
    return in_rows([*row_axes(x, "rows"), bars, medians])


def outcome_rows(rows: Sequence[Outcomes], *, title: str) -> Figure:
    """A bar a row, of parts that come to 1: what kinds of answers there are."""
    parts = [
        (
            sum(row.shares[:kind]),
            sum(row.shares[: kind + 1]),
            sum(row.shares[:kind]) + share / 2,
            index + TOP,
            index + BOTTOM,
            middle(index),
            f"{letter} {100 * share:.0f}" if share >= LEAST_TEXT else "",
            row.row.name,
            row.words[kind],
            share,
            COLOURS[kind],
            ON_COLOURS[kind],
        )
        for index, row in enumerate(rows)
        for kind, (letter, share) in enumerate(
            zip(LETTERS.values(), row.shares, strict=True)
        )
        if share
    ]
    columns = "low high x y end middle text group kind share colour on".split()
    return _outcome_rows().fill(
        {"parts": pd.DataFrame(parts, columns=columns), "rows": anchor(len(rows), 0)},
        title=title,
        **names([row.row for row in rows], BAR_ROW),
    )


@template
def _outcome_rows() -> alt.LayerChart:
    x, y = _shares("x:Q", "share of the answers", [0, 0.25, 0.5, 0.75, 1]), y_of_row()
    base = table("parts").encode(
        tooltip=["group:N", "kind:N", alt.Tooltip("share:Q", format=".1%")]
    )
    bars = base.mark_rect(stroke="white", strokeWidth=1.5).encode(
        x=alt.X("low:Q", title=None),
        x2="high:Q",
        y=y,
        y2="end:Q",
        fill=alt.Fill("colour:N", scale=None, legend=None),
    )
    texts = base.mark_text(fontSize=FONT_SIZE, fontWeight="bold").encode(
        x=alt.X("x:Q", title=None),
        y=alt.Y("middle:Q", title=None, axis=None),
        text="text:N",
        color=alt.Color("on:N", scale=None, legend=None),
    )
    return in_rows([*row_axes(x, "rows"), bars, texts])


def interval_rows(
    rows: Sequence[Named],
    dots: Sequence[Dot],
    *,
    axis: str,
    title: str,
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
    return _interval_rows(line is not None, len(series) > 1, ".0%" if in_percent else ".2f").fill(
        tables,
        axis=axis,
        ends=list(ends),
        series=series,
        shapes=[shape for shape, _ in SERIES[: len(series)]],
        colours=[colour for _, colour in SERIES[: len(series)]],
        title=title,
        **names(rows, DOT_ROW),
    )


@template
def _interval_rows(has_line: bool, has_series: bool, form: str) -> alt.LayerChart:  # noqa: FBT001 - keys of the cache
    scale = alt.Scale(domain=hole("ends"), nice=False)
    x = alt.X("x:Q", title=hole("axis"), scale=scale, axis=elements.axis(format=form, tickCount=5))
    colour = alt.Scale(domain=hole("series"), range=hole("colours"))
    base = table("dots").encode(
        y=y_of_row(),
        stroke=alt.Stroke("name:N", scale=colour, legend=None),
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
        legend=elements.legend(orient="top", labelLimit=0) if has_series else None,
    )
    lines = table("lines").mark_rule(color=MASKED, strokeWidth=2.5, strokeDash=[7, 4]).encode(x=x)
    layers = [
        *row_axes(x, "rows"),
        *([lines] if has_line else []),
        base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=None), x2="high:Q"),
        base.mark_point(size=120, strokeWidth=2.5, filled=False, opacity=1).encode(
            x=alt.X("value:Q", title=None), shape=shape
        ),
    ]
    return in_rows(layers)


def calibration(
    bins: Sequence[Calibrated], groups: Sequence[Calibrated], *, title: str
) -> Figure:
    """Share of right answers against how probable they were, with a line where both are the same.

    Bins are points by their numbers of answers, groups are crosses with their names.
    """
    columns = list(Calibrated._fields)
    tables = {
        "bins": pd.DataFrame(bins, columns=columns),
        "groups": pd.DataFrame(groups, columns=columns),
        "same": pd.DataFrame({"confidence": [0.0, 1.0], "right": [0.0, 1.0]}),
    }
    return _calibration().fill(tables, title=title)


@template
def _calibration() -> alt.LayerChart:
    x = _shares("confidence:Q", "mean probability of the answers", [0, 0.25, 0.5, 0.75, 1])
    y = alt.Y(
        "right:Q",
        title="share that is right",
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
    groups = table("groups").encode(x=x, y=y, tooltip=hover)
    size = alt.Size("n:Q", legend=None, scale=alt.Scale(range=[40, 500], zero=True))
    layers = [
        same.encode(x=x, y=y),
        bins.mark_rule(color=VALUE, strokeWidth=2).encode(y="low:Q", y2="high:Q"),
        bins.mark_circle(color=VALUE, opacity=0.85).encode(size=size),
        groups.mark_point(
            shape="cross", size=160, stroke=WEIGHT, strokeWidth=2.5, filled=False, opacity=1
        ),
        groups.mark_text(
            align="right", dx=-12, dy=-6, fontSize=FONT_SIZE, fontWeight="bold", color=WEIGHT
        ).encode(text="name:N"),
    ]
    return elements.fitted(alt.LayerChart(layer=layers), 300, hole("title"))


def _shares(field: str, title: str, values: Sequence[float]) -> alt.X:
    return alt.X(
        field,
        title=title,
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=elements.axis(format=".0%", values=list(values), labelFlush=False),
    )
