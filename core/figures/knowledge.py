"""Pictures of what a model knows: how sure it is of its answers, what they are, what gives it away.

Every row is named in words and numbers, every kind of answer by its letter: nothing hangs on a
colour.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import altair as alt
import pandas as pd

from core.figures.named_rows import (
    BOTTOM,
    TOP,
    Named,
    anchor,
    in_rows,
    middle,
    names,
    row_axes,
    shares,
    y_of_row,
)
from core.figures.palette import FONT_SIZE, KEY, VALUE, WRONG
from core.figures.template import Figure, table, template

ROW, BAR_ROW = 44, 46  # pixels
LETTER = 36  # pixels that a letter and a number need
LETTERS = {"right": "R", "nearest": "N", "most_frequent": "F", "known_place": "K", "made_up": "M"}
COLOURS = (VALUE, *[WRONG[0]] * 3, WRONG[1])
ON_COLOURS = ("black", *["white"] * 4)


class Sureness(NamedTuple):
    """A group: the shares of its answers whose probability lies in equal steps from 0 to 1, and the
    median. `beside` it is drawn hollow: that of a second model.
    """

    row: Named
    shares: Sequence[float]
    median: float
    beside: bool = False


class Outcomes(NamedTuple):
    """A group: its shares of each kind of answer, in the order of LETTERS."""

    row: Named
    shares: Sequence[float]
    words: Sequence[str]


def sureness_rows(rows: Sequence[Sureness]) -> Figure:
    """A histogram a row; the answers above the last step stand out.

    All are on one scale of heights, those of square roots: a step with 5 % of the answers is seen
    beside one with 90 %.
    """
    most = max((share for row in rows for share in row.shares), default=0) or 1.0
    bars = [
        (
            step / len(row.shares),
            (step + 1) / len(row.shares),
            index + BOTTOM,
            index + BOTTOM - (BOTTOM - TOP) * sqrt(share / most),
            share,
            row.row.name,
            0.0 if row.beside else 0.9 if step == len(row.shares) - 1 else 0.4,
        )
        for index, row in enumerate(rows)
        for step, share in enumerate(row.shares)
        if share
    ]
    medians = [
        (row.median, index + TOP, index + BOTTOM, row.row.name) for index, row in enumerate(rows)
    ]
    return _sureness_rows().fill(
        {
            "bars": pd.DataFrame(
                bars, columns=["low", "high", "y", "top", "share", "group", "filled"]
            ),
            "medians": pd.DataFrame(medians, columns=["median", "y", "end", "group"]),
            "rows": anchor(len(rows), 0),
        },
        **names([row.row for row in rows], ROW),
    )


@template
def _sureness_rows() -> alt.LayerChart:
    across = "probability of the whole answer"
    x = shares("x:Q", across, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1])
    y = y_of_row()
    bars = (
        table("bars")
        .mark_rect(fill=VALUE, stroke=VALUE, strokeWidth=1.5)
        .encode(
            x=alt.X("low:Q", title=across),
            x2="high:Q",
            y=y,
            y2="top:Q",
            fillOpacity=alt.FillOpacity("filled:Q", scale=None, legend=None),
            tooltip=[
                "group:N",
                alt.Tooltip("low:Q", title="probability from", format=".0%"),
                alt.Tooltip("high:Q", title="to", format=".0%"),
                alt.Tooltip("share:Q", title="share of its answers", format=".1%"),
            ],
        )
    )
    medians = (
        table("medians")
        .mark_rule(color=KEY, strokeWidth=4)
        .encode(
            x=alt.X("median:Q", title=across),
            y=y,
            y2="end:Q",
            tooltip=["group:N", alt.Tooltip("median:Q", format=".1%")],
        )
    )
    return in_rows([*row_axes(x, "rows"), bars, medians])


def outcome_rows(rows: Sequence[Outcomes]) -> Figure:
    """A bar a row, of parts that come to 1: what kinds of answers there are."""
    parts = [
        (
            sum(row.shares[:kind]),
            sum(row.shares[: kind + 1]),
            sum(row.shares[:kind]) + share / 2,
            index + TOP,
            index + BOTTOM,
            middle(index),
            f"{letter} {100 * share:.0f}",
            row.row.name,
            row.words[kind],
            share,
            COLOURS[kind],
            ON_COLOURS[kind],
        )
        for index, row in enumerate(rows)
        for kind, (letter, share) in enumerate(zip(LETTERS.values(), row.shares, strict=True))
        if share
    ]
    columns = "low high x y end middle text group kind share colour on".split()
    return _outcome_rows().fill(
        {"parts": pd.DataFrame(parts, columns=columns), "rows": anchor(len(rows), 0)},
        **names([row.row for row in rows], BAR_ROW),
    )


@template
def _outcome_rows() -> alt.LayerChart:
    across, y = "share of the answers", y_of_row()
    x = shares("x:Q", across, [0, 0.25, 0.5, 0.75, 1])
    base = table("parts").encode(
        tooltip=["group:N", "kind:N", alt.Tooltip("share:Q", format=".1%")]
    )
    bars = base.mark_rect(stroke="white", strokeWidth=1.5).encode(
        x=alt.X("low:Q", title=across),
        x2="high:Q",
        y=y,
        y2="end:Q",
        fill=alt.Fill("colour:N", scale=None, legend=None),
    )
    room = base.transform_calculate(seen=f"datum.share * width > {LETTER} ? datum.text : ''")
    texts = room.mark_text(fontSize=FONT_SIZE, fontWeight="bold").encode(
        x=alt.X("x:Q", title=across),
        y=alt.Y("middle:Q", title=None, axis=None),
        text="seen:N",
        color=alt.Color("on:N", scale=None, legend=None),
    )
    return in_rows([*row_axes(x, "rows"), bars, texts])
