"""Maps of more tokens than Altair draws quickly: Plotly's heatmap, to be zoomed and moved.

Positions are a category each, named by number and token, so that repeated tokens keep every row and
column and more names appear the closer one looks. Masked cells are grey, which is not zero.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import FONT_SIZE, MASKED, QUERY, WEIGHT
from core.figures.plot import Plot, config, layout, tinted, typed, written

MOST_SMALL = 60  # tokens of a map that Altair draws
MOST_EXACT = 72_000  # cells that travel as float32 within 400 kB; more as whole numbers of a byte
LEVELS = 100  # of such a number: per cent of the full colour
HEIGHT, HANDLE = 440, 7  # pixels: of the picture, of the mark that chooses a row
STRIP = 0.03  # of the width: where these marks stand
LEAST_ALPHA = 0.03  # of a weight of zero: seen, and nothing there
Matrix = NDArray[np.floating[Any]]
Visible = NDArray[np.bool_]


def is_large(n_rows: int, n_columns: int) -> bool:
    """Whether a map is drawn here."""
    return max(n_rows, n_columns) > MOST_SMALL


def large_map(
    weights: Matrix,
    labels: Sequence[str],
    selected_row: int | None,
    *,
    visible: Visible,
    rows: Sequence[str] | None = None,
    sides: tuple[str, str] = ("query (looks)", "key (looked at)"),
    top: float = 1.0,
    within: tuple[range, range] | None = None,
    quantity: str = "weight",
    colour: str = WEIGHT,
    name: str = "map",
) -> Plot:
    """Weights (L, L) as a heatmap: rows are queries, columns are keys.

    `visible` says which cells are not masked, `within` which rows and columns there are (all unless
    told), `top` which weight has the full colour. The marks at the left edge are one a row, so that
    a click on one is a click on its row: a heatmap itself returns none. At most 400 kB.
    """
    down, across = within or (range(len(labels)), range(len(labels)))
    seen = visible[down.start : down.stop, across.start : across.stop]
    values = weights[down.start : down.stop, across.start : across.stop]
    queries = written(labels if rows is None else rows, down)
    keys = written(labels, across)
    cells, note = _cells(values, seen, top, colour, quantity)
    chosen = None if selected_row is None else selected_row - down.start
    frame = [] if chosen is None else [_frame(chosen, seen[chosen])]
    return Plot(
        data=[
            cells | {"x": keys, "y": queries},
            _handles(queries, chosen),
        ],
        layout=layout(
            height=HEIGHT,
            dragmode="pan",
            showlegend=False,
            xaxis=_axis(sides[1], [-0.5, len(across) - 0.5], tickangle=-60, domain=[STRIP, 1]),
            xaxis2={"domain": [0, STRIP], "range": [-1, 1], "fixedrange": True, "visible": False},
            yaxis=_axis(sides[0], [len(down) - 0.5, -0.5], anchor="x2"),
            shapes=[*_masked(seen), *frame],
        ),
        config=config(name),
        note=note,
    )


def _cells(
    values: Matrix, seen: Visible, top: float, colour: str, quantity: str
) -> tuple[dict[str, Any], str]:
    """The heatmap, and what its numbers cannot say.

    Up to MOST_EXACT cells float32, masked ones not a number; else 0 to 100 in a byte, and 101 where
    masked, which has no colour.
    """
    shades = [[0, tinted(colour, LEAST_ALPHA)], [1, colour]]
    where = f"%{{y}} → %{{x}}<br>{quantity} "
    common = {"type": "heatmap", "showscale": False, "hoverongaps": False}
    if values.size <= MOST_EXACT:
        numbers = np.where(seen, values, np.nan).astype(np.float32)
        hover = f"{where}%{{z:.4f}}<extra></extra>"
        return common | _scaled(numbers, top, shades) | {"hovertemplate": hover}, ""
    shares = np.round(np.clip(values / top, 0, 1) * LEVELS)
    numbers = np.where(seen, shares, LEVELS + 1).astype(np.uint8)
    end = LEVELS / (LEVELS + 1)
    hidden = tinted(colour, 0)
    shades = [[0, shades[0][1]], [end, colour], [end, hidden], [1, hidden]]
    hover = f"{where}%{{z}} % of {top:.2g} (101: masked)<extra></extra>"
    note = (
        f"So many cells travel in steps of 1 % of the full colour ({quantity} {top:.2g}); the row "
        "beside has exact numbers."
    )
    return common | _scaled(numbers, LEVELS + 1, shades) | {"hovertemplate": hover}, note


def _scaled(numbers: NDArray[Any], top: float, shades: list[list[Any]]) -> dict[str, Any]:
    return {"z": typed(numbers), "zmin": 0, "zmax": top, "colorscale": shades}


def _handles(queries: list[str], chosen: int | None) -> dict[str, Any]:
    """A mark for each row, in a strip of its own that keeps its place when the map is moved."""
    sizes = np.full(len(queries), HANDLE, dtype=np.uint8)
    if chosen is not None:
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


def _axis(title: str, ends: list[float], **more: Any) -> dict[str, Any]:
    return {
        "type": "category",
        "title": {"text": title, "font": {"size": FONT_SIZE}},
        "tickfont": {"size": FONT_SIZE},
        "range": ends,
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        **more,
    }


def _masked(seen: Visible) -> list[dict[str, Any]]:
    """Every run of cells that a row may not look at, as one grey shape below the cells."""
    ends = np.diff(np.pad(~seen, ((0, 0), (1, 1))).astype(np.int8))
    rows, left = np.nonzero(ends == 1)
    right = np.nonzero(ends == -1)[1]
    if not rows.size:
        return []
    corners = zip(rows - 0.5, left - 0.5, right - 0.5, strict=True)
    path = "".join(f"M{a:g},{y:g}H{b:g}V{y + 1:g}H{a:g}Z" for y, a, b in corners)
    return [
        {
            "type": "path",
            "path": path,
            "fillcolor": tinted(MASKED, 0.22),
            "fillrule": "nonzero",
            "line": {"width": 0},
            "layer": "below",
        }
    ]


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
