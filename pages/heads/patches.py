"""Two questions of the same number of tokens: which activation carries what makes them differ."""

from functools import partial

import streamlit as st

from core.figures.signed import signed_grid
from pages.heads import patch_words as said
from pages.heads.asking import HEADS, STREAM, load_patched
from pages.heads.controls import PREFIX, Choice
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.files import download_csv, download_json, download_svg
from pages.shared.loading import Source, shipped
from pages.shared.questions import as_long, choose_question
from pages.shared.text import plain

TABLE_KEY = f"{PREFIX}patch-table"
OTHER = "Marie Curie"


def show_patches(choice: Choice) -> None:
    """Choose two people on the left; every site, how far it moves the answer, and what it means."""
    source = shipped(choice.checkpoint, choice.snapshot)
    vocabulary = source.load().vocabulary
    with st.sidebar:
        question, _ = choose_question(choice.corpus, prefix=PREFIX)
        only = bound.toggle(
            "Only names of as many tokens",
            value=True,
            key=f"{PREFIX}fits",
            help="Patching goes position by position: other questions are refused.",
        )
        other, _ = choose_question(
            choice.corpus,
            prefix=f"{PREFIX}other-",
            label="The other question",
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
    _show(choice, source, question, other, what or STREAM)


def _show(choice: Choice, source: Source, question: str, other: str, what: str) -> None:
    vocabulary = source.load().vocabulary
    try:
        found = load_patched(source, question, other, what)
    except ValueError as error:
        if as_long(vocabulary, question, other):
            raise
        st.info(plain(str(error)), icon=":material/info:")  # two lengths are nobody's mistake
        return
    grid = said.grid_of(found, said.labels(vocabulary, question, other))
    title = said.headline(found, grid)
    st.markdown(f"#### {plain(title)}")
    st.markdown(said.setting(found, question, other))
    if not grid.cells:
        st.info(said.SAME, icon=":material/info:")
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
    st.markdown(said.MEANS)
    rows, name = said.frame(found, grid), f"{choice.named} patching"
    with st.container(horizontal=True):
        download_svg("Picture", chart.titled(title), name)
        download_csv("Sites", rows, name)
        download_json("Sites", partial(rows.to_dict, "split"), name)
    box = st.expander("As a table: every site", key=TABLE_KEY, on_change="rerun")
    if box.open:
        box.dataframe(rows.style.format(precision=3, na_rep="–"))
