"""Rows that carry their names inside the plot, above what is drawn on them.

So the plot keeps the whole width, on a phone too. A row n reaches from n to n + 1 on a scale that
runs downwards; its upper part is for the name at the left and a note at the right, the lower one
for marks.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.template import hole, laid_out, table

TEXT, TOP, BOTTOM = 0.2, 0.42, 0.95  # where the names stand in a row, and between what the marks
NARROW = 640  # pixels of a plot that has room for short notes alone, unless told


class Named(NamedTuple):
    """A row: its name, what stands at its end, and what stands there where there is little room."""

    name: str
    note: str
    short: str = ""


def names(rows: Sequence[Named], height: int, narrow: int = NARROW) -> dict[str, Any]:
    """What the holes of `row_axes` and `in_rows` get for rows of so many pixels.

    Where the plot is narrower than `narrow`, the short notes are shown.
    """
    notes = elements.token_names([row.note for row in rows])
    short = elements.token_names([row.short for row in rows])
    row = "[floor(datum.value)]"
    return {
        "n_rows": len(rows),
        "places": [index + TEXT for index in range(len(rows))],
        "names": f"{elements.token_names([row.name for row in rows])}{row}",
        "notes": f"width < {narrow} ? {short}{row} : {notes}{row}",
        "height": height * len(rows),
    }


def middle(index: int, n: int = 1, of: int = 0) -> float:
    """Where the mark number `of` among n stands in the lower part of a row."""
    return index + TOP + (BOTTOM - TOP) * (of + 0.5) / n


def row_axes(x: alt.X, table_name: str) -> list[alt.Chart]:
    """Two layers of nothing but the names at the left and the notes at the right."""
    return [
        table(table_name).mark_point(opacity=0, size=1).encode(x=x, y=y_of_row(side, text))
        for side, text in (("left", "names"), ("right", "notes"))
    ]


def y_of_row(side: str = "", text: str = "") -> alt.Y:
    """The scale of rows, with an axis of texts inside the plot where a side is told."""
    shown = (
        None
        if not side
        else elements.axis(
            orient=side,
            values=hole("places"),
            labelExpr=hole(text),
            labelAlign=side,
            labelPadding=-2,
            labelFontWeight=700 if side == "left" else 400,
            labelLimit=0,
            labelOverlap=False,
            labelFlush=False,
            ticks=False,
            domain=False,
            grid=False,
            zindex=1,
        )
    )
    return alt.Y(
        "y:Q",
        title=None,
        scale=alt.Scale(domain=[hole("n_rows"), 0], nice=False, zero=False),
        axis=shown,
    )


def in_rows(layers: Sequence[alt.Chart]) -> alt.LayerChart:
    """The layers with the axes of `row_axes` among them, each drawn by itself."""
    both = laid_out(
        alt.LayerChart(layer=list(layers)),
        resolve=alt.Resolve(axis=alt.AxisResolveMap(y="independent")),
    )
    return elements.fitted(both, hole("height"), "")


def anchor(n_rows: int, at: float) -> pd.DataFrame:
    """The table behind `row_axes`: a mark that nobody sees at `at`, for the scale across."""
    return pd.DataFrame({"x": [at] * n_rows, "y": [float(index) for index in range(n_rows)]})


def shares(field: str, title: str, values: Sequence[float]) -> alt.X:
    """A scale of shares from 0 to 1 across, with ticks at these values."""
    return alt.X(
        field,
        title=title,
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=elements.axis(format=".0%", values=list(values), labelFlush=False),
    )
