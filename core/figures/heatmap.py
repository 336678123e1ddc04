"""What Plotly's maps of attention are made of: cells on typed arrays, masked cells, axes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import FONT_SIZE, KEY, MASKED, QUERY, WEIGHT
from core.figures.plot import tinted, typed

# Cells that travel as float32 within 400 kB, though every third NaN has a slash, which Plotly
# writes in six letters; more travel as whole numbers of a byte.
MOST_EXACT = 228**2
LEVELS = 100  # of such a number: per cent of the full colour
LEAST_ALPHA = 0.03  # of a weight of zero: seen, and nothing there
Matrix = NDArray[np.floating[Any]]
Visible = NDArray[np.bool_]


def cells(
    values: Matrix,
    seen: Visible,
    queries: list[str],
    keys: list[str],
    *,
    top: float,
    quantity: str,
    colour: str = WEIGHT,
    signed: bool = False,
    most_exact: int = MOST_EXACT,
) -> tuple[dict[str, Any], str]:
    """A heatmap of values (rows, columns), and what its numbers cannot say.

    Full colour is `top`; a `signed` map goes from −top to top around 0. Up to `most_exact` cells
    travel as float32, masked ones not a number; more as a byte: per cent of the full colour, and
    101 where masked, which has no colour.
    """
    shades = _signed_shades() if signed else [[0, tinted(colour, LEAST_ALPHA)], [1, colour]]
    where = f"%{{y}} → %{{x}}<br>{quantity} "
    common = {"type": "heatmap", "x": keys, "y": queries, "showscale": False, "hoverongaps": False}
    if values.size <= most_exact:
        numbers = np.where(seen, values, np.nan).astype(np.float32)
        ends = {"zmin": -top if signed else 0, "zmax": top, "colorscale": shades}
        hover = f"{where}%{{z:.4f}}<extra></extra>"
        return common | ends | {"z": typed(numbers), "hovertemplate": hover}, ""
    least = -LEVELS if signed else 0
    shares = np.clip(np.round(values / top * LEVELS), least, LEVELS)
    coded = np.where(seen, shares, LEVELS + 1).astype(np.int8 if signed else np.uint8)
    ends = {
        "zmin": least,
        "zmax": LEVELS + 1,
        "colorscale": _with_masked(shades, (LEVELS - least) / (LEVELS + 1 - least)),
    }
    hover = f"{where}%{{z}} % of {top:.2g} (101: masked)<extra></extra>"
    note = f"So many cells travel in steps of 1 % of the full colour ({quantity} {top:.2g})."
    return common | ends | {"z": typed(coded), "hovertemplate": hover}, note


def masked(seen: Visible) -> list[dict[str, Any]]:
    """Every run of cells that a row may not look at, as one grey shape below the cells."""
    ends = np.diff(np.pad(~seen, ((0, 0), (1, 1))).astype(np.int8))
    rows, left = np.nonzero(ends == 1)
    right = np.nonzero(ends == -1)[1]
    if not rows.size:
        return []
    corners = zip(rows - 0.5, left - 0.5, right - 0.5, strict=True)
    return [
        {
            "type": "path",
            "path": "".join(f"M{a:g},{y:g}H{b:g}V{y + 1:g}H{a:g}Z" for y, a, b in corners),
            "fillcolor": tinted(MASKED, 0.22),
            "fillrule": "nonzero",
            "line": {"width": 0},
            "layer": "below",
        }
    ]


def axis(title: str, ends: list[float], **more: Any) -> dict[str, Any]:
    """An axis of tokens: as many are named as have room, more when one looks closer."""
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


def _signed_shades() -> list[list[Any]]:
    """Blue for less, orange for more, next to nothing around 0."""
    nothing = tinted(MASKED, LEAST_ALPHA)
    return [[0, QUERY], [0.5, nothing], [1, KEY]]


def _with_masked(shades: list[list[Any]], end: float) -> list[list[Any]]:
    """The same shades up to `end`, and behind it none."""
    hidden = tinted(MASKED, 0)
    return [*([place * end, shade] for place, shade in shades), [end, hidden], [1, hidden]]
