"""Measures of recognisers beside what needs none, a row a measure.

Recognisers are green, what needs none is grey; each has its shape and its own line in a row, so
that nothing hangs on a colour and equal values stand apart.
"""

from collections.abc import Sequence
from math import floor

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.knowledge_measures import NARROW, SHAPES, SYMBOLS
from core.figures.named_rows import Named, anchor, in_rows, middle, names, row_axes, y_of_row
from core.figures.palette import MASKED, VALUE
from core.figures.template import Figure, hole, table, template

LINE = 17  # pixels between the marks of a row
NAME = 26  # pixels of a row's name above them
Series = tuple[str, bool, Sequence[float]]


def measure_dots(measures: Sequence[str], series: Sequence[Series], *, axis: str) -> Figure:
    """`series` are (name, whether it is a recogniser, its value in each measure)."""
    placed = [
        (name, value, middle(at, len(series), of), measure)
        for of, (name, _, values) in enumerate(series)
        for at, (measure, value) in enumerate(zip(measures, values, strict=True))
    ]
    # Where more is wrong than was said a share is below 0.
    least = min(0.0, floor(10 * min(value for _, value, *_ in placed)) / 10)
    tables = {
        "dots": pd.DataFrame(placed, columns=["name", "value", "y", "row"]),
        "rows": anchor(len(measures), least),
    }
    height = NAME + LINE * len(series)
    return _measure_dots().fill(
        tables,
        axis=axis,
        ends=[least, 1.0],
        series=[name for name, *_ in series],
        shapes=list(SHAPES[: len(series)]),
        colours=[VALUE if is_heard else MASKED for _, is_heard, _ in series],
        **names([Named(measure, "") for measure in measures], height, NARROW),
    )


@template
def _measure_dots() -> alt.LayerChart:
    scale = alt.Scale(domain=hole("ends"), nice=False)
    x = alt.X("x:Q", title=hole("axis"), scale=scale, axis=elements.axis(format=".1f", tickCount=5))
    legend = elements.legend(**SYMBOLS)
    dots = table("dots").encode(
        x=alt.X("value:Q", title=hole("axis")),
        y=y_of_row(),
        stroke=alt.Stroke(
            "name:N",
            sort=hole("series"),
            title=None,
            scale=alt.Scale(domain=hole("series"), range=hole("colours")),
            legend=legend,
        ),
        shape=alt.Shape(
            "name:N",
            sort=hole("series"),
            title=None,
            scale=alt.Scale(domain=hole("series"), range=hole("shapes")),
            legend=legend,
        ),
        tooltip=[
            alt.Tooltip("name:N", title="of"),
            alt.Tooltip("row:N", title="measure"),
            alt.Tooltip("value:Q", format=".3f"),
        ],
    )
    marks = dots.mark_point(size=110, strokeWidth=2.5, filled=False, opacity=1)
    return in_rows([*row_axes(x, "rows"), marks])
