"""All heads of a trace: small pictures, and where they are many one cell a head and a table.

What is made for them is kept: a change of head draws only what changed.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from core.figures import overview as figures
from core.figures.template import Figure
from core.inspection.blocks import group_size
from core.inspection.heads import Head, head_name, parse_head
from core.inspection.scores import HeadScores
from core.inspection.trace_scores import trace_baseline, trace_scores
from pages.attention.view import MEANINGS, SCORES, View, grid_scores, pictures
from pages.shared import bound
from pages.shared.charts import clicked, show_chart

GRID_KEY, MATRIX_KEY, TABLE_KEY = "heads-chart", "matrix-chart", "heads-table"
WIDE_SIZE, UNDER_SIZE = 32, 28  # pixels: of a picture whose score stands under it
# Beside it: eight heads fit into the first view of 1280x720; by layers, what their column has room
# for.
LEAST_BESIDE, ROOM = 34, 330
MOST_BESIDE = {1: 64, 2: 52, 3: LEAST_BESIDE}
MOST_PICTURES, MOST_COARSE = 96, 288  # heads with a picture of 48 cells a side, and of 24
FINE, COARSE = 48, 24
MOST_TALL = 16  # heads of a layer that stand below one another


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Which heads are looked at, the chosen one, and one score of each."""

    view: View
    layers: list[int]
    head: Head
    score: str
    scores: NDArray[np.float64]
    baseline: str

    @property
    def is_large(self) -> bool:
        """Whether there are more heads than one look takes in."""
        n_heads = self.view.trace.n_heads
        return n_heads > MOST_TALL or n_heads * len(self.layers) > MOST_PICTURES

    @property
    def group(self) -> int:
        return group_size(self.view.trace)


def overview(view: View, layers: list[int], at: Head, score: str) -> Overview:
    """The overview of some layers, its numbers from the cache where they were made before."""
    both = _scores(view.digest, view.no_first, view)
    scores, baseline = grid_scores(view, both, score, layers)
    scores = np.where(view.trace.not_recorded, np.nan, scores)
    return Overview(
        view=view, layers=layers, head=at, score=score, scores=scores, baseline=baseline
    )


@st.cache_data(max_entries=64, show_spinner="Scoring every head")
def _scores(digest: str, no_first: bool, _view: View) -> tuple[HeadScores, HeadScores]:  # noqa: FBT001
    trace = _view.trace
    return trace_scores(trace, no_first=no_first), trace_baseline(trace, no_first=no_first)


@st.cache_data(max_entries=512, show_spinner=False)
def _pictures(
    digest: str, drawn: tuple[bool, bool], layer: int, most: int, _view: View
) -> list[str]:
    return pictures(_view, layer, most)


def show_grid(given: Overview) -> Figure:
    """Every head as a picture."""
    st.markdown(f"**All heads** (uniform: {given.baseline})")
    chart = _show_pictures(given, given.layers, wide=False)
    st.caption(f"Number: {MEANINGS[given.score]}.")
    return chart


def show_matrix(given: Overview) -> Figure:
    """Every head as one cell."""
    known = np.abs(given.scores[given.layers])
    top = float(np.nanmax(known, initial=0.0))
    st.markdown(f"**All heads** (uniform: {given.baseline})")
    chart = figures.head_matrix(
        given.scores,
        given.head,
        score_name=MEANINGS[given.score],
        layers=given.layers,
        off=given.view.trace.ablated,
        group=given.group,
    )
    name = head_name(*given.head)
    key = f"{MATRIX_KEY}-{name}"
    meaning = MEANINGS[given.score]
    show_chart(
        chart,
        key=key,
        on_select=partial(_pick, key, given.view.trace.heads),
        alt=f"One cell a head, {meaning}; {name} is chosen",
    )
    between = "; lines part heads that share keys and values" if given.group > 1 else ""
    st.caption(f"A cell a head: {meaning}; full colour is {top:.2g}{between}.")
    return chart.titled(meaning)


def show_range(given: Overview) -> Figure:
    """The pictures of some layers, chosen on a slider."""
    names = [head_name(layer, 0).split("·")[0] for layer in given.layers]
    chosen = given.layers
    if len(names) > 1:
        low, high = bound.range_slider(
            "Layers with pictures", names, _usual(given, names), key="layers", follows=True
        )
        chosen = given.layers[names.index(low) : names.index(high) + 1]
    most = max(1, MOST_COARSE // given.view.trace.n_heads)
    drawn = chosen[:most]
    if len(drawn) < len(chosen):
        st.caption(
            f"Pictures are drawn of up to {MOST_COARSE} heads: here those of L{drawn[0]} to "
            f"L{drawn[-1]}."
        )
    if given.group > 1:
        st.caption(_groups(given))
    return _show_pictures(given, drawn, wide=True)


def show_table(given: Overview, offered: list[str]) -> None:
    """Every score of every head, those with most of the chosen one first; a row can be chosen."""
    box = st.expander(
        f"All heads as a table, by {SCORES[given.score]}", key=TABLE_KEY, on_change="rerun"
    )
    if not box.open:
        return
    table = scores_table(given, offered)
    key = f"{TABLE_KEY}-{head_name(*given.head)}"
    box.dataframe(
        table.style.format(precision=3),
        hide_index=True,
        key=key,
        on_select=partial(_pick_row, key, table["head"].tolist()),
        selection_mode="single-row",
    )


def scores_table(given: Overview, offered: list[str]) -> pd.DataFrame:
    """A row a head: its name, whose keys and values it has, and every score that is offered."""
    both = _scores(given.view.digest, given.view.no_first, given.view)
    heads = [head for head in given.view.trace.heads if head[0] in given.layers]
    columns: dict[str, list[object]] = {"head": [head_name(*head) for head in heads]}
    if given.group > 1:
        columns["keys and values"] = [f"kv{head // given.group}" for _, head in heads]
    for score in offered:
        values = grid_scores(given.view, both, score, given.layers)[0]
        columns[SCORES[score]] = [float(values[head]) for head in heads]
    frame = pd.DataFrame(columns)
    return frame.sort_values(
        SCORES[given.score], ascending=False, kind="stable", na_position="last"
    )


def _usual(given: Overview, names: list[str]) -> tuple[str, str]:
    """The layers around the chosen head, in steps: a click on a neighbour moves nothing."""
    n_layers = max(1, MOST_PICTURES // given.view.trace.n_heads)
    place = given.layers.index(given.head[0]) if given.head[0] in given.layers else 0
    first = place // n_layers * n_layers
    return names[first], names[min(first + n_layers, len(names)) - 1]


def _groups(given: Overview) -> str:
    """Which query heads share a key/value head, in words."""
    size, n_heads = given.group, given.scores.shape[1]
    named = [
        f"kv{first // size}: H{first} to H{first + size - 1}" for first in range(0, n_heads, size)
    ]
    return f"Query heads that share keys and values: {', '.join(named)}."


def _show_pictures(given: Overview, layers: list[int], *, wide: bool) -> Figure:
    view, name, meaning = given.view, head_name(*given.head), MEANINGS[given.score]
    most = FINE if len(layers) * view.trace.n_heads <= MOST_PICTURES else COARSE
    chart = figures.heads_grid(
        [
            _pictures(view.digest, (view.folded, view.no_first), layer, most, view)
            for layer in layers
        ],
        given.scores,
        given.head,
        score_name=meaning,
        size=WIDE_SIZE if wide else _size(given),
        beside=not wide and len(layers) in MOST_BESIDE,
        off=view.trace.ablated,
        layers=layers,
        group=given.group,
        wide=wide,
    )
    # A new key for each choice forgets the click, so that the same head can be clicked again.
    key = f"{GRID_KEY}-{name}"
    where = f" of L{layers[0]} to L{layers[-1]}" if wide else ""
    show_chart(
        chart,
        key=key,
        on_select=partial(_pick, key, given.view.trace.heads),
        alt=f"Small pictures of all heads{where} with {meaning}; {name} is chosen",
    )
    return chart.titled(meaning)


def _size(given: Overview) -> int:
    """Of a picture: as large as its column and the first view of a screen allow."""
    most = MOST_BESIDE.get(len(given.layers))
    if most is None:
        return UNDER_SIZE
    return max(LEAST_BESIDE, min(most, ROOM // given.view.trace.n_heads))


def _pick(key: str, heads: Collection[Head]) -> None:
    head = clicked(key, figures.HEAD_SELECTION, "layer", "head")
    if head is not None and head in heads:
        st.session_state["head"] = head_name(*head)


def _pick_row(key: str, names: list[str]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows and rows[0] < len(names):
        st.session_state["head"] = head_name(*parse_head(names[rows[0]]))
