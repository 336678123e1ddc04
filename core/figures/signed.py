"""Altair pictures of signed numbers: cells on a diverging scale around 0, with a table's axes."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.elements import MOST_LABELS

CELL, LOW_CELL, FEW = 22, 18, 10  # pixels of a row: of few rows, and of more


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
) -> alt.Chart:
    """Cells on a diverging scale from −reach to reach; None takes the largest value.

    `sides` are the titles of the axes of rows and columns, `name` says what a value is.
    """
    drawn = [cell for cell in cells if isfinite(cell.value)]
    frame = pd.DataFrame(drawn, columns=list(Cell._fields))
    frame["at"] = [f"{rows[cell.row]}, {columns[cell.column]}" for cell in drawn]
    most = max((abs(cell.value) for cell in drawn), default=0.0)
    edge = reach or most or 1.0
    chart = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X("column:O", **_side(sides[1], columns, labelAngle=angle)),
            y=alt.Y("row:O", **_side(sides[0], rows)),
            color=_signed(name, edge),
            tooltip=[
                alt.Tooltip("at:N", title="at"),
                alt.Tooltip("value:Q", title=name, format=".3g"),
            ],
        )
    )
    return elements.fitted(chart, _height(len(rows)) if height is None else height, title)


def grid_cells(values: NDArray[np.floating[Any]]) -> list[Cell]:
    """The cells of a matrix."""
    return [Cell(i, j, float(values[i, j])) for i, j in np.ndindex(*values.shape)]


def _height(n_rows: int) -> int:
    return n_rows * (CELL if n_rows <= FEW else LOW_CELL)


def _side(title: str | None, labels: Sequence[str], **options: Any) -> dict[str, Any]:
    """What the channels of rows and columns share."""
    overlap = len(labels) > MOST_LABELS
    return {
        "title": title,
        "scale": alt.Scale(domain=list(range(len(labels)))),
        "axis": elements.label_axis(labels, labelOverlap=overlap, **options),
    }


def _signed(name: str, edge: float) -> alt.Color:
    return alt.Color(
        "value:Q",
        title=name,
        scale=alt.Scale(domain=[-edge, edge], domainMid=0, clamp=True),
        legend=elements.legend(
            format=".2~g", values=[-edge, 0, edge], gradientLength=100, labelLimit=80
        ),
    )
