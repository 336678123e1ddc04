"""Pictures of growth: time or memory against the length of a text, both logarithmic.

A method has its colour by what it does about L², its shape by its name, and its name at the end of
its line. Full lines are measured, with the quartiles as a band; dashes are formulas, dots another
machine. A hollow point is to be read with care, and says why when it is pointed at. Grey is the
machine's own floor, and every method while others are pointed out: those that were chosen, or the
one under the pointer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from core.figures import elements, growth_tables
from core.figures.growth_tables import Crossing, Line, ends, measured, pairs, span
from core.figures.palette import FAMILIES, FONT_SIZE, MASKED
from core.figures.template import Figure, hole, table, template

ROOM = 94  # pixels for the names at the ends of the lines
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
# What is pointed out: what is under the pointer, if it is a method, or else what was chosen.
POINTED = "(pointed.method && pointed.method[0] ? pointed.method : chosen)"
STANDS_OUT = f"!length({POINTED}) || indexof({POINTED}, datum.method) >= 0"


def growth_chart(
    lines: Sequence[Line],
    *,
    title: str,
    what: str,
    unit: tuple[str, float],
    crossings: Sequence[Crossing] = (),
    floors: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    chosen: Sequence[str] = (),
    height: int = 340,
) -> Figure:
    """All methods in one picture, the `chosen` ones pointed out. `unit` is its name and how many of
    it a value of 1 is.
    """
    unit_name, factor = unit
    beside = {
        "crossings": growth_tables.crossings(crossings),
        "floors": pairs(floors or {}, factor, "name"),
        "predicted": pairs({line.method: line.predicted for line in lines}, factor),
        "other": pairs({line.method: line.other for line in lines}, factor),
    }
    drawn = {name: frame for name, frame in beside.items() if not frame.empty}
    lengths, points = growth_tables.lengths(lines), measured(lines, factor)
    limits = span([points, *(drawn[name] for name in drawn if name != "crossings")])
    return _growth_chart(tuple(drawn)).fill(
        {**drawn, "measured": points, "ends": ends(lines, factor, limits, height)},
        lengths=lengths,
        ends=[lengths[0] / 1.12, lengths[-1] * 1.12] if lengths else [1.0, 10.0],
        span=list(limits),
        ticks=[tick for tick in elements.decades(limits) if limits[0] <= tick <= limits[1]],
        axis=f"{what} ({unit_name})",
        value=f"{what}, {unit_name}",
        chosen=list(chosen),
        names=[line.method for line in lines],
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
    chosen = alt.param(name="chosen", value=hole("chosen"))
    chart = alt.LayerChart(layer=[*drawn, *_names(), *_curves()]).add_params(chosen)
    return elements.fitted(chart, hole("height"), hole("title"))


def _curves() -> list[alt.Chart]:
    """Line, band and points of what was measured, and what the pointer finds: a broad line."""
    shapes = alt.Scale(domain=hole("names"), range=hole("shapes"))
    shape = alt.Shape("method:N", sort=hole("names"), scale=shapes, legend=None)
    base = table("measured").encode(
        x=_along("length"),
        color=_colour(),
        opacity=_faded(1),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("grows:N", title="grows"),
            alt.Tooltip("length:Q", title="tokens", format=","),
            alt.Tooltip("value:Q", title=hole("value"), format=".3~g"),
            alt.Tooltip("low:Q", title="quartiles from", format=".3~g"),
            alt.Tooltip("high:Q", title="to", format=".3~g"),
            alt.Tooltip("flags:N", title="with care"),
        ],
    )
    # One layer for both kinds: a group of marks without any has no name for who does not see it.
    points = base.mark_point(size=70, filled=True).encode(
        y=_up("value"),
        shape=shape,
        stroke=_colour(alt.StrokeValue),
        strokeWidth=alt.condition("datum.flagged", alt.value(2), alt.value(0)),
        fillOpacity=alt.condition("datum.flagged", alt.value(0), alt.value(1)),
    )
    pointed = alt.selection_point(
        name="pointed", fields=["method"], on="pointerover", clear="pointerout", empty=False
    )
    broad = table("measured").mark_line(strokeWidth=14, opacity=0)
    return [
        base.mark_area().encode(y=_up("low"), y2="high:Q", opacity=_faded(0.22)),
        base.mark_line(strokeWidth=2).encode(y=_up("value")),
        broad.encode(x=_along("length"), y=_up("value"), detail="method:N").add_params(pointed),
        points,
    ]


def _names() -> list[alt.Chart]:
    """The methods' names beside the plot, with a thin line to the end of each curve."""
    base = table("ends").encode(color=_colour(), opacity=_faded(1))
    lead = base.mark_rule(strokeWidth=1, strokeDash=[2, 2]).encode(
        x=_along("length"), y=_up("value"), x2=_beside(4), y2="at:Q"
    )
    names = base.mark_text(align="left", fontSize=FONT_SIZE).encode(
        x=_beside(8), y=_up("at"), text="method:N"
    )
    return [lead, names]


def _beside(pixels: int) -> Any:
    """So far to the right of the curves' part of the plot."""
    return alt.value(alt.ExprRef(f"width - {ROOM - pixels}"))


def _thin(name: str, dash: list[int], width: float) -> alt.Chart:
    """Formulas, or another machine."""
    return (
        table(name)
        .mark_line(strokeWidth=width, strokeDash=dash, strokeCap="round")
        .encode(x=_along("length"), y=_up("value"), color=_colour(), opacity=_faded(0.6))
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


def _colour(channel: Any = alt.ColorValue) -> Any:
    """That of its family, or grey while others are pointed out."""
    scale = {"domain": hole("names"), "range": hole("colours")}
    named = {"test": STANDS_OUT, "field": "method", "type": "nominal", "scale": scale}
    return channel(MASKED, condition={**named, "legend": None})


def _faded(opacity: float) -> Any:
    """So opaque, or a third of it while others are pointed out."""
    return alt.condition(STANDS_OUT, alt.value(opacity), alt.value(opacity / 3))


def _along(field: str) -> alt.X:
    return alt.X(
        f"{field}:Q",
        title="tokens L",
        scale=alt.Scale(
            type="log",
            base=2,
            domain=hole("ends"),
            nice=False,
            rangeMax=alt.ExprRef(f"width - {ROOM}"),
        ),
        axis=elements.axis(values=hole("lengths"), format=",", grid=False, labelOverlap=True),
    )


def _up(field: str) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title=hole("axis"),
        scale=alt.Scale(type="log", domain=hole("span"), nice=False),
        axis=elements.axis(format=",~g", values=hole("ticks")),
    )
