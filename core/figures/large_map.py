"""Maps of more tokens than Altair draws quickly: Plotly's heatmap, to be zoomed and moved.

Positions are a category each, named by number and token, so that repeated tokens keep every row and
column and more names appear the closer one looks. Masked cells are grey, which is not zero.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.figures.heatmap import MOST_EXACT, Matrix, Visible, axis, cells, masked
from core.figures.palette import QUERY, WEIGHT
from core.figures.plot import Plot, config, layout, typed, written

MOST_SMALL = 60  # tokens of a map that Altair draws
HEIGHT, HANDLE = 440, 7  # pixels: of the picture, of the mark that chooses a row
STRIP = 0.03  # of the width: where these marks stand
# Of three maps beside one another: cells a side of each, and how many of them are exact.
MOST_BESIDE, EXACT_BESIDE, HEIGHT_BESIDE = 340, MOST_EXACT // 3, 400


def is_large(n_rows: int, n_columns: int) -> bool:
    """Whether a map is drawn here."""
    return max(n_rows, n_columns) > MOST_SMALL


def large_map(
    weights: Matrix,
    labels: Sequence[str],
    selected_row: int,
    *,
    visible: Visible,
    rows: Sequence[str] | None = None,
    sides: tuple[str, str] = ("query (looks)", "key (looked at)"),
    top: float = 1.0,
    within: tuple[range, range] | None = None,
    name: str = "map",
) -> Plot:
    """Weights (L, L) as a heatmap: rows are queries, columns are keys.

    `visible` says which cells are not masked, `within` which rows and columns there are (all unless
    told), `top` which weight has the full colour. The marks at the left edge are one a row, so that
    a click on one is a click on its row: a heatmap itself returns none. At most 400 kB for 512
    tokens.
    """
    down, across = within or (range(len(labels)), range(len(labels)))
    seen = visible[down.start : down.stop, across.start : across.stop]
    values = weights[down.start : down.stop, across.start : across.stop]
    queries = written(labels if rows is None else rows, down)
    heatmap, note = cells(
        values, seen, queries, written(labels, across), top=top, quantity="weight"
    )
    chosen = selected_row - down.start
    return Plot(
        data=[heatmap, _handles(queries, chosen)],
        layout=layout(
            height=HEIGHT,
            dragmode="pan",
            showlegend=False,
            xaxis=axis(sides[1], [-0.5, len(across) - 0.5], tickangle=-60, domain=[STRIP, 1]),
            xaxis2={"domain": [0, STRIP], "range": [-1, 1], "fixedrange": True, "visible": False},
            yaxis=axis(sides[0], [len(down) - 0.5, -0.5], anchor="x2"),
            shapes=[*masked(seen), _frame(chosen, seen[chosen])],
        ),
        config=config(name),
        note=note and f"{note} The row beside has exact numbers.",
    )


def large_side(
    values: Matrix,
    labels: Sequence[str],
    visible: Visible,
    *,
    quantity: str,
    top: float,
    colour: str = WEIGHT,
    signed: bool = False,
    name: str = "map",
) -> Plot:
    """One of three maps (L, L) beside one another; the difference is `signed`, around 0.

    Three travel within 600 kB: more than MOST_BESIDE tokens are drawn in squares, of which each
    shows its largest value.
    """
    block = math.ceil(len(labels) / MOST_BESIDE)
    names = written(labels, range(0, len(labels), block))
    seen = _blocks(visible, block)
    drawn = _blocks(np.where(visible, values, 0), block)
    heatmap, note = cells(
        drawn,
        seen,
        names,
        names,
        top=top,
        quantity=quantity,
        colour=colour,
        signed=signed,
        most_exact=EXACT_BESIDE,
    )
    ends = [-0.5, len(names) - 0.5]
    squares = f"A cell is the largest of {block} × {block}. " if block > 1 else ""
    return Plot(
        data=[heatmap],
        layout=layout(
            height=HEIGHT_BESIDE,
            dragmode="pan",
            xaxis=axis("key (looked at)", ends, tickangle=-60),
            yaxis=axis("query (looks)", ends[::-1]),
            shapes=masked(seen),
        ),
        config=config(name),
        note=f"{squares}{note}".strip(),
    )


def _blocks(values: NDArray[Any], block: int) -> NDArray[Any]:
    """(L, L) in squares: of each the value that is furthest from 0, or whether any is true."""
    if block == 1:
        return values
    edges = np.arange(0, len(values), block)
    most, least = (
        by.reduceat(by.reduceat(values, edges, axis=0), edges, axis=1)
        for by in (np.maximum, np.minimum)
    )
    if values.dtype == np.bool_:
        return most
    return np.where(np.abs(most) >= np.abs(least), most, least)


def _handles(queries: list[str], chosen: int) -> dict[str, Any]:
    """A mark for each row, in a strip of its own that keeps its place when the map is moved."""
    sizes = np.full(len(queries), HANDLE, dtype=np.uint8)
    sizes[chosen] = 2 * HANDLE
    return {
        "type": "scatter",
        "mode": "markers",
        "x": typed(np.zeros(len(queries), dtype=np.uint8)),
        "y": queries,
        "xaxis": "x2",
        "marker": {"symbol": "triangle-right", "size": typed(sizes), "color": QUERY},
        "hovertemplate": "row %{y}<extra></extra>",
    }


def _frame(row: int, seen: NDArray[np.bool_]) -> dict[str, Any]:
    """Around the row that is looked at, up to the last key that it sees."""
    return {
        "type": "rect",
        "x0": -0.5,
        "x1": int(np.flatnonzero(seen).max(initial=0)) + 0.5,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": {"color": QUERY, "width": 2},
    }
