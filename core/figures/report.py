"""Pictures of the report card: shares of right answers, and wrong answers by kind.

Answers are green, what others reached is grey. Every bar is named above itself with its number,
every line by its dashes, every point by its shape: nothing hangs on a colour.
"""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FONT_SIZE, MASKED, VALUE
from core.figures.template import Figure, hole, table, template

ROW, LOWER = 42, 10  # pixels of a row, and by how much its bar lies below its middle
LOW_LINE, INDENT = 0.1, 80  # names of bars begin behind lines lower than this
SHAPES = ("diamond", "cross", "triangle-up")
SIDE_BY_SIDE = alt.ExprRef(
    "width < 310 ? 1 : width < 640 ? 2 : width < 760 ? 4 : 5"
)  # names of lines
KIND_ROW, KIND_NAME = 23, 160  # pixels of a row of kind_bars, and of the names beside its bars
Bar = tuple[str, float, tuple[float, float]]
Point = tuple[str, str, float, str]


def accuracy_bars(
    bars: Sequence[Bar],
    lines: Sequence[tuple[str, float]],
    points: Sequence[Point],
    *,
    axis: str,
) -> Figure:
    """(label, share, 95 % interval) as bars, (name, share) as upright lines.

    `points` are (label of a bar, name of the series, share, note): figures from elsewhere on its
    row. It has no title of its own: on a small phone one would be cut.
    """
    # Inside the plot, which keeps the whole width.
    indent = INDENT if any(share < LOW_LINE for _, share in lines) else 4
    sources = list(dict.fromkeys(name for _, name, *_ in points))
    tables = {
        "bars": pd.DataFrame(
            [(label, share, *ends) for label, share, ends in bars],
            columns=["label", "share", "low", "high"],
        )
    }
    if lines:
        tables["lines"] = pd.DataFrame(lines, columns=["name", "share"])
    if points:
        tables["points"] = pd.DataFrame(points, columns=["label", "source", "share", "note"])
    return _accuracy_bars(tuple(tables)).fill(
        tables,
        labels=[label for label, *_ in bars],
        padding=-indent,
        axis=axis,
        lines=[name for name, _ in lines],
        dashes=list(elements.DASHES[: len(lines)]),
        sources=sources,
        shapes=list(SHAPES[: len(sources)]),
        height=ROW * len(bars),
    )


@template
def _accuracy_bars(tables: tuple[str, ...]) -> alt.LayerChart:
    x, y = _shares(hole("axis")), _rows()
    hover = [
        alt.Tooltip("label:N", title="variant"),
        alt.Tooltip("share:Q", title="right", format=".1%"),
        alt.Tooltip("low:Q", title="95 % from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
    ]
    base = table("bars").encode(y=y, tooltip=hover)
    layers = [
        base.mark_bar(color=VALUE, opacity=0.45, size=16, yOffset=LOWER).encode(x=x),
        *([_lines(x)] if "lines" in tables else []),
        base.mark_rule(color=VALUE, strokeWidth=3, yOffset=LOWER).encode(x="low:Q", x2="high:Q"),
        base.mark_tick(color=VALUE, thickness=3, size=16, yOffset=LOWER).encode(x="low:Q"),
        base.mark_tick(color=VALUE, thickness=3, size=16, yOffset=LOWER).encode(x="high:Q"),
        *([_points(x, y)] if "points" in tables else []),
    ]
    return elements.fitted(alt.LayerChart(layer=layers), hole("height"), "")


def kind_bars(rows: Sequence[tuple[str, Sequence[tuple[str, int]]]], *, title: str) -> Figure:
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
    return _kind_bars().fill(
        {"kinds": pd.DataFrame(found, columns=["at", "kind", "count", "share"])},
        places=list(range(len(names))),
        names=elements.token_text(names),
        is_heading=f"indexof({headings}, datum.value) >= 0",
        height=KIND_ROW * len(names),
        title=title,
    )


@template
def _kind_bars() -> alt.LayerChart:
    y = alt.Y(
        "at:N",
        title=None,
        scale=alt.Scale(domain=hole("places")),
        axis=elements.axis(
            labelExpr=hole("names"),
            labelFontWeight=alt.condition(hole("is_heading"), alt.value("bold"), alt.value(400)),
            labelAlign="left",
            labelPadding=KIND_NAME,  # a heading reaches into the plot, where it has no bar
            labelLimit=0,
            labelOverlap=False,
            ticks=False,
            domain=False,
        ),
    )
    base = table("kinds").encode(
        x=_shares("share of wrong answers", most=1.1),
        y=y,
        tooltip=["kind:N", "count:Q", alt.Tooltip("share:Q", format=".1%")],
    )
    bars = base.mark_bar(color=MASKED, opacity=0.7)
    counts = base.mark_text(align="left", dx=5, fontSize=FONT_SIZE, color=MASKED)
    both = alt.LayerChart(layer=[bars, counts.encode(text="count:Q")])
    return elements.fitted(both, hole("height"), hole("title"))


def _shares(title: str, *, most: float = 1.0) -> alt.X:
    return alt.X(
        "share:Q",
        title=title,
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=elements.axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], labelFlush=False),
    )


def _rows() -> alt.Y:
    return alt.Y(
        "label:N",
        title=None,
        scale=alt.Scale(domain=hole("labels")),
        axis=elements.axis(
            labelAlign="left",
            labelPadding=hole("padding"),
            labelOffset=2 - LOWER,
            labelLimit=0,
            labelOverlap=False,
            ticks=False,
            domain=False,
            zindex=1,
        ),
    )


def _lines(x: alt.X) -> alt.Chart:
    return (
        table("lines")
        .mark_rule(color=MASKED, strokeWidth=2.5)
        .encode(
            x=x,
            strokeDash=elements.dashes(hole("lines"), hole("dashes"), columns=SIDE_BY_SIDE),
            tooltip=["name:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )


def _points(x: alt.X, y: alt.Y) -> alt.Chart:
    return (
        table("points")
        .mark_point(
            size=110, strokeWidth=2.5, filled=False, stroke=MASKED, opacity=1, yOffset=LOWER
        )
        .encode(
            x=x,
            y=y,
            shape=alt.Shape(
                "source:N",
                title=None,
                scale=alt.Scale(domain=hole("sources"), range=hole("shapes")),
                legend=elements.legend(orient="top"),  # beside the other it would be cut on a phone
            ),
            tooltip=["source:N", alt.Tooltip("share:Q", format=".1%"), "note:N"],
        )
    )
