"""Models that taught themselves: what they were given and what not, and what it buys."""

from collections.abc import Sequence

import streamlit as st

from core.evaluation.reader_figures import ReaderFigures, load_reader
from core.evaluation.report_card import Row
from core.evaluation.tables import load_ablation
from pages.report_card.pretraining import show_runs
from pages.report_card.table import TABLES
from pages.shared.text import percent, plain

TAUGHT = (
    "**Self-taught**: a reader, {}trained on the training questions alone, read every person's "
    "sentence and wrote a question and its answer for everybody; the model practised {} it was "
    "sure of. No dev or test answer was given to either."
)


def read_reader() -> tuple[ReaderFigures | None, str]:
    """What the reader reaches, once it was recorded; or what is wrong with its file."""
    try:
        return load_reader(TABLES / "reader.json"), ""
    except ValueError as error:
        return None, str(error)


def show_taught(rows: Sequence[Row], reader: ReaderFigures | None) -> None:
    """What self-taught rows were given and what not; nothing where there is none."""
    taught = [row for row in rows if row.self_taught]
    if taught:
        parts = [
            f" {plain(row.name)} practised {percent(row.self_taught)} of these."
            for row in taught
            if row.self_taught < 1
        ]
        st.markdown(_given(reader) + "".join(parts))


def show_self_teaching() -> None:
    """The same minutes with more and more of the reader's questions; nothing before it was run."""
    try:
        found = load_ablation(TABLES / "self_taught.json")
    except ValueError as error:
        st.error(plain(str(error)))
        return
    if found is not None:
        with st.expander("What do questions buy that it wrote itself?"):
            show_runs(
                found,
                f"The same {found.minutes:.3g} minutes, with and without the reader's questions",
            )


def _given(reader: ReaderFigures | None) -> str:
    """With the reader's own numbers where they are recorded."""
    if reader is None:
        return TAUGHT.format("", "those")
    networks = f"{reader.n_nets} small networks " if reader.n_nets > 1 else "a small network "
    return TAUGHT.format(networks, f"the {reader.kept:,} of {reader.written:,}")
