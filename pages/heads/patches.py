"""Two questions of the same number of tokens: which activation carries what makes them differ."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.checkpoints.store import Checkpoint
from core.data.characters import legible
from core.figures.signed import Cell, signed_grid
from core.generation.greedy import prompt_ids
from core.inspection.heads import head_name
from core.inspection.patching import Patched, Site
from pages.heads.controls import PREFIX, Measured
from pages.heads.measuring import HEADS, STREAM, load_patched, source_of
from pages.shared import bound
from pages.shared.charts import download_csv, download_json, download_svg, show_chart
from pages.shared.loading import Source
from pages.shared.questions import OTHER_TEXT, as_long, choose_question
from pages.shared.text import plain, sentence, shortened

TABLE_KEY = f"{PREFIX}patch-table"
OTHER = "Marie Curie"
MEANS = (
    "0: the answer stays as likely as it was; 1: the two answers stand to each other as in the "
    "other run; below 0: moved away from it. One site is changed at a time, so what two carry "
    "together may show in neither."
)
SAME = "Both questions get the same answer here: there is nothing that a patch could move."


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The sites as cells; rows are layers or heads, columns positions."""

    cells: list[Cell]
    rows: list[str]
    columns: list[str]


def show_patches(measured: Measured) -> None:
    """Choose two people on the left; every site, how far it moves the answer, and what it means."""
    source = source_of(measured)
    vocabulary = source.load().vocabulary
    with st.sidebar:
        question, _ = choose_question(measured.task, prefix=PREFIX, asked=measured.asked)
        only = bound.toggle(
            "Only names of as many tokens"
            if measured.asked is None
            else "Only prompts of as many tokens",
            value=True,
            key=f"{PREFIX}fits",
            help="Patching goes position by position: other questions are refused.",
        )
        other, _ = choose_question(
            measured.task,
            asked=measured.asked,
            prefix=f"{PREFIX}other-",
            label="The other question",
            texts=("The other text", OTHER_TEXT),
            name=OTHER,
            fits=partial(as_long, vocabulary, question) if only else None,
        )
    what = bound.segmented_control(
        "Taken over from the other run: the residual stream after a layer, or one head's output",
        [STREAM, HEADS],
        default=STREAM,
        required=True,
        key=f"{PREFIX}site",
        label_visibility="collapsed",
    )
    _show(measured, source, question, other, what or STREAM)


def _show(measured: Measured, source: Source, question: str, other: str, what: str) -> None:
    stored = source.load()
    try:
        found = load_patched(source, question, other, what)
    except ValueError as error:
        if as_long(stored.vocabulary, question, other):
            raise
        st.info(sentence(str(error)), icon=":material/info:")  # two lengths are nobody's mistake
        return
    grid = _grid(found, _labels(stored, question, other))
    title = _headline(found, grid)
    st.markdown(f"#### {plain(title)}")
    st.markdown(_setting(found, question, other))
    if not grid.cells:
        st.info(SAME, icon=":material/info:")
        return
    chart = signed_grid(
        grid.cells,
        grid.rows,
        grid.columns,
        reach=None,
        sides=("layer" if what == STREAM else "head", "position (token here | in the other)"),
        name="moved",
        title="",
        angle=-60,
    )
    show_chart(chart, alt=title)
    st.markdown(MEANS)
    rows, name = _frame(found, grid), f"{measured.named} patching"
    with st.container(horizontal=True):
        download_svg("Picture", chart.titled(title), name)
        download_csv("Sites", rows, name)
        download_json("Sites", partial(rows.to_dict, "split"), name)
    box = st.expander("As a table: every site", key=TABLE_KEY, on_change="rerun")
    if box.open:
        box.dataframe(rows.style.format(precision=3, na_rep="–"))


def _labels(stored: Checkpoint, question: str, other: str) -> list[str]:
    """What is read of both, position by position."""
    first, second = (
        stored.vocabulary.labels(prompt_ids(stored, text)) for text in (question, other)
    )
    return [a if a == b else f"{a} | {b}" for a, b in zip(first, second, strict=True)]


def _grid(found: Patched, columns: list[str]) -> Grid:
    """Sites whose effect is a number, at their row and position."""
    rows = list(dict.fromkeys(_row_name(site) for site in found.sites))
    cells = [
        Cell(rows.index(_row_name(site)), site.position, float(moved))
        for site, moved in zip(found.sites, found.moved, strict=True)
        if not np.isnan(moved)
    ]
    return Grid(cells=cells, rows=rows, columns=columns)


def _headline(found: Patched, grid: Grid) -> str:
    """The site that moves the answer furthest."""
    own, others = (legible(answer) or "(nothing)" for answer in found.answers)
    if not grid.cells:
        return f"Both questions get the answer {own}"
    best = max(grid.cells, key=lambda cell: cell.value)
    place = f"{grid.rows[best.row]} at “{grid.columns[best.column]}”"
    return f"{place} alone moves the answer {best.value:.2g} of the way from {own} to {others}"


def _setting(found: Patched, question: str, other: str) -> str:
    """Both questions with the log-probabilities that are moved between."""
    here, there = found.question[1] - found.question[0], found.other[1] - found.other[0]
    return (
        f"{plain(shortened(question))} → **{plain(found.answers[0])}** · "
        f"{plain(shortened(other))} → "
        f"**{plain(found.answers[1])}**. The log-probability of the second answer, less that of "
        f"the first, is {here:.3g} in the one run and {there:.3g} in the other."
    ).replace(" -", " −")


def _frame(found: Patched, grid: Grid) -> pd.DataFrame:
    """A row a site: log-probabilities of both answers, and how far they moved."""
    return pd.DataFrame(
        {
            "site": [_row_name(site) for site in found.sites],
            "position": [site.position for site in found.sites],
            "token": [grid.columns[site.position] for site in found.sites],
            "log p(own answer)": found.patched[:, 0],
            "log p(other answer)": found.patched[:, 1],
            "moved": found.moved,
        }
    )


def _row_name(site: Site) -> str:
    if site.head is None:
        return f"after L{site.layer}"
    return head_name(site.layer, site.head)
