"""Vectors as points in three dimensions, to be turned by hand; a scene for each set of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import FONT_SIZE, MASKED, TOKENS
from core.figures.plot import Plot, config, layout, typed, written

SYMBOLS = ("x", "diamond", "square", "cross", "circle", "circle-open")
HEIGHT, SIZE, CHOSEN = 480, 5, 11  # pixels


class Cloud(NamedTuple):
    """Points (n, 3) and the positions in the text that they stand for; `labels` names all of these,
    `kinds` is one a point.
    """

    name: str
    points: NDArray[np.floating[Any]]
    positions: Sequence[int]
    labels: Sequence[str]
    kinds: Sequence[str]


def cloud(
    clouds: Sequence[Cloud],
    shares: Sequence[float],
    kinds: Sequence[str],
    *,
    chosen: int | None = None,
    name: str = "points",
) -> Plot:
    """Sets of points on the same three axes, side by side.

    `shares` say what part of the variance each axis has; each of `kinds` has a colour and a mark of
    its own; the point at the position `chosen` is larger. Works for any vectors of tokens: queries,
    keys, the residual stream.
    """
    ends = _ends([one.points for one in clouds])
    n = len(clouds)
    scenes = {
        _scene_name(number): _scene(shares, ends, [number / n, (number + 1) / n])
        for number in range(n)
    }
    return Plot(
        data=[
            trace
            for number, one in enumerate(clouds)
            for trace in _traces(one, kinds, chosen, clouds[:number])
        ],
        layout=layout(
            height=HEIGHT,
            legend={"orientation": "h", "y": -0.02, "font": {"size": FONT_SIZE}},
            annotations=[
                _heading(one.name, (number + 0.5) / n) for number, one in enumerate(clouds)
            ],
            **scenes,
        ),
        config=config(name),
    )


def _traces(
    one: Cloud,
    kinds: Sequence[str],
    chosen: int | None,
    before: Sequence[Cloud],
) -> list[dict[str, Any]]:
    """A trace for each kind that occurs; the first set that has it puts it into the legend."""
    traces: list[dict[str, Any]] = []
    for place, kind in enumerate(kinds):
        at = [index for index, other in enumerate(one.kinds) if other == kind]
        if not at:
            continue
        points = one.points[at].astype(np.float32)
        positions = [one.positions[index] for index in at]
        sizes = np.array([CHOSEN if position == chosen else SIZE for position in positions])
        traces.append(
            {
                "type": "scatter3d",
                "mode": "markers",
                "name": kind,
                "legendgroup": kind,
                "showlegend": all(kind not in other.kinds for other in before),
                "scene": _scene_name(len(before)),
                "text": written(one.labels, positions),
                "marker": {
                    "size": typed(sizes.astype(np.uint8)),
                    "color": TOKENS[place % len(TOKENS)],
                    "symbol": SYMBOLS[place % len(SYMBOLS)],
                    "line": {"color": TOKENS[place % len(TOKENS)], "width": 1},
                },
                "hovertemplate": f"%{{text}}<br>{kind}<extra></extra>",
                **{axis: typed(points[:, column]) for column, axis in enumerate("xyz")},
            }
        )
    return traces


def _scene_name(number: int) -> str:
    return f"scene{number + 1}" if number else "scene"


def _scene(
    shares: Sequence[float], ends: list[tuple[float, float]], domain: list[float]
) -> dict[str, Any]:
    """A cube with a grid; names and shares of its axes are ours, for a small scene loses titles."""
    axes = {
        f"{axis}axis": {
            "range": list(end),
            "title": {"text": ""},
            "nticks": 5,
            "showticklabels": False,
            "showbackground": False,
            "showspikes": False,
            "gridcolor": MASKED,
            "zerolinecolor": MASKED,
        }
        for axis, end in zip("xyz", ends, strict=True)
    }
    corner = dict(zip("xyz", (low for low, _ in ends), strict=True))
    names = [
        {
            **corner,
            axis: high,
            "text": f"{number}: {share:.0%}",
            "showarrow": False,
            "font": {"size": FONT_SIZE, "color": MASKED},
        }
        for number, (axis, (_, high), share) in enumerate(
            zip("xyz", ends, shares, strict=True), start=1
        )
    ]
    return {
        **axes,
        "annotations": names,
        "domain": {"x": domain, "y": [0, 0.94]},
        "aspectmode": "cube",
        "camera": {"eye": {"x": 1.7, "y": 1.7, "z": 1.0}},
    }


def _ends(sets: Sequence[NDArray[np.floating[Any]]]) -> list[tuple[float, float]]:
    """Ends of each axis, the same for all sets, with room around the outermost points."""
    both = np.concatenate(list(sets))
    low, high = both.min(0), both.max(0)
    room = np.maximum(0.05 * (high - low), 1e-6)
    return [(float(a), float(b)) for a, b in zip(low - room, high + room, strict=True)]


def _heading(text: str, x: float) -> dict[str, Any]:
    return {
        "text": text,
        "x": x,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "font": {"size": FONT_SIZE + 1},
    }
