"""A sound and who listens to it: spectrogram above, a head's weights below, on one axis of time.

Spectrogram and weights are pictures of one dot a cell, so that a browser has two marks to draw and
not thousands; rows that can be clicked lie over them. Down the picture is counted in pixels.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.cells import cells_png, cells_uri
from core.figures.palette import KEY, QUERY, WEIGHT
from core.figures.template import Figure, hole, table, template

Matrix = NDArray[np.floating]
ROW_SELECTION = "heard"
# Pixels down the picture: spectrogram, the bars of one character, a row of weights, between them.
SOUND, BARS, LEAST_MAP, MOST_MAP, GAP = 90, 30, 48, 330, 6
ROW = 11
HERTZ = (250, 1000, 3000)
QUIETEST, LOUDEST = -1.5, 2.5  # of normalised frames: no colour, full colour


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What is drawn of a head: weights (rows, columns), a label a row and how likely it was, the
    row that is looked at, and the weight that is fully coloured.
    """

    weights: Matrix
    labels: Sequence[str]
    probabilities: Sequence[float]
    chosen: int
    seconds_a_column: float
    top: float = 1.0


def sound_map(
    frames: Matrix,
    hertz: NDArray[np.float64],
    seconds_a_frame: float,
    heard: Heard | None = None,
    *,
    title: str = "",
) -> Figure:
    """Frames (T, bands) over time, below them where each written character looks.

    Over the spectrogram lies what the chosen character weighs, and as bars under it. The point
    selection `heard` returns the row of a click. Without a head the spectrogram stands alone.
    """
    seconds, n_bands = len(frames) * seconds_a_frame, frames.shape[1]
    half = SOUND / n_bands / 2
    middles = [SOUND - half * (2 * band + 1) for band in range(n_bands)]
    ticks = {round(float(np.interp(one, hertz, middles))): f"{one:,} Hz" for one in HERTZ}
    pictures = [(cells_uri(_loud(frames), KEY), 0.0, seconds, 0.0, float(SOUND))]
    if heard is None:
        return _filled({}, pictures, ticks, float(SOUND), seconds, title, 11)
    n_rows, n_columns = heard.weights.shape
    above, end = SOUND + 2 * GAP + BARS, n_columns * heard.seconds_a_column
    row = max(LEAST_MAP / n_rows, min(ROW, MOST_MAP / n_rows))
    share = np.clip(heard.weights / heard.top, 0, 1)
    pictures.append((cells_uri(share, WEIGHT), 0.0, end, float(above), above + row * n_rows))
    rows = _rows(heard, above, row, end)
    size = elements.name_size(n_rows, row * n_rows)
    every = math.ceil(size / row)
    named = range(0, n_rows, every)
    ticks |= {round(above + row * (i + 0.5)): heard.labels[i] for i in named}
    chosen = cast(pd.DataFrame, rows.iloc[[heard.chosen]])
    tables = {"rows": rows, "chosen": chosen, "now": _now(heard)}
    height = above + row * n_rows
    down = "written character" if every == 1 else f"written character, one in {every} is named"
    return _filled(tables, pictures, ticks, height, max(seconds, end), title, size, down)


def sound_picture(frames: Matrix) -> bytes:
    """PNG of frames alone, time from left to right."""
    return cells_png(_loud(frames), KEY, side=3)


def _loud(frames: Matrix) -> Matrix:
    """(bands, T), the highest band first, from 0 to 1."""
    return np.clip((frames.T[::-1] - QUIETEST) / (LOUDEST - QUIETEST), 0, 1)


def _filled(
    tables: dict[str, pd.DataFrame],
    pictures: list[tuple[str, float, float, float, float]],
    ticks: dict[int, str],
    height: float,
    seconds: float,
    title: str,
    size: int,
    down: str = "sound",
) -> Figure:
    drawn = pd.DataFrame(pictures, columns=["url", "left", "right", "low", "high"])
    return _sound_map(with_head=bool(tables)).fill(
        {"pictures": drawn, **tables},
        seconds=[0.0, seconds],
        height=height,
        down=[0.0, height],
        places=list(ticks),
        names=f"({json.dumps(ticks, ensure_ascii=False)})[datum.value]",
        size=size,
        title=title,
        down_title=down,
    )


@template
def _sound_map(*, with_head: bool) -> alt.LayerChart:
    edges: dict[str, Any] = {
        "x": alt.X(
            "left:Q",
            title="time (s)",
            scale=alt.Scale(domain=hole("seconds"), nice=False),
            axis=elements.axis(grid=False, tickCount=8),
        ),
        "x2": "right:Q",
        "y": alt.Y(
            "low:Q",
            title=hole("down_title"),
            scale=alt.Scale(domain=hole("down"), nice=False, zero=False, reverse=True),
            axis=elements.axis(
                values=hole("places"),
                labelExpr=hole("names"),
                labelFontSize=hole("size"),
                labelOverlap=False,
                labelFlush=False,
                ticks=False,
                grid=False,
            ),
        ),
        "y2": "high:Q",
    }
    pictures = (
        table("pictures")
        .mark_image(aspect=False, smooth=False)
        .encode(**edges, url="url:N", tooltip=alt.value(None), description=alt.value("cells"))
    )
    layers = [pictures, *(_over(edges) if with_head else ())]
    return elements.fitted(alt.LayerChart(layer=layers), hole("height"), hole("title"))


def _over(edges: dict[str, Any]) -> list[alt.Chart]:
    """What the chosen character weighs, its frame, and rows to be clicked."""
    pick = alt.selection_point(name=ROW_SELECTION, fields=["row"], on="click", empty=False)
    now = table("now").encode(
        **edges,
        tooltip=[
            alt.Tooltip("left:Q", title="from (s)", format=".2f"),
            alt.Tooltip("weight:Q", format=".3f"),
        ],
    )
    frame = (
        table("chosen")
        .mark_rect(filled=False, stroke=QUERY, strokeWidth=2.5)
        .encode(**edges, tooltip=alt.value(None))
    )
    rows = (
        table("rows")
        .mark_rect(opacity=0.001)
        .encode(
            **edges,
            tooltip=[
                alt.Tooltip("label:N", title="writes"),
                alt.Tooltip("probability:Q", format=".3f"),
                alt.Tooltip("most:Q", title="listens most at (s)", format=".2f"),
            ],
        )
        .add_params(pick)
    )
    return [
        now.mark_rect(color=WEIGHT).encode(opacity=alt.Opacity("shade:Q", scale=None)),
        frame,
        rows,
    ]


def _rows(heard: Heard, above: float, row: float, end: float) -> pd.DataFrame:
    n_rows = len(heard.weights)
    low = above + row * np.arange(n_rows)
    return pd.DataFrame(
        {
            "row": np.arange(n_rows),
            "label": [f"{i + 1} {label}" for i, label in enumerate(heard.labels)],
            "probability": heard.probabilities,
            "most": (heard.weights.argmax(1) + 0.5) * heard.seconds_a_column,
            "left": 0.0,
            "right": end,
            "low": low,
            "high": low + row,
        }
    )


def _now(heard: Heard) -> pd.DataFrame:
    """The chosen character's weights: a wash over the spectrogram, and bars below it, of which the
    largest fills its height.
    """
    weights = heard.weights[heard.chosen].astype(np.float64)
    share = weights / max(float(weights.max()), np.finfo(np.float32).tiny)
    left = np.arange(len(weights)) * heard.seconds_a_column
    base = SOUND + GAP + BARS
    both = {"left": left, "right": left + heard.seconds_a_column, "weight": weights}
    wash = pd.DataFrame({**both, "low": 0.0, "high": float(SOUND), "shade": 0.6 * share})
    bars = pd.DataFrame({**both, "low": base - BARS * share, "high": float(base), "shade": 1.0})
    return pd.concat([wash, bars], ignore_index=True)
