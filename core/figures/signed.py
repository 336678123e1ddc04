"""Pictures of signed numbers: cells on a diverging scale around 0, with a table's axes."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.template import Figure, hole, table, template

CELL, LOW_CELL, FEW = 22, 18, 10  # pixels of a row: of few rows, and of more
WIDTH = 560  # pixels that the columns have on a projector


class Cell(NamedTuple):
    """A cell at the crossing of two labelled places, with its value; nan is drawn as nothing."""

    row: int
    column: int
    value: float


def signed_grid(
    cells: Sequence[Cell],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    reach: float | None,
    sides: tuple[str | None, str | None],
    name: str,
    title: str,
    angle: int = 0,
    height: int | None = None,
) -> Figure:
    """Cells on a diverging scale from −reach to reach; None takes the largest value.

    `sides` are the titles of the axes of rows and columns, `name` says what a value is.
    """
    drawn = [cell for cell in cells if isfinite(cell.value)]
    frame = pd.DataFrame(drawn, columns=list(Cell._fields))
    frame["at"] = [f"{rows[cell.row]}, {columns[cell.column]}" for cell in drawn]
    most = max((abs(cell.value) for cell in drawn), default=0.0)
    edge = reach or most or 1.0
    height = _height(len(rows)) if height is None else height
    return _signed_grid().fill(
        {"cells": frame},
        **elements.named_tokens("row", rows, height, sides[0]),
        **elements.named_tokens("column", columns, WIDTH, sides[1]),
        rows=list(range(len(rows))),
        columns=list(range(len(columns))),
        angle=angle,
        name=name,
        domain=[-edge, edge],
        ticks=[-edge, 0, edge],
        height=height,
        title=title,
    )


@template
def _signed_grid() -> alt.Chart:
    chart = (
        table("cells")
        .mark_rect()
        .encode(
            x=alt.X(**_side("column", labelAngle=hole("angle"))),
            y=alt.Y(**_side("row")),
            color=_signed(),
            tooltip=[
                alt.Tooltip("at:N", title="at"),
                alt.Tooltip("value:Q", title=hole("name"), format=".3g"),
            ],
        )
    )
    return elements.fitted(chart, hole("height"), hole("title"))


def grid_cells(values: NDArray[np.floating[Any]]) -> list[Cell]:
    """The cells of a matrix."""
    return [Cell(i, j, float(values[i, j])) for i, j in np.ndindex(*values.shape)]


def _height(n_rows: int) -> int:
    return n_rows * (CELL if n_rows <= FEW else LOW_CELL)


def _side(side: str, **options: Any) -> dict[str, Any]:
    """What the channels of rows and columns share."""
    return {
        "shorthand": f"{side}:O",
        "title": hole(f"{side}_title"),
        "scale": alt.Scale(domain=hole(f"{side}s")),
        "axis": elements.token_axis(side, domain=False, **options),
    }


def _signed() -> alt.Color:
    return alt.Color(
        "value:Q",
        title=hole("name"),
        scale=alt.Scale(domain=hole("domain"), domainMid=0, clamp=True),
        legend=elements.legend(
            format=".2~g", values=hole("ticks"), gradientLength=100, labelLimit=80
        ),
    )
