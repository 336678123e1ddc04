"""Pictures of networks that look at pictures: what each says, how it learned, what a shift costs.

Networks are told apart by colour, dashes and shapes, in the order given; rows by their names.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.named_rows import BOTTOM, TOP, Named, anchor, in_rows, names, row_axes, y_of_row
from core.figures.palette import MASKED, RUNS, VALUE, WEIGHT
from core.figures.template import Figure, hole, laid_out, table, template

ROW = 104  # pixels of a network's row of bars
NARROW = 360  # pixels of a plot
SHAPES = ("circle", "square", "triangle-up", "diamond")
IMAGE = 100  # pixels of the picture above the rows
HALF = 0.4  # of a class's place across: half a bar


class Answer(NamedTuple):
    """A network's row: its name, and how likely each class is to it."""

    row: Named
    probabilities: Sequence[float]


class Curve(NamedTuple):
    """A named line of (x, y, low, high)."""

    name: str
    points: Sequence[tuple[float, float, float, float]]


class Picture(NamedTuple):
    """What is looked at: its name, and an image as a data URI."""

    name: str
    image: str


def answer_bars(
    classes: Sequence[str],
    answers: Sequence[Answer],
    right: int | None,
    picture: Picture | None = None,
) -> Figure:
    """A row of bars a network, one bar a class; that of the `right` class is green, if it is known.

    A full row is a probability of 1. The picture, if it is told, stands in a row above.
    """
    first = 0 if picture is None else 1
    rows = [] if picture is None else [Named(picture.name, "")]
    rows += [answer.row for answer in answers]
    bars = [
        (
            at - HALF,
            at + HALF,
            index + BOTTOM,
            index + BOTTOM - (BOTTOM - TOP) * probability,
            probability,
            answer.row.name,
            classes[at],
            at == right,
        )
        for index, answer in enumerate(answers, first)
        for at, probability in enumerate(answer.probabilities)
    ]
    floors = [(index + BOTTOM,) for index in range(first, len(rows))]
    columns = ["low", "high", "y", "top", "probability", "network", "class", "right"]
    tables = {
        "bars": pd.DataFrame(bars, columns=columns),
        "floors": pd.DataFrame(floors, columns=["y"]),
        "rows": anchor(len(rows), -0.5),
    }
    if picture is not None:
        middle = (len(classes) - 1) / 2
        tables["pictures"] = pd.DataFrame(
            [(middle, 0.5, picture.image)], columns=["x", "y", "image"]
        )
    return _answer_bars(has_picture=picture is not None).fill(
        tables,
        ends=[-0.5, len(classes) - 0.5],
        class_places=list(range(len(classes))),
        n_places=2 * len(classes),
        class_texts=elements.token_text(classes),
        **names(rows, ROW, NARROW),
    )


@template
def _answer_bars(*, has_picture: bool) -> alt.LayerChart:
    across = "class"
    x = alt.X(
        "x:Q",
        title=across,
        scale=alt.Scale(domain=hole("ends"), nice=False, zero=False),
        axis=elements.axis(
            values=hole("class_places"),
            tickCount=hole("n_places"),  # Vega would leave every second out
            labelExpr=hole("class_texts"),
            labelFlush=False,
            labelOverlap=False,
            ticks=False,
            grid=False,
        ),
    )
    y = y_of_row()
    floors = table("floors").mark_rule(color=MASKED, strokeWidth=1).encode(y=y)
    bars = (
        table("bars")
        .mark_rect()
        .encode(
            x=alt.X("low:Q", title=across),
            x2="high:Q",
            y=y,
            y2="top:Q",
            color=alt.condition("datum.right", alt.value(VALUE), alt.value(WEIGHT)),
            tooltip=[
                "network:N",
                "class:N",
                alt.Tooltip("probability:Q", format=".1%"),
            ],
        )
    )
    pictures = (
        table("pictures")
        .mark_image(width=IMAGE, height=IMAGE)
        .encode(x=alt.X("x:Q", title=across), y=y, url="image:N")
    )
    return in_rows([*row_axes(x, "rows"), *([pictures] if has_picture else []), floors, bars])


def curves(
    lines: Sequence[Curve],
    *,
    axis: str,
    upwards: str,
    in_percent: bool = True,
    ends: tuple[float, float] | None = None,
    places: Sequence[float] = (),
    height: int = 260,
) -> Figure:
    """Lines with their intervals as bands; `ends` are those of the scale upwards, `places` are the
    ticks across.
    """
    rows = [(line.name, *point) for line in lines for point in line.points]
    found = [line.name for line in lines]
    return _curves(in_percent=in_percent, has_places=bool(places)).fill(
        {"points": pd.DataFrame(rows, columns=["name", "at", "value", "low", "high"])},
        axis=axis,
        upwards=upwards,
        scale={"zero": False} if ends is None else {"domain": list(ends), "nice": False},
        places=list(places),
        names=found,
        colours=list(RUNS[: len(found)]),
        dashes=list(elements.DASHES[: len(found)]),
        shapes=list(SHAPES[: len(found)]),
        height=height,
    )


@template
def _curves(*, in_percent: bool, has_places: bool) -> alt.LayerChart:
    form = ".0%" if in_percent else ".3~g"
    across = {"values": hole("places")} if has_places else {"tickCount": 5}
    x = alt.X("at:Q", title=hole("axis"), axis=elements.axis(grid=False, **across))
    legend = elements.legend(
        orient="top",
        columns=1,
        symbolSize=110,
        symbolOpacity=1,
        symbolStrokeWidth=0,
        labelLimit=320,
    )
    colour, shape = _marked(alt.Color, "colours", legend), _marked(alt.Shape, "shapes", legend)
    fine = ".1%" if in_percent else ".3f"
    base = table("points").encode(
        x=x,
        tooltip=[
            alt.Tooltip("name:N", title="network"),
            alt.Tooltip("at:Q", title=hole("axis"), format=",.6~g"),
            alt.Tooltip("value:Q", title=hole("upwards"), format=fine),
            alt.Tooltip("low:Q", title="95 % from", format=fine),
            alt.Tooltip("high:Q", title="to", format=fine),
        ],
    )
    y = _upwards("value", form)
    layers = [
        base.mark_area(opacity=0.18).encode(y=_upwards("low", form), y2="high:Q", color=colour),
        base.mark_line(strokeWidth=2.5).encode(
            y=y, color=colour, strokeDash=_marked(alt.StrokeDash, "dashes", legend)
        ),
        base.mark_point(size=70, filled=True, opacity=1).encode(y=y, color=colour, shape=shape),
    ]
    return laid_out(
        alt.LayerChart(layer=layers),
        width="container",
        height=hole("height"),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )


def _upwards(field: str, form: str) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title=hole("upwards"),
        scale=hole("scale"),
        axis=elements.axis(format=form, tickCount=5),
    )


def _marked(kind: Any, marks: str, legend: alt.Legend | None) -> Any:
    """A channel that tells networks apart; those with the same legend are drawn as one by Vega."""
    scale = alt.Scale(domain=hole("names"), range=hole(marks))
    return kind("name:N", sort=hole("names"), title=None, scale=scale, legend=legend)
