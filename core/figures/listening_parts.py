"""Beside the picture of a sound: the encoder's heads, how likely each letter was, and how diagonal
each head is.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.cells import cells_uri
from core.figures.palette import MASKED, VALUE, WEIGHT
from core.figures.template import Figure, hole, table, template

LETTER_HEIGHT, HEAD_ROW, SIDE = 120, 26, 320  # pixels
ROOM_FOR_LETTERS = 900


def time_map(weights: NDArray[np.floating], seconds_a_column: float, *, top: float = 1.0) -> Figure:
    """A head of the encoder, weights (columns, columns): both axes are time."""
    end = len(weights) * seconds_a_column
    return _time_map().fill(
        {
            "pictures": pd.DataFrame(
                {
                    "url": [cells_uri(np.clip(weights / top, 0, 1), WEIGHT)],
                    "left": [0.0],
                    "right": [end],
                    "low": [0.0],
                    "high": [end],
                }
            )
        },
        seconds=[0.0, end],
    )


@template
def _time_map() -> alt.LayerChart:
    scale = alt.Scale(domain=hole("seconds"), nice=False)
    down = alt.Scale(domain=hole("seconds"), nice=False, reverse=True)
    axis = elements.axis(grid=False, tickCount=6)
    picture = (
        table("pictures")
        .mark_image(aspect=False, smooth=False)
        .encode(
            x=alt.X("left:Q", title="looked at (s)", scale=scale, axis=axis),
            x2="right:Q",
            y=alt.Y("low:Q", title="looks (s)", scale=down, axis=axis),
            y2="high:Q",
            url="url:N",
            tooltip=alt.value(None),
            description=alt.value("cells"),
        )
    )
    return elements.fitted(alt.LayerChart(layer=[picture]), SIDE, "")


def letters(
    labels: Sequence[str], probabilities: Sequence[float], next_best: Sequence[str]
) -> Figure:
    """A bar a written character: how likely it was. `next_best` says what else was."""
    frame = pd.DataFrame(
        {
            "at": np.arange(len(labels)),
            "label": labels,
            "probability": probabilities,
            "others": next_best,
        }
    )
    return _letters().fill(
        {"letters": frame},
        **elements.named_tokens("letter", labels, ROOM_FOR_LETTERS, None),
    )


@template
def _letters() -> alt.LayerChart:
    bars = (
        table("letters")
        .mark_bar(color=VALUE)
        .encode(
            x=alt.X(
                "at:O",
                title=hole("letter_title"),
                axis=elements.token_axis("letter", labelAngle=0),
            ),
            y=alt.Y(
                "probability:Q",
                scale=alt.Scale(domain=[0, 1]),
                axis=elements.axis(tickCount=3, format=".0%"),
            ),
            tooltip=[
                alt.Tooltip("label:N", title="written"),
                alt.Tooltip("probability:Q", format=".1%"),
                alt.Tooltip("others:N", title="else"),
            ],
        )
    )
    return elements.fitted(alt.LayerChart(layer=[bars]), LETTER_HEIGHT, "")


def diagonal_bars(
    names: Sequence[str], shares: Sequence[float], uniform: float, orders: Sequence[float]
) -> Figure:
    """A bar a head: its share of weight near the diagonal, with a tick at that of a head that looks
    at all alike.
    """
    frame = pd.DataFrame({"head": names, "share": shares, "order": orders})
    frame["uniform"] = uniform
    return _diagonal_bars().fill({"heads": frame}, n=HEAD_ROW * len(names), order=list(names))


@template
def _diagonal_bars() -> alt.LayerChart:
    base = table("heads").encode(
        y=alt.Y("head:N", title=None, sort=hole("order"), axis=elements.axis(ticks=False)),
        tooltip=[
            alt.Tooltip("head:N"),
            alt.Tooltip("share:Q", title="near the diagonal", format=".3f"),
            alt.Tooltip("uniform:Q", format=".3f"),
            alt.Tooltip("order:Q", title="rank correlation", format=".2f"),
        ],
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    bars = base.mark_bar(color=WEIGHT).encode(
        x=alt.X(
            "share:Q",
            title="share of weight near the diagonal",
            scale=scale,
            axis=elements.axis(format=".0%", tickCount=5),
        )
    )
    ticks = base.mark_tick(color=MASKED, thickness=3, size=HEAD_ROW - 4).encode(x="uniform:Q")
    return elements.fitted(alt.LayerChart(layer=[bars, ticks]), hole("n"), "")
