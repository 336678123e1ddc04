"""Pictures of trainings: loss and right answers as they go, of runs or of means over runs.

Runs are told apart by colour, dashes and the shape of their points, in the order given; what a
constant answer would reach is grey. Shares lie on a scale from 0 to 1, so that small steps stay
small. A title is given to the file alone (`Figure.titled`): a chart that differs in its data alone
is not drawn anew when more has been measured, so it does not flicker.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from core.figures import elements
from core.figures.palette import FONT_SIZE, MASKED, RUNS
from core.figures.template import Figure, hole, laid_out, table, template

LossCurve = tuple[str, Sequence[tuple[float, float]]]  # name, (x, loss) …
AccuracyCurve = tuple[str, Sequence[tuple[float, float, float, float]]]  # …, (x, share, low, high)
SHAPES = ("circle", "square", "triangle-up", "diamond")
MOST_CURVES = len(RUNS)
SHORT = "format(datum.value, datum.value < 10000 ? ',' : '~s')"  # 1,500 and 15k
LATE = 0.6  # names of phases that begin behind it stand on the left of their line


def loss_chart(
    curves: Sequence[LossCurve],
    *,
    axis: str,
    phases: Sequence[tuple[float, str]] = (),
    most: float | None = None,
    height: int = 250,
) -> Figure:
    """The loss of some runs; `phases` are (x of its begin, name), `most` is the end of the axis."""
    rows = [(name, at, loss) for name, points in curves for at, loss in points]
    end = most or max((at for _, at, _ in rows), default=0.0)
    tables = {"losses": pd.DataFrame(rows, columns=["name", "at", "loss"]).round(5)}
    if phases:
        tables["phases"] = pd.DataFrame(
            [(begin, phase, begin > LATE * end) for begin, phase in phases],
            columns=["at", "phase", "late"],
        )
    return _loss_chart(tuple(tables), alone=len(curves) == 1).fill(
        tables,
        **_runs([name for name, _ in curves]),
        **_ends(axis, most),
        height=height,
    )


def mean_loss_chart(curves: Sequence[AccuracyCurve], *, axis: str, height: int = 250) -> Figure:
    """Mean losses with their 95 % intervals as bands: (x, mean, low, high) of each name."""
    rows = [(name, *point) for name, points in curves for point in points]
    frame = pd.DataFrame(rows, columns=["name", "at", "loss", "low", "high"]).round(5)
    return _loss_chart((), alone=len(curves) == 1, banded=True).fill(
        {"losses": frame},
        **_runs([name for name, _ in curves]),
        **_ends(axis, None),
        height=height,
    )


@template
def _loss_chart(tables: tuple[str, ...], *, alone: bool, banded: bool = False) -> alt.LayerChart:
    # A band would make a disc of a line's symbol.
    strokes = {"symbolType": "stroke", "symbolStrokeWidth": 2.5} if banded else {}
    x, legend = _along(), _legend(400, alone=alone, **strokes)
    base, colour = table("losses").encode(x=x), _marked(alt.Color, "colours", legend)
    ends = [alt.Tooltip("low:Q", title="95 % from", format=".3f")] if banded else []
    ends += [alt.Tooltip("high:Q", title="to", format=".3f")] if banded else []
    lines = base.mark_line(strokeWidth=2.5).encode(
        y=_loss("loss"),
        color=colour,
        strokeDash=_marked(alt.StrokeDash, "dashes", legend),
        tooltip=[*_where(), alt.Tooltip("loss:Q", format=".3f"), *ends],
    )
    band = base.mark_area(opacity=0.2).encode(y=_loss("low"), y2="high:Q", color=colour)
    return _finished(
        [*(_phases(x) if "phases" in tables else []), *([band] if banded else []), lines]
    )


def _loss(field: str) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title="loss (nats a token)",
        scale=alt.Scale(zero=False),
        axis=elements.axis(tickCount=5),
    )


def accuracy_chart(
    curves: Sequence[AccuracyCurve],
    lines: Sequence[tuple[str, float]],
    *,
    axis: str,
    most: float | None = None,
    height: int = 250,
) -> Figure:
    """Shares of right answers with their 95 % intervals as bands; `lines` are (name, share)."""
    rows = [(name, *point) for name, points in curves for point in points]
    columns = ["name", "at", "share", "low", "high"]
    tables = {"shares": pd.DataFrame(rows, columns=columns).round(5)}
    if lines:
        tables["constants"] = pd.DataFrame(lines, columns=["constant", "share"])
    return _accuracy_chart(tuple(tables), alone=len(curves) == 1).fill(
        tables,
        **_runs([name for name, _ in curves]),
        **_ends(axis, most),
        height=height,
    )


@template
def _accuracy_chart(tables: tuple[str, ...], *, alone: bool) -> alt.LayerChart:
    base = table("shares").encode(
        x=_along(),
        tooltip=[
            *_where(),
            alt.Tooltip("share:Q", title="right", format=".1%"),
            alt.Tooltip("low:Q", title="95 % from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
        ],
    )
    legend = _legend(110, alone=alone, symbolStrokeWidth=0)
    y, colour = _share("share"), _marked(alt.Color, "colours", legend)
    shape, dash = _marked(alt.Shape, "shapes", legend), _marked(alt.StrokeDash, "dashes", None)
    layers = [
        base.mark_area(opacity=0.2).encode(y=_share("low"), y2="high:Q", color=colour),
        base.mark_line(strokeWidth=2.5).encode(y=y, color=colour, strokeDash=dash),
        base.mark_point(size=60, filled=True, opacity=1).encode(y=y, shape=shape, color=colour),
    ]
    return _finished([*(_constants() if "constants" in tables else []), *layers])


def _runs(names: list[str]) -> dict[str, Any]:
    """Names, and the marks that tell one from another."""
    n = len(names)
    return {
        "names": names,
        "colours": list(RUNS[:n]),
        "dashes": list(elements.DASHES[:n]),
        "shapes": list(SHAPES[:n]),
    }


def _ends(axis: str, most: float | None) -> dict[str, Any]:
    """The title of the axis and its scale: up to `most`, or to where the runs are."""
    return {"axis": axis, "scale": {} if most is None else {"domain": [0, most], "nice": False}}


def _along() -> alt.X:
    ticks = elements.axis(tickCount=4, grid=False, labelExpr=SHORT)
    return alt.X("at:Q", title=hole("axis"), scale=hole("scale"), axis=ticks)


def _share(field: str) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title="right answers",
        scale=alt.Scale(domain=[0, 1]),
        axis=elements.axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1]),
    )


def _where() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("name:N", title="run"),
        alt.Tooltip("at:Q", title=hole("axis"), format=",.6~g"),
    ]


def _marked(kind: Any, marks: str, legend: alt.Legend | None) -> Any:
    """A channel that tells runs apart; those with the same legend are drawn as one by Vega."""
    scale = alt.Scale(domain=hole("names"), range=hole(marks))
    return kind("name:N", sort=hole("names"), title=None, scale=scale, legend=legend)


def _legend(size: int, *, alone: bool, **more: Any) -> alt.Legend | None:
    """None where there is one run."""
    if alone:
        return None
    return elements.legend(
        orient="top", columns=1, symbolSize=size, symbolOpacity=1, labelLimit=320, **more
    )


def _phases(x: alt.X) -> list[alt.Chart]:
    """A thin line where a phase begins, its name on top, on the side that has room."""
    base = table("phases").encode(x=x)
    names = [
        base.transform_filter("datum.late" if late else "!datum.late")
        .mark_text(
            align="right" if late else "left",
            dx=-5 if late else 5,
            fontSize=FONT_SIZE,
            color=MASKED,
        )
        .encode(text="phase:N", y=alt.value(9))
        for late in (False, True)
    ]
    return [base.mark_rule(color=MASKED, strokeWidth=1), *names]


def _constants() -> list[alt.Chart]:
    """Grey dashes across, each with its name on its right end."""
    base = table("constants").encode(y=_share("share"))
    return [
        base.mark_rule(color=MASKED, strokeWidth=2, strokeDash=[2, 3]),
        base.mark_text(align="right", dy=-10, fontSize=FONT_SIZE, color=MASKED).encode(
            x=alt.value("width"), text="constant:N"
        ),
    ]


def _finished(layers: list[alt.Chart]) -> alt.LayerChart:
    """As wide as its place; the height is that of the plot alone, axis and legend come to it."""
    return laid_out(
        alt.LayerChart(layer=layers),
        width="container",
        height=hole("height"),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
