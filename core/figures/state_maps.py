"""Pictures of a state of d x d numbers while pairs arrive: what it holds, what keys read."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import KEY, MASKED, VALUE
from core.figures.template import Figure, hole, table, template

SIDE, BARS = 210, 150  # pixels: height of a map, and of the bars
TICKS = 4  # numbers that are named on a side


class Read(NamedTuple):
    """A key, how far what is read points to its value, and which kind of key it is."""

    key: str
    cosine: float
    kind: str


NOW, SECOND, FIRST = "written now", "has a second value", "has its first value"
KINDS = (NOW, SECOND, FIRST)


def state_map(values: NDArray[np.floating[Any]], reach: float, *, title: str) -> Figure:
    """Rows along the key, columns along the value; full colour is `reach` on either side of 0."""
    rows, columns = np.indices(values.shape)
    cells = pd.DataFrame(
        {"row": rows.ravel(), "column": columns.ravel(), "value": values.ravel().astype(float)}
    )
    n = values.shape[0]
    return _state_map().fill(
        {"cells": cells},
        places=list(range(n)),
        ticks=list(range(0, n, max(1, n // TICKS))),
        domain=[-reach, reach],
        title=title,
        height=SIDE,
    )


@template
def _state_map() -> alt.Chart:
    chart = (
        table("cells")
        .mark_rect()
        .encode(
            x=_side(alt.X, "column", "along the value"),
            y=_side(alt.Y, "row", "along the key"),
            color=alt.Color(
                "value:Q",
                title=None,
                scale=alt.Scale(domain=hole("domain"), domainMid=0, clamp=True),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("row:O", title="along the key"),
                alt.Tooltip("column:O", title="along the value"),
                alt.Tooltip("value:Q", format=".3f"),
            ],
        )
    )
    return elements.fitted(chart, hole("height"), hole("title"))


def _side(kind: Any, field: str, name: str) -> Any:
    shown = elements.axis(
        values=hole("ticks"), labelAngle=0, labelFlush=False, ticks=False, domain=False
    )
    return kind(f"{field}:O", title=name, scale=alt.Scale(domain=hole("places")), axis=shown)


def read_bars(reads: Sequence[Read], *, title: str) -> Figure:
    """A bar a key, in the order of their first values."""
    return _read_bars().fill(
        {"reads": pd.DataFrame(reads, columns=list(Read._fields))},
        keys=[read.key for read in reads],
        kinds=list(KINDS),
        colours=[KEY, VALUE, MASKED],
        title=title,
        height=BARS,
    )


@template
def _read_bars() -> alt.Chart:
    chart = (
        table("reads")
        .mark_bar()
        .encode(
            x=alt.X(
                "key:N",
                sort=hole("keys"),
                title="key",
                axis=elements.axis(labelAngle=0, grid=False),
            ),
            y=alt.Y(
                "cosine:Q",
                title="cosine",
                scale=alt.Scale(domain=[-0.5, 1], nice=False, clamp=True),
                axis=elements.axis(values=[-0.5, 0, 0.5, 1]),
            ),
            color=alt.Color(
                "kind:N",
                title=None,
                sort=hole("kinds"),
                scale=alt.Scale(domain=hole("kinds"), range=hole("colours")),
                legend=elements.legend(orient="top", columns=3, labelLimit=0),
            ),
            tooltip=[
                alt.Tooltip("key:N"),
                alt.Tooltip("cosine:Q", title="cosine with its value", format=".3f"),
                alt.Tooltip("kind:N", title="this key"),
            ],
        )
    )
    return elements.fitted(chart, hole("height"), hole("title"))
