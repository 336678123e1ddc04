"""What several pictures are made of: titles, axes, lines and points by name."""

import json
import math
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

import altair as alt

from core.figures.palette import FONT_SIZE
from core.figures.template import Drawn, hole, laid_out, table

MOST_LABELS = 60  # of an axis that grows with its rows
NARROW = 36  # characters of a title's line
LEAST_SIZE = 8  # pixels: of a token's name where many share an axis
_ORDINALS = {2: "2nd", 3: "3rd"}
DASHES = ([1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [12, 8])


def title(text: str) -> alt.TitleParams:
    """A chart's title, above its left edge."""
    return alt.TitleParams(text, anchor="start", fontSize=FONT_SIZE)


def narrow(text: str) -> list[str]:
    """A title in lines that a small phone has room for; for a picture of a size of its own, which
    would be as wide as its title.
    """
    return wrap(text, NARROW)


def axis(**options: Any) -> alt.Axis:
    """An axis that can be read from the back row."""
    sizes: dict[str, Any] = {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE}
    return alt.Axis(**sizes | options)


def decades(values: Iterable[float]) -> list[float]:
    """The powers of ten from below the smallest value to above the largest: ticks of a log axis,
    which would otherwise have a line at each digit.
    """
    known = [value for value in values if value > 0]
    if not known:
        return []
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    return [10.0**power for power in range(low, high + 1)]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places at least `gap` apart, in the order of what is `wanted` and as near to it as that
    allows; between `low` and `high` where there is room for all. Cost: O(n²) for n places.
    """
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    crowds: list[tuple[float, int]] = []  # middle and number of places that touch each other
    for at in (wanted[i] for i in order):
        crowds.append((at, 1))
        while len(crowds) > 1 and crowds[-1][0] - crowds[-2][0] < gap * _half(crowds[-2:]):
            (one, n), (other, m) = crowds[-2:]
            crowds[-2:] = [((n * one + m * other) / (n + m), n + m)]
    places = [middle + gap * (k - (n - 1) / 2) for middle, n in crowds for k in range(n)]
    room = [(low + gap * k, high - gap * (len(places) - 1 - k)) for k in range(len(places))]
    kept = [max(least, min(at, most)) for at, (least, most) in zip(places, room, strict=True)]
    return [kept[order.index(i)] for i in range(len(wanted))]


def _half(crowds: Sequence[tuple[float, int]]) -> float:
    """Gaps between the middles of two crowds that just touch."""
    return sum(n for _, n in crowds) / 2


def headline(text: str) -> alt.TitleParams:
    """The title of a picture that stands alone; a little larger."""
    return alt.TitleParams(text, anchor="start", fontSize=FONT_SIZE + 1)


def fitted(chart: Drawn, height: Any, text: str) -> Drawn:
    """As wide as its place; the height is that of the plot alone, axis and legends come to it."""
    return laid_out(
        chart,
        width="container",
        height=height,
        title=title(text),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )


def token_names(labels: Sequence[str]) -> str:
    """The labels as an array in Vega's language, to be indexed by `datum.value`."""
    return json.dumps(list(labels), ensure_ascii=False)


def token_text(labels: Sequence[str]) -> str:
    """The text of the tick at a position: its token."""
    return f"{token_names(labels)}[datum.value]"


def named_tokens(
    side: str,
    labels: Sequence[str],
    room: float,
    title: str | None,
    *,
    at: Sequence[int] | None = None,
) -> dict[str, Any]:
    """What the holes of `token_axis(side)` and the channel's title get: the names of the tokens at
    the positions `at` (all unless told), which share so many pixels.

    Where they are too many, the names shrink; where that is not enough, every second, third … has
    its name and the title says so. Vega itself would drop those that overlap without a word.
    """
    places = [place for place in (range(len(labels)) if at is None else at) if labels[place]]
    size = name_size(len(places), room)
    every = max(1, math.ceil(size * len(places) / room))
    unnamed = set(places) - set(places[::every])
    shown = ["" if position in unnamed else label for position, label in enumerate(labels)]
    thinned = f"every {_ORDINALS.get(every, f'{every}th')} is named"
    return {
        f"{side}_text": token_text(shown),
        f"{side}_size": size,
        f"{side}_title": title if every == 1 else " · ".join(filter(None, (title, thinned))),
    }


def name_size(n: int, room: float) -> int:
    """Pixels of a name's letters where n names share so many."""
    return max(min(FONT_SIZE, int(room / max(n, 1))), LEAST_SIZE)


def token_axis(side: str, **options: Any) -> alt.Axis:
    """An axis of positions with the tokens as its text, each at the middle of its place.

    Streamlit's theme would move the first label of narrow rows into the second.
    """
    return axis(
        labelExpr=hole(f"{side}_text"),
        labelFontSize=hole(f"{side}_size"),
        labelOverlap=False,
        labelFlush=False,
        ticks=False,
        labelLimit=120,
        **options,
    )


def leaning(labels: Sequence[str]) -> int:
    """Degrees: characters stand upright, longer tokens lean so that they do not overlap."""
    return 0 if max(map(len, labels), default=0) <= 1 else -60


def legend(**options: Any) -> alt.Legend:
    """A legend of the same size."""
    return alt.Legend(labelFontSize=FONT_SIZE, titleFontSize=FONT_SIZE, **options)


def dashes(
    names: list[str], patterns: list[list[int]], *, orient: str = "bottom", columns: Any = 4
) -> alt.StrokeDash:
    """A dash pattern for each value of `name`, with a legend of so many columns.

    Names and patterns may be holes; patterns beyond the last name are not used.
    """
    return alt.StrokeDash(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, range=patterns),
        legend=legend(orient=orient, symbolSize=400, labelLimit=300, columns=columns),
    )


def named_lines(
    table_name: str,
    x: alt.X,
    y: alt.Y,
    names: list[str],
    *,
    colour: str,
    orient: str = "bottom",
    columns: int = 4,
    tooltip: list[Any],
) -> alt.Chart:
    """Lines of the table's column `name`, all of one colour, each with its own dash pattern.

    The names may be a hole; the legend has so many columns.
    """
    return (
        table(table_name)
        .mark_line(color=colour, strokeWidth=2.5)
        .encode(
            x=x,
            y=y,
            strokeDash=dashes(names, list(DASHES), orient=orient, columns=columns),
            tooltip=["name:N", *tooltip],
        )
    )


def named_points(
    table_name: str,
    x: alt.X,
    y: alt.Y,
    names: list[str],
    shapes: list[str],
    colours: list[str],
    *,
    orient: str,
    tooltip: list[Any],
) -> alt.Chart:
    """Hollow points of the table's column `name`; each name has its shape and its colour.

    Names, shapes and colours may be holes.
    """
    return (
        table(table_name)
        .mark_point(size=110, strokeWidth=2.5, filled=False, opacity=1)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape(
                "name:N",
                sort=names,
                title=None,
                scale=alt.Scale(domain=names, range=shapes),
                legend=legend(orient=orient),
            ),
            stroke=alt.Stroke("name:N", scale=alt.Scale(domain=names, range=colours), legend=None),
            tooltip=["name:N", *tooltip],
        )
    )
