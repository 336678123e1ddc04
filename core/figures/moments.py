"""Picture of a training at the moments that were kept: right answers, and what happened when."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FONT_SIZE, KEY, VALUE
from core.figures.template import Figure, hole, table, template

HEIGHT = 84  # pixels


def accuracy_at_moments(
    points: Sequence[tuple[str, float]], marks: Sequence[tuple[str, str]], *, title: str
) -> Figure:
    """Accuracy at each moment (name, share); `marks` are (what, moment) with a line and its name.

    Moments stand at equal distances, as on a slider: snapshots lie dense early and sparse late.
    """
    moments = [name for name, _ in points]
    moments += [moment for _, moment in marks if moment not in moments]
    return _accuracy_at_moments().fill(
        {
            "points": pd.DataFrame(points, columns=["moment", "accuracy"]),
            "marks": pd.DataFrame(_marks_at_one_moment(marks), columns=["moment", "what"]),
        },
        moments=moments,
        title=title,
    )


@template
def _accuracy_at_moments() -> alt.LayerChart:
    domain, ticks = alt.Scale(domain=hole("moments")), elements.axis(labelAngle=0)
    x = alt.X("moment:N", title=None, scale=domain, axis=ticks)
    base = table("points").encode(
        x=x,
        y=alt.Y(
            "accuracy:Q",
            title="right",
            scale=alt.Scale(domain=[0, 1]),
            axis=elements.axis(values=[0, 0.5, 1], format=".0%"),
        ),
        tooltip=["moment:N", alt.Tooltip("accuracy:Q", format=".1%")],
    )
    rules = table("marks").mark_rule(color=KEY, strokeWidth=3).encode(x=x, tooltip=["what:N"])
    names = (
        table("marks")
        .mark_text(color=KEY, fontSize=FONT_SIZE, fontWeight="bold", dx=6, align="left")
        .encode(x=x, y=alt.value(10), text="what:N")
    )
    line = base.mark_line(color=VALUE, strokeWidth=3)
    dots = base.mark_point(color=VALUE, filled=True, size=90, opacity=1)
    return elements.fitted(alt.LayerChart(layer=[rules, line, dots, names]), HEIGHT, hole("title"))


def _marks_at_one_moment(marks: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(moment, names): two marks at the same moment share one line and one text."""
    found: dict[str, list[str]] = {}
    for what, moment in marks:
        found.setdefault(moment, []).append(what)
    return [(moment, ", ".join(names)) for moment, names in found.items()]
