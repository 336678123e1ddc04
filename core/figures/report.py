"""Altair pictures of the report card: shares of right answers, and wrong answers by kind.

Answers are green, what others reached is grey. Every bar is named above itself with its number,
every line by its dashes, every point by its shape: nothing hangs on a colour.
"""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FONT_SIZE, MASKED, VALUE

ROW, LOWER = 42, 10  # pixels of a row, and by how much its bar lies below its middle
LOW_LINE, INDENT = 0.1, 80  # names of bars begin behind lines lower than this
SHAPES = ("diamond", "cross", "triangle-up")
KIND_ROW, KIND_NAME = 23, 160  # pixels of a row of kind_bars, and of the names beside its bars
Bar = tuple[str, float, tuple[float, float]]
Point = tuple[str, str, float, str]


def accuracy_bars(
    bars: Sequence[Bar],
    lines: Sequence[tuple[str, float]],
    points: Sequence[Point],
    *,
    title: str,
    axis: str,
) -> alt.LayerChart:
    """(label, share, 95 % interval) as bars, (name, share) as upright lines.

    `points` are (label of a bar, name of the series, share, note): figures from elsewhere on its
    row.
    """
    frame = pd.DataFrame(
        [
            {"label": label, "share": share, "low": low, "high": high}
            for label, share, (low, high) in bars
        ]
    )
    indent = INDENT if any(share < LOW_LINE for _, share in lines) else 4
    y = _rows([label for label, *_ in bars], indent)
    x = _shares(axis)
    hover = [
        alt.Tooltip("label:N", title="variant"),
        alt.Tooltip("share:Q", title="right", format=".1%"),
        alt.Tooltip("low:Q", title="95 % from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
    ]
    base = alt.Chart(frame).encode(y=y, tooltip=hover)
    layers = [
        base.mark_bar(color=VALUE, opacity=0.45, size=16, yOffset=LOWER).encode(x=x),
        base.mark_rule(color=VALUE, strokeWidth=3, yOffset=LOWER).encode(x="low:Q", x2="high:Q"),
        base.mark_tick(color=VALUE, thickness=3, size=16, yOffset=LOWER).encode(x="low:Q"),
        base.mark_tick(color=VALUE, thickness=3, size=16, yOffset=LOWER).encode(x="high:Q"),
    ]
    if lines:
        layers.insert(1, _lines(lines, x))
    if points:
        layers.append(_points(points, x, y))
    return _finished(layers, ROW * len(bars), title)


def kind_bars(
    rows: Sequence[tuple[str, Sequence[tuple[str, int]]]], *, title: str
) -> alt.LayerChart:
    """(variant, (kind, count) …): under each variant a bar a kind, a share of its wrong answers.

    Rows stand at their numbers, and names are only written beside them: several are alike, and any
    character may be in one.
    """
    names: list[str] = []
    headings: list[int] = []
    found: list[dict[str, str | int | float]] = []
    for variant, kinds in rows:
        wrong = sum(count for _, count in kinds)
        headings.append(len(names))
        names.append(f"{variant}: {wrong} wrong")
        for kind, count in kinds:
            share = count / wrong if wrong else 0.0
            found.append({"at": len(names), "kind": kind, "count": count, "share": share})
            names.append(kind)
    y = alt.Y(
        "at:N",
        title=None,
        scale=alt.Scale(domain=list(range(len(names)))),
        axis=elements.axis(
            labelExpr=f"{elements.token_names(names)}[datum.value]",
            labelFontWeight=alt.condition(
                f"indexof({headings}, datum.value) >= 0", alt.value("bold"), alt.value(400)
            ),
            labelAlign="left",
            labelPadding=KIND_NAME,  # a heading reaches into the plot, where it has no bar
            labelLimit=0,
            labelOverlap=False,
            ticks=False,
            domain=False,
        ),
    )
    base = alt.Chart(pd.DataFrame(found, columns=["at", "kind", "count", "share"])).encode(
        x=_shares("share of the wrong answers", most=1.1),
        y=y,
        tooltip=["kind:N", "count:Q", alt.Tooltip("share:Q", format=".1%")],
    )
    bars = base.mark_bar(color=MASKED, opacity=0.7)
    counts = base.mark_text(align="left", dx=5, fontSize=FONT_SIZE, color=MASKED)
    return _finished([bars, counts.encode(text="count:Q")], KIND_ROW * len(names), title)


def _shares(title: str, *, most: float = 1.0) -> alt.X:
    return alt.X(
        "share:Q",
        title=title,
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=elements.axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], labelFlush=False),
    )


def _rows(labels: Sequence[str], indent: int) -> alt.Y:
    return alt.Y(
        "label:N",
        title=None,
        scale=alt.Scale(domain=list(labels)),
        axis=elements.axis(
            labelAlign="left",
            labelPadding=-indent,  # inside the plot, which keeps the whole width
            labelOffset=2 - LOWER,
            labelLimit=0,
            labelOverlap=False,
            ticks=False,
            domain=False,
            zindex=1,
        ),
    )


def _lines(lines: Sequence[tuple[str, float]], x: alt.X) -> alt.Chart:
    frame = pd.DataFrame([{"name": name, "share": share} for name, share in lines])
    return (
        alt.Chart(frame)
        .mark_rule(color=MASKED, strokeWidth=2.5)
        .encode(
            x=x,
            strokeDash=elements.dashes([name for name, _ in lines], columns=2),
            tooltip=["name:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )


def _points(points: Sequence[Point], x: alt.X, y: alt.Y) -> alt.Chart:
    frame = pd.DataFrame(
        [
            {"label": label, "source": name, "share": share, "note": note}
            for label, name, share, note in points
        ]
    )
    names = list(dict.fromkeys(name for _, name, *_ in points))
    return (
        alt.Chart(frame)
        .mark_point(
            size=110, strokeWidth=2.5, filled=False, stroke=MASKED, opacity=1, yOffset=LOWER
        )
        .encode(
            x=x,
            y=y,
            shape=alt.Shape(
                "source:N",
                title=None,
                scale=alt.Scale(domain=names, range=list(SHAPES[: len(names)])),
                legend=elements.legend(orient="top"),  # beside the other it would be cut on a phone
            ),
            tooltip=["source:N", alt.Tooltip("share:Q", format=".1%"), "note:N"],
        )
    )


def _finished(layers: list[alt.Chart], height: int, title: str) -> alt.LayerChart:
    """As wide as its place; the height is that of the plot alone, axis and legends come to it."""
    return alt.LayerChart(layer=layers).properties(
        width="container",
        height=height,
        title=elements.title(title),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
