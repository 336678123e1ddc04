"""Pictures of the small examples: arrays and labels in, figures out."""

import json
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures import elements
from core.figures.palette import FONT_SIZE, MASKED, QUERY, VALUE, WEIGHT
from core.figures.template import Figure, hole, laid_out, table, template

Array = NDArray[np.float64]
LEAST_ERROR = 1e-16
WIDTH = 500  # pixels that the components share on a projector
HEIGHT, ERRORS_HEIGHT = 260, 280  # pixels
APART = 0.08  # line ends nearer than this share one name


def bar_panels(
    panels: Sequence[tuple[str, Array]],
    labels: Sequence[str],
    claimed: Array,
    *,
    of_weights: bool,
    axis: str,
) -> Figure:
    """Vectors side by side as bars, each with the claimed vector as grey ticks.

    A vector may be shorter than `claimed`: its missing components stay empty under their ticks.
    """
    vectors, places = [vector for _, vector in panels], _panel_places(len(panels), labels)
    return _bar_panels().fill(
        {
            "components": _components(vectors, labels, claimed),
            "names": _panel_names([name for name, _ in panels], labels[0]),
        },
        places=places,
        size=elements.name_size(len(places), WIDTH),
        domain=[0.0, 1.0] if of_weights else _span([claimed, *vectors]),
        colour=WEIGHT if of_weights else VALUE,
        axis=axis,
    )


@template
def _bar_panels() -> alt.LayerChart:
    x = alt.X(
        "at:O",
        title=None,
        scale=alt.Scale(domain=hole("places")),
        axis=elements.axis(
            labelExpr="split(datum.value, '|')[1]",
            labelAngle=0,
            labelFontSize=hole("size"),
            labelOverlap=False,
            ticks=False,
        ),
    )
    y = alt.Y(
        "found:Q",
        title=hole("axis"),
        scale=alt.Scale(domain=hole("domain")),
        axis=elements.axis(tickCount=5, labelFlush=False),
    )
    base = table("components").encode(
        x=x,
        tooltip=[alt.Tooltip("found:Q", format=".4g"), alt.Tooltip("claimed:Q", format=".4g")],
    )
    # Each panel's name stands above it, from the left edge of its first component on.
    names = table("names").mark_text(
        align="left", baseline="bottom", dy=-8, fontSize=FONT_SIZE, color=MASKED
    )
    layers = [
        base.mark_bar(color=hole("colour")).encode(y=y),
        base.mark_tick(color=MASKED, thickness=4).encode(y="claimed:Q"),
        names.encode(x=alt.X("at:O", bandPosition=0), y=alt.value(0), text="name:N"),
    ]
    return laid_out(alt.LayerChart(layer=layers), height=HEIGHT)


def weight_curves(
    betas: Array,
    weights: Array,
    labels: Sequence[str],
    beta: float,
    *,
    chosen: int,
    title: str,
) -> Figure:
    """Weights (len(betas), n) against β, one line a key, named at its end; the rule is `beta`."""
    lines = pd.DataFrame(
        {
            "beta": np.repeat(betas, len(labels)),
            "weight": weights.round(5).ravel(),
            "key": list(labels) * len(betas),
        }
    )
    return _weight_curves().fill(
        {
            "lines": lines,
            "names": _line_ends(float(betas[-1]), weights[-1], labels),
            "here": pd.DataFrame({"beta": [beta]}),
        },
        is_chosen=f"datum.key === {json.dumps(labels[chosen], ensure_ascii=False)}",
        title=title,
    )


@template
def _weight_curves() -> alt.LayerChart:
    solid, broken = map(alt.value, elements.DASHES[:2])
    lines = (
        table("lines")
        .mark_line(color=WEIGHT, strokeWidth=2.5)
        .encode(
            x=_beta("β, length of the query"),
            y=alt.Y(
                "weight:Q",
                title="weight",
                scale=alt.Scale(domain=[0, 1]),
                axis=elements.axis(tickCount=5, labelFlush=False),
            ),
            detail="key:N",
            strokeDash=alt.condition(hole("is_chosen"), solid, broken),
            tooltip=[
                "key:N",
                alt.Tooltip("beta:Q", title="β", format=".3g"),
                alt.Tooltip("weight:Q", format=".3f"),
            ],
        )
    )
    names = (
        table("names")
        .mark_text(align="left", dx=5, fontSize=FONT_SIZE, color=MASKED)
        .encode(x="beta:Q", y="weight:Q", text="key:N")
    )
    return _titled([lines, names, _rule()], HEIGHT)


def error_curves(
    betas: Array,
    errors: Sequence[tuple[str, Array]],
    beta: float,
    *,
    title: str,
) -> Figure:
    """Errors against β on a log axis, one dash pattern a name; errors of exactly 0 are left out."""
    shown = [(name, values >= LEAST_ERROR, values) for name, values in errors]
    lines = [
        pd.DataFrame({"beta": betas[kept], "error": values[kept], "name": name})
        for name, kept, values in shown
    ]
    return _error_curves().fill(
        {"lines": pd.concat(lines), "here": pd.DataFrame({"beta": [beta]})},
        names=[name for name, _ in errors],
        title=title,
    )


@template
def _error_curves() -> alt.LayerChart:
    y = alt.Y(
        "error:Q",
        title="error / β",
        scale=alt.Scale(type="log"),
        axis=elements.axis(tickCount=5, format=".0e", labelFlush=False),
    )
    lines = elements.named_lines(
        "lines",
        _beta("β, norm of each u"),
        y,
        hole("names"),
        colour=VALUE,
        orient="top",
        tooltip=[
            alt.Tooltip("beta:Q", title="β", format=".3g"),
            alt.Tooltip("error:Q", format=".3g"),
        ],
    )
    return _titled([lines, _rule()], ERRORS_HEIGHT)


def _components(vectors: Sequence[Array], labels: Sequence[str], claimed: Array) -> pd.DataFrame:
    """A row for each component of each panel: the one found, if any, and the one claimed."""
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "at": [f"{number}|{label}" for label in labels],
                    "found": [*map(float, vector), *[None] * (len(labels) - len(vector))],
                    "claimed": claimed,
                }
            )
            for number, vector in enumerate(vectors)
        ]
    )


def _panel_names(names: Sequence[str], first: str) -> pd.DataFrame:
    """Each panel's name, at its first component."""
    return pd.DataFrame(
        {"at": [f"{number}|{first}" for number in range(len(names))], "name": list(names)}
    )


def _panel_places(n_panels: int, labels: Sequence[str]) -> list[str]:
    """Every component of every panel from left to right, with a gap between two panels."""
    places = [f"{number}|{label}" for number in range(n_panels) for label in [*labels, ""]]
    return places[:-1]


def _line_ends(beta: float, weights: Array, labels: Sequence[str]) -> pd.DataFrame:
    """Names at the right end, the greatest weight first; lines that end together share one name."""
    groups: list[tuple[float, list[str]]] = []
    for index in map(int, np.argsort(-weights, kind="stable")):
        weight = float(weights[index])
        if groups and groups[-1][0] - weight < APART:
            groups[-1][1].append(labels[index])
        else:
            groups.append((weight, [labels[index]]))
    names = [
        ", ".join(group) if len(group) < 4 else f"{group[0]} … {group[-1]}" for _, group in groups
    ]
    return pd.DataFrame({"beta": beta, "weight": [weight for weight, _ in groups], "key": names})


def _span(vectors: Sequence[Array]) -> list[float]:
    """Least and greatest component with a margin, always with 0 inside and never empty."""
    joined = np.concatenate([np.zeros(1), *vectors])
    low, high = float(joined.min()), float(joined.max())
    room = 0.08 * ((high - low) or 1.0)
    return [low - room if low < 0 else 0.0, high + room]


def _titled(layers: list[alt.Chart], height: int) -> alt.LayerChart:
    return laid_out(
        alt.LayerChart(layer=layers), height=height, title=elements.title(hole("title"))
    )


def _beta(title: str) -> alt.X:
    return alt.X(
        "beta:Q", title=title, axis=elements.axis(tickCount=4, grid=False, labelFlush=False)
    )


def _rule() -> alt.Chart:
    return (
        table("here")
        .mark_rule(color=QUERY, strokeWidth=2)
        .encode(x="beta:Q", tooltip=[alt.Tooltip("beta:Q", title="β here", format=".3g")])
    )
