"""Pictures of one query row: bars, and arcs to its keys."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures.elements import (
    MOST_LABELS,
    axis,
    fitted,
    headline,
    leaning,
    named_tokens,
    token_axis,
)
from core.figures.palette import FONT_SIZE, QUERY, VALUE, WEIGHT
from core.figures.template import Figure, hole, table, template

Matrix = NDArray[np.float32]
ROOM_FOR_TOKENS = 380  # pixels of the axis of arcs on a projector
MOST_BARS, N_LARGEST = 60, 40  # keys that all have a bar; of more, those of most weight
MOST_STEP = 28  # pixels: of a key and its bars
LEAST_ARC = 0.05  # a fainter weight has no arc
HALF = 0.43  # of the plot: each of two sets of bars; the rest keeps them apart


class Bar(NamedTuple):
    """A key of a row, by its position and its name."""

    k: int
    token: str
    weight: float
    contribution: float


def row_bars(
    weights: NDArray[np.float32],
    contribution: NDArray[np.float32],
    labels: Sequence[str],
    row: int,
    *,
    seen: Sequence[int] | None = None,
    height: int = 330,
    title: str = "",
) -> Figure:
    """One query row as bars: weight, and beside it the contribution, key by key.

    `seen` are the keys that the row may look at: 0 to `row` unless told. Of more than MOST_BARS
    those of most weight have a bar, and all others one together, their sum (`the_rest` says so).
    """
    keys_seen = list(range(row + 1)) if seen is None else list(seen)
    bars, names = _bars(weights, contribution, labels, keys_seen)
    n = len(bars)
    least = FONT_SIZE if n <= MOST_LABELS else 6
    step = max(least, min(MOST_STEP, height // max(n, 1)))
    low = min(0.0, *(bar.weight for bar in bars))
    high = max(1.0, *(bar.weight for bar in bars))
    most = max(bar.contribution for bar in bars) or 1.0  # a head that is off brings nothing
    return _row_bars().fill(
        {"row": pd.DataFrame(bars, columns=list(Bar._fields))},
        **named_tokens("key", names, step * n, "key", at=[bar.k for bar in bars]),
        step=step,
        title=title,
        weight_domain=[low, low + (high - low) / HALF],
        weight_ticks=[low, (low + high) / 2, high],
        contribution_domain=[-most * (1 - HALF) / HALF, most],
        contribution_ticks=[0.0, _round_below(most)],
    )


@template
def _row_bars() -> alt.LayerChart:
    """Two sets of bars on one plot, which can be as wide as its place: each scale ends, or begins,
    where the other's half does. Charts side by side would have widths of their own.
    """
    # The title stands above the tokens, where it takes no width.
    above = {"titleAngle": 0, "titleAlign": "right", "titleX": -6, "titleY": -6}
    keys = token_axis("key", domain=False, **above)
    layers = [
        table("row")
        .mark_bar(color=colour)
        .encode(
            x=alt.X(
                f"{field}:Q",
                title=field,
                scale=alt.Scale(domain=hole(f"{field}_domain"), nice=False),
                axis=axis(
                    orient="bottom",
                    values=hole(f"{field}_ticks"),
                    format=".2~r",
                    labelFlush=False,
                    domain=False,
                    titleAnchor=anchor,
                ),
            ),
            y=alt.Y("k:O", title=hole("key_title"), axis=keys),
            tooltip=["token:N", alt.Tooltip(f"{field}:Q", format=".3f")],
        )
        for field, colour, anchor in (
            ("weight", WEIGHT, "start"),
            ("contribution", VALUE, "end"),
        )
    ]
    bars = alt.LayerChart(layer=layers).resolve_scale(x="independent")
    return fitted(bars, alt.Step(hole("step")), hole("title"))


def the_rest(n_seen: int) -> str:
    """What bars leave out, in a sentence; empty where every key has its own."""
    if n_seen <= MOST_BARS:
        return ""
    return (
        f"Of {n_seen} keys the {N_LARGEST} of most weight have a bar; the last one is the rest, "
        f"{n_seen - N_LARGEST} keys together (contributions are summed norms: an upper bound)."
    )


def largest(weights: NDArray[np.float32], keys: Sequence[int], n: int) -> list[int]:
    """The n keys of most weight, by its size, in the order of the text."""
    order = sorted(keys, key=lambda k: -abs(float(weights[k])))
    return sorted(order[:n])


def _bars(
    weights: NDArray[np.float32],
    contribution: NDArray[np.float32],
    labels: Sequence[str],
    seen: list[int],
) -> tuple[list[Bar], list[str]]:
    """The bars, and the names of all positions; that of the rest stands behind the last."""
    alone = seen if len(seen) <= MOST_BARS else largest(weights, seen, N_LARGEST)
    bars = [Bar(k, f"{k} {labels[k]}", float(weights[k]), float(contribution[k])) for k in alone]
    rest = sorted(set(seen) - set(alone))
    if not rest:
        return bars, list(labels)
    name = f"the rest ({len(rest)})"
    sums = float(weights[rest].sum()), float(contribution[rest].sum())
    return [*bars, Bar(len(labels), name, *sums)], [*labels, name]


def _round_below(most: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is no more: a tick that can be read."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(step * power for step in (1, 2, 5) if step * power <= most)


def arcs(weights: Matrix, labels: Sequence[str], selected_row: int) -> Figure:
    """Arcs from each query back to its keys; below the line to those that come later. Weights below
    `LEAST_ARC` are not drawn, nor is a token's weight on itself.

    The arcs of the selected row are opaque, the others faint.
    """
    n = len(labels)
    return _arcs().fill(
        {
            "arcs": _arc_points(weights, labels, selected_row),
            "here": pd.DataFrame({"x": [selected_row], "y": [0]}),
        },
        **named_tokens("token", labels, ROOM_FOR_TOKENS, "token"),
        angle=leaning(labels),
        ticks=list(range(n)),
        domain=[-0.5, n - 0.5],
    )


@template
def _arcs() -> alt.LayerChart:
    # Both layers share the very axis, or labels get lost in merging.
    x = alt.X(
        "x:Q",
        title=hole("token_title"),
        axis=token_axis("token", values=hole("ticks"), labelAngle=hole("angle"), grid=False),
        scale=alt.Scale(domain=hole("domain"), nice=False),
    )
    y = alt.Y("y:Q", axis=None)
    lines = (
        table("arcs")
        .mark_line(color=WEIGHT)
        .encode(
            x=x,
            y=y,
            detail="arc:N",
            order="order:O",
            strokeWidth=alt.StrokeWidth(
                "weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.5, 6]), legend=None
            ),
            opacity=alt.condition("datum.chosen", alt.value(1.0), alt.value(0.18)),
            tooltip=["pair:N", alt.Tooltip("weight:Q", format=".3f")],
        )
    )
    here = table("here").mark_point(color=QUERY, filled=True, size=90).encode(x=x, y=y)
    return alt.LayerChart(layer=[lines, here]).properties(height=300, width=520, title=headline(""))


def _arc_points(weights: Matrix, labels: Sequence[str], selected_row: int) -> pd.DataFrame:
    """Points along each arc that is drawn, in order."""
    angles = np.linspace(0, np.pi, 16)
    apart = ~np.eye(len(labels), dtype=np.bool_)
    rows, columns = np.nonzero((weights >= LEAST_ARC) & apart)
    pieces = [
        pd.DataFrame(
            {
                "arc": number,
                "x": (q + k) / 2 + (q - k) / 2 * np.cos(angles),
                "y": (q - k) / 2 * np.sin(angles),
                "order": np.arange(len(angles)),
                "weight": weights[q, k],
                "chosen": q == selected_row,
                "pair": f"{labels[q]} → {labels[k]}",
            }
        )
        for number, (q, k) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))
    ]
    empty = pd.DataFrame(columns=["arc", "x", "y", "order", "weight", "chosen", "pair"])
    return pd.concat(pieces) if pieces else empty
