"""Plotly's figures as SVG: maps of many cells, and points in three dimensions.

Only what core/figures makes is known here: one heatmap over categories, with shapes above and below
it, or sets of `scatter3d` in cubes. A map is a picture of one dot a cell; its numbers lie beside it
as they travelled, and the script finds the cell that the pointer is on.
"""

import base64
import io
import json
import re
from html import escape, unescape
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.offline.cubes import cubes, values
from core.offline.picture import labelled

LEFT, BELOW, AIR = 130, 110, 8  # pixels of an SVG: for names of rows, of columns, around
MOST_SIDE, LETTER = 560, 16  # pixels of the longer side, of a name
MOST_NAME = 14  # characters
_HOVER = re.compile(r"<br>([^%<]*)%\{z(?::\.(\d)f)?\}([^<]*)")
_RGBA = re.compile(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)")
Colour = tuple[float, float, float, float]


def plotly_picture(figure: dict[str, Any], *, alt: str, width: int) -> str:
    """SVG of a figure's data and layout. Raises ValueError for a kind that is not made here."""
    kinds = {str(trace["type"]) for trace in figure["data"]}
    if "heatmap" in kinds:
        drawn = _map(figure, width)
    elif kinds == {"scatter3d"}:
        drawn = cubes(figure, width)
    else:
        raise ValueError(f"no picture is made of {', '.join(sorted(kinds))}: heatmap or scatter3d")
    return labelled(drawn, alt)


def _map(figure: dict[str, Any], width: int) -> str:
    trace = next(trace for trace in figure["data"] if trace["type"] == "heatmap")
    layout = figure["layout"]
    numbers = values(trace["z"])
    n_rows, n_columns = numbers.shape
    cell = min(MOST_SIDE, width - LEFT - AIR) / max(n_rows, n_columns)
    wide, high = cell * n_columns, cell * n_rows
    place = f"translate({LEFT},{AIR}) scale({cell:.4f}) translate(0.5,0.5)"
    inside = [
        _shapes(layout, place, below=True),
        _cells(trace, numbers, wide, high),
        _shapes(layout, place, below=False),
        _names(trace, layout, cell),
    ]
    size = f"{LEFT + wide + AIR:.0f} {AIR + high + BELOW:.0f}"
    return _svg(size, "".join(inside))


def _svg(size: str, inside: str) -> str:
    across, down = size.split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{across}" '
        f'height="{down}" font-family="sans-serif" font-size="13" fill="#1D1B26">{inside}</svg>'
    )


def _cells(trace: dict[str, Any], numbers: NDArray[Any], wide: float, high: float) -> str:
    """The picture with what the script needs: names, numbers, and how a number is said."""
    said = _HOVER.search(trace["hovertemplate"])
    before, digits, after = ("", "", "") if said is None else (said[1], said[2] or "", said[3])
    names = [[unescape(name) for name in trace[axis]] for axis in ("y", "x")]
    attributes = {
        "data-z": trace["z"]["bdata"],
        "data-kind": trace["z"]["dtype"],
        "data-rows": json.dumps(names[0], ensure_ascii=False),
        "data-columns": json.dumps(names[1], ensure_ascii=False),
        "data-said": json.dumps([before, digits, after], ensure_ascii=False),
        "href": f"data:image/png;base64,{base64.b64encode(_png(trace, numbers)).decode()}",
    }
    written = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    return (
        f'<image x="{LEFT}" y="{AIR}" width="{wide:.2f}" height="{high:.2f}" '
        f'preserveAspectRatio="none" class="cells" {written}/>'
    )


def _png(trace: dict[str, Any], numbers: NDArray[Any]) -> bytes:
    """A dot a cell in the colours of its scale; what is no number has none."""
    low, high = float(trace["zmin"]), float(trace["zmax"])
    stops = cast("list[tuple[float, str]]", trace["colorscale"])
    at = [float(place) for place, _ in stops]
    colours = np.array([_colour(colour) for _, colour in stops])
    shares = (np.nan_to_num(numbers.astype(np.float64), nan=low) - low) / (high - low)
    dots = np.stack([np.interp(shares, at, colours[:, part]) for part in range(4)], axis=-1)
    dots[np.isnan(numbers.astype(np.float64)), 3] = 0
    file = io.BytesIO()
    Image.fromarray(np.round(dots * [1, 1, 1, 255]).astype(np.uint8), "RGBA").save(file, "PNG")
    return file.getvalue()


def _colour(text: str) -> Colour:
    found = _RGBA.fullmatch(text)
    if found is not None:
        return float(found[1]), float(found[2]), float(found[3]), float(found[4])
    red, green, blue = (int(text[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue, 1.0


def _shapes(layout: dict[str, Any], place: str, *, below: bool) -> str:
    """Grey runs of masked cells, and the frame around a row."""
    drawn: list[str] = []
    for shape in layout.get("shapes", []):
        if (shape.get("layer") == "below") != below:
            continue
        if shape["type"] == "path":
            drawn.append(f'<path d="{escape(shape["path"])}" fill="{shape["fillcolor"]}"/>')
            continue
        x, y, right, down = (float(shape[edge]) for edge in ("x0", "y0", "x1", "y1"))
        drawn.append(
            f'<rect x="{x}" y="{y}" width="{right - x}" height="{down - y}" fill="none" '
            f'stroke="{shape["line"]["color"]}" stroke-width="2" '
            'vector-effect="non-scaling-stroke"/>'
        )
    return f'<g transform="{place}">{"".join(drawn)}</g>' if drawn else ""


def _names(trace: dict[str, Any], layout: dict[str, Any], cell: float) -> str:
    """As many names as have room, and what the axes are."""
    rows, columns = ([unescape(name) for name in trace[axis]] for axis in ("y", "x"))
    every = max(1, int(np.ceil(LETTER / cell)))
    down, across = AIR + cell * len(rows), LEFT + cell * len(columns)
    drawn = [
        f'<text x="{LEFT - 6}" y="{AIR + (row + 0.5) * cell + 4:.1f}" text-anchor="end">'
        f"{_short(rows[row])}</text>"
        for row in range(0, len(rows), every)
    ]
    for column in range(0, len(columns), every):
        at = f"{LEFT + (column + 0.5) * cell + 4:.1f},{down + 12:.1f}"
        drawn.append(
            f'<text transform="translate({at}) rotate(-60)" text-anchor="end">'
            f"{_short(columns[column])}</text>"
        )
    titles = [escape(str(layout[axis]["title"]["text"])) for axis in ("xaxis", "yaxis")]
    return (
        "".join(drawn)
        + f'<text x="{(LEFT + across) / 2:.0f}" y="{down + BELOW - 8:.0f}" text-anchor="middle">'
        f"{titles[0]}</text>"
        f'<text transform="translate(14,{(AIR + down) / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle">{titles[1]}</text>'
    )


def _short(name: str) -> str:
    return escape(name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 1]}…")
