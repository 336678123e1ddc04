"""Points in three dimensions as they are seen from one place, in cubes side by side."""

import base64
from html import escape, unescape
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

HIGH, HEAD, FOOT, LINE = 400, 30, 24, 22  # pixels: a cube, above it, of the legend
SEEN = 0.5  # of the side: what one has at the middle of the cube
Vectors = NDArray[np.float64]
# What a point looks like, around 0; `size` is half of its width.
SHAPES = {
    "x": "M-1,-1L1,1M-1,1L1,-1",
    "diamond": "M0,-1.3L1.3,0L0,1.3L-1.3,0Z",
    "square": "M-1,-1H1V1H-1Z",
    "cross": "M-1.3,0H1.3M0,-1.3V1.3",
    "circle": "M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z",
    "circle-open": "M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z",
}
BREAK = "\u2063"  # between the lines of what the script shows
STROKED = {"x", "cross", "circle-open"}


def values(typed: dict[str, Any]) -> NDArray[Any]:
    """An array as core/figures/plot.py sends it."""
    flat = np.frombuffer(base64.b64decode(typed["bdata"]), dtype=typed["dtype"])
    return flat.reshape([int(size) for size in str(typed.get("shape", flat.size)).split(",")])


def cubes(figure: dict[str, Any], width: int) -> str:
    """SVG of all scenes of a figure, with its legend below them."""
    layout = figure["layout"]
    names = sorted({str(trace.get("scene", "scene")) for trace in figure["data"]})
    side = width / len(names)
    parts = [
        _scene(figure, name, layout[name], middle=(number + 0.5) * side, side=min(side, HIGH))
        for number, name in enumerate(names)
    ]
    heads = [
        f'<text x="{float(note["x"]) * width:.0f}" y="20" text-anchor="middle">'
        f"{escape(unescape(str(note['text'])))}</text>"
        for note in layout.get("annotations", [])
    ]
    legend, rows = _legend(figure["data"], width)
    high = HEAD + HIGH + FOOT + rows * LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {high}" width="{width}" '
        f'height="{high}" font-family="sans-serif" font-size="13" fill="#1D1B26">'
        f"{''.join([*heads, *parts, legend])}</svg>"
    )


def _scene(
    figure: dict[str, Any], name: str, scene: dict[str, Any], *, middle: float, side: float
) -> str:
    """One cube with its points: those behind are drawn first."""
    ends = np.array([scene[f"{axis}axis"]["range"] for axis in "xyz"], dtype=np.float64)
    eye = np.array([float(scene["camera"]["eye"][axis]) for axis in "xyz"])
    drawn: list[tuple[float, str]] = []

    def put(points: Vectors) -> Vectors:
        """Pixels across and down, and how far away."""
        seen = projected((points - ends[:, 0]) / (ends[:, 1] - ends[:, 0]) - 0.5, eye)
        return seen * [side, side, 1] + [middle, HEAD + HIGH / 2, 0]

    for trace in figure["data"]:
        if str(trace.get("scene", "scene")) == name:
            points = np.stack([values(trace[axis]) for axis in "xyz"], axis=-1)
            drawn += _points(trace, put(points.astype(np.float64)))
    points = "".join(mark for _, mark in sorted(drawn, key=lambda one: -one[0]))
    return _edges(ends, put) + points + _axis_names(scene, put)


def projected(points: Vectors, eye: Vectors) -> Vectors:
    """(n, 3) in a cube of side 1 around 0, seen from `eye`: across, down and the distance.

    A point at the middle of the cube keeps its size; z points up.
    """
    away = float(np.linalg.norm(eye))
    ahead = -eye / away
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    distance = away + points @ ahead
    scale = SEEN * away / distance
    return np.stack([points @ right * scale, -(points @ up) * scale, distance], axis=-1)


def _edges(ends: Vectors, put: Any) -> str:
    """The twelve edges of a cube."""
    drawn: list[str] = []
    for axis in range(3):
        for others in product((0, 1), repeat=2):
            corner = list(others)
            both = [[*corner[:axis], end, *corner[axis:]] for end in (0, 1)]
            at = np.array([[ends[i, place] for i, place in enumerate(one)] for one in both])
            (x, y, _), (right, down, _) = put(at)
            drawn.append(f"M{x:.1f},{y:.1f}L{right:.1f},{down:.1f}")
    return f'<path d="{"".join(drawn)}" stroke="#C9C7D2" fill="none"/>'


def _points(trace: dict[str, Any], at: Vectors) -> list[tuple[float, str]]:
    """Every point with its distance, and what it is."""
    marker, kind = trace["marker"], str(trace["name"])
    sizes = values(marker["size"])
    drawn: list[tuple[float, str]] = []
    for (x, y, far), size, text in zip(at, sizes, trace["text"], strict=True):
        said = f"{escape(unescape(text))}{BREAK}{escape(kind)}"
        place = f'<g transform="translate({x:.1f},{y:.1f})" data-t="{said}">'
        drawn.append((float(far), f"{place}{_mark(marker, float(size) / 2)}</g>"))
    return drawn


def _mark(marker: dict[str, Any], half: float) -> str:
    symbol, colour = str(marker["symbol"]), str(marker["color"])
    ink = f'fill="none" stroke="{colour}"' if symbol in STROKED else f'fill="{colour}"'
    # The disc is what the pointer meets: a cross of lines would be missed.
    return (
        f'<circle r="{half + 3:g}" fill="#fff" opacity="0"/>'
        f'<path d="{SHAPES[symbol]}" transform="scale({half:g})" {ink} '
        f'stroke-width="{2 / half:.2g}"/>'
    )


def _axis_names(scene: dict[str, Any], put: Any) -> str:
    drawn: list[str] = []
    for note in scene.get("annotations", []):
        ((x, y, _),) = put(np.array([[float(note[axis]) for axis in "xyz"]]))
        drawn.append(
            f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" fill="#5B6068">'
            f"{escape(str(note['text']))}</text>"
        )
    return "".join(drawn)


def _legend(traces: list[dict[str, Any]], width: int) -> tuple[str, int]:
    """A mark and its name for each kind, in rows; and how many rows these are."""
    shown = [trace for trace in traces if trace.get("showlegend")]
    places = [0.0]
    for trace in shown:
        places.append(places[-1] + 30 + 8 * len(str(trace["name"])))
    rows, start, drawn = 0, 0.0, list[str]()
    for trace, (x, end) in zip(shown, pairwise(places), strict=True):
        if end - start > width:
            rows, start = rows + 1, x
        at = f"translate({x - start + 10:.0f},{HEAD + HIGH + FOOT / 2 + rows * LINE:.0f})"
        drawn.append(
            f'<g transform="{at}">{_mark(trace["marker"], 5)}'
            f'<text x="12" y="5">{escape(str(trace["name"]))}</text></g>'
        )
    return "".join(drawn), rows + 1
