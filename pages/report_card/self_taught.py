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
    "**Self-taught**: a reader, {}trained on the training questions alone, read the sentences of "
    "everybody else, dev and test people too, and wrote a question and its answer for each; the "
    "model practised {} it was sure of{}. No dev or test answer was given to either."
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
        networks = f"{reader.n_nets} small networks " if reader and reader.n_nets > 1 else ""
        which = "those" if all(row.self_taught == 1 for row in taught) else "of those"
        told = "; ".join(filter(None, map(_share, taught)))
        st.markdown(TAUGHT.format(networks, which, f" ({told})" if told else ""))


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
                f"The same {found.length}, with and without the reader's questions",
            )


def _share(row: Row) -> str:
    """How many questions a model practised of how many people; of the sure ones which share."""
    part = f", {percent(row.self_taught)} of the sure ones" if row.self_taught < 1 else ""
    if row.practised is None:
        return f"{plain(row.name)}{part}" if part else ""
    practised, read = row.practised
    return f"{plain(row.name)} {practised:,} of {read:,}{part}"
