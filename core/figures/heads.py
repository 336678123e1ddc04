"""Pictures of all heads of a model: two measures against each other, and one question beside
the average over many.

A layer is a shape and a name, never a colour alone; the chosen head has an orange ring.
"""

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FONT_SIZE, KEY, MASKED, VALUE, WEIGHT
from core.figures.template import Figure, hole, table, template

HEAD_SELECTION = "head"
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down")
EXAMPLE = "this question"
HEIGHT, ROW, LENS_ROW = 275, 20, 26  # pixels
SIZE, RING = 130, 420
PADDING, NEAR = 30, 0.05  # pixels around the points; share of an axis within which names collide


class Point(NamedTuple):
    """A head in the plane of two measures; `label` is written beside it where it is not empty."""

    layer: int
    head: int
    name: str
    x: float
    y: float
    caption: str
    label: str = ""


class Beside(NamedTuple):
    """One measure of a head: for the question at hand and on average; None where there is none."""

    name: str
    example: float | None
    average: float | None


def head_scatter(points: Sequence[Point], *, x: str, y: str, chosen: str, title: str) -> Figure:
    """Every head as a point; the point selection named `head` returns the clicked one.

    There are as many marks as SHAPES: of more layers, neighbours share one.
    """
    frame = pd.DataFrame(_joined(points), columns=list(Point._fields))
    names = _levels(sorted({point.layer for point in points}))
    frame["level"] = [names[point.layer] for point in points]
    levels = list(dict.fromkeys(names.values()))
    return _head_scatter().fill(
        {"heads": frame},
        x=x,
        y=y,
        is_chosen=f"(datum.name === {json.dumps(chosen, ensure_ascii=False)})",
        levels=levels,
        shapes=[SHAPES[index % len(SHAPES)] for index in range(len(levels))],
        title=title,
    )


@template
def _head_scatter() -> alt.LayerChart:
    pick = alt.selection_point(
        name=HEAD_SELECTION, fields=["layer", "head"], on="click", empty=False
    )
    scale = alt.Scale(zero=False, nice=False, padding=PADDING)
    base = table("heads").encode(
        x=alt.X("x:Q", title=hole("x"), scale=scale, axis=elements.axis()),
        y=alt.Y("y:Q", title=hole("y"), scale=scale, axis=elements.axis()),
        tooltip=[
            alt.Tooltip("name:N", title="head"),
            alt.Tooltip("caption:N", title="looks at"),
            alt.Tooltip("x:Q", title=hole("x"), format=".3g"),
            alt.Tooltip("y:Q", title=hole("y"), format=".3g"),
        ],
    )
    ring = base.transform_filter(hole("is_chosen")).mark_point(
        stroke=KEY, strokeWidth=3, size=RING, opacity=1, filled=False
    )
    names = base.mark_text(
        align="left", dx=10, dy=-8, fontSize=FONT_SIZE, color=MASKED, fontWeight="bold"
    ).encode(text="label:N")
    layers = [ring, names, _heads(base).add_params(pick)]
    return elements.fitted(alt.LayerChart(layer=layers), HEIGHT, hole("title"))


def beside_average(rows: Sequence[Beside], *, axis: str, average: str, title: str) -> Figure:
    """One measure, a row a head: this question as a point, the average as a cross, a line between.

    `average` says of what: "dev average"; it is empty where there is none.
    """
    names = [row.name for row in rows]
    sides = [(EXAMPLE, [row.example for row in rows]), (average, [row.average for row in rows])]
    points = pd.DataFrame(
        [
            {"head": name, "name": side, "value": value}
            for side, values in sides
            for name, value in zip(names, values, strict=True)
            if value is not None
        ],
        columns=["head", "name", "value"],
    )
    pairs = pd.DataFrame(
        [row for row in rows if row.example is not None and row.average is not None],
        columns=list(Beside._fields),
    )
    return _beside_average().fill(
        {"points": points, "pairs": pairs.rename(columns={"name": "head"})},
        measure=axis,
        heads=names,
        sides=[EXAMPLE, average] if average else [EXAMPLE],
        height=ROW * len(rows),
        title=title,
    )


@template
def _beside_average() -> alt.LayerChart:
    x = alt.X("value:Q", title=hole("measure"), axis=elements.axis(labelFlush=False))
    y = alt.Y(
        "head:N",
        title=None,
        scale=alt.Scale(domain=hole("heads")),
        axis=elements.axis(ticks=False, domain=False, labelOverlap=False, labelFlush=False),
    )
    lines = (
        table("pairs")
        .mark_rule(color=MASKED, strokeWidth=2, opacity=0.6)
        .encode(x=alt.X("example:Q", title=hole("measure")), x2="average:Q", y=y)
    )
    dots = elements.named_points(
        "points",
        x,
        y,
        hole("sides"),
        ["circle", "cross"],
        [WEIGHT, MASKED],
        orient="top",
        tooltip=["head:N", alt.Tooltip("value:Q", format=".3g")],
    )
    return elements.fitted(alt.LayerChart(layer=[lines, dots]), hole("height"), hole("title"))


def lens_bars(
    layers: Sequence[str], probabilities: Sequence[float], notes: Sequence[str], *, title: str
) -> Figure:
    """The probability of the written token if the model ended after each layer.

    `notes` stand behind the bars: what would be written instead.
    """
    frame = pd.DataFrame({"after": layers, "probability": probabilities, "note": notes})
    height = LENS_ROW * len(layers)
    return _lens_bars().fill({"layers": frame}, layers=list(layers), height=height, title=title)


@template
def _lens_bars() -> alt.LayerChart:
    base = table("layers").encode(
        x=alt.X(
            "probability:Q",
            title="probability of the written token",
            scale=alt.Scale(domain=[0, 1.6], nice=False),  # room for the notes
            axis=elements.axis(values=[0, 0.5, 1]),
        ),
        y=alt.Y(
            "after:N",
            title=None,
            scale=alt.Scale(domain=hole("layers")),
            axis=elements.axis(ticks=False, domain=False, labelLimit=0, labelFlush=False),
        ),
        tooltip=["after:N", alt.Tooltip("probability:Q", format=".3g"), "note:N"],
    )
    bars = base.mark_bar(color=VALUE, opacity=0.6, height=14)
    texts = base.mark_text(align="left", dx=6, fontSize=FONT_SIZE, color=MASKED)
    both = alt.LayerChart(layer=[bars, texts.encode(text="note:N")])
    return elements.fitted(both, hole("height"), hole("title"))


def _levels(layers: Sequence[int]) -> dict[int, str]:
    """The name of each layer's mark: L3, or of more layers than marks L0 to L4."""
    n = math.ceil(len(layers) / len(SHAPES))
    groups = [layers[start : start + n] for start in range(0, len(layers), max(n, 1))]
    return {
        layer: f"L{group[0]}" + (f" to L{group[-1]}" if len(group) > 1 else "")
        for group in groups
        for layer in group
    }


def _joined(points: Sequence[Point]) -> list[Point]:
    """The points; names that would lie on one another stand together at the first of theirs."""
    spans = [
        max(values) - min(values) or 1.0
        for values in ([p.x for p in points] or [0.0], [p.y for p in points] or [0.0])
    ]
    placed: list[Point] = []
    for point in points:
        at = next(
            (
                index
                for index, other in enumerate(placed)
                if point.label
                and other.label
                and abs(point.x - other.x) < 3 * NEAR * spans[0]
                and abs(point.y - other.y) < NEAR * spans[1]
            ),
            None,
        )
        if at is not None:
            placed[at] = placed[at]._replace(label=f"{placed[at].label}, {point.label}")
        placed.append(point if at is None else point._replace(label=""))
    return placed


def _heads(base: alt.Chart) -> alt.Chart:
    return base.mark_point(size=SIZE, filled=True, fill=WEIGHT, stroke=WEIGHT, opacity=0.85).encode(
        shape=alt.Shape(
            "level:N",
            title=None,
            sort=hole("levels"),
            scale=alt.Scale(domain=hole("levels"), range=hole("shapes")),
            legend=elements.legend(orient="top"),
        )
    )
