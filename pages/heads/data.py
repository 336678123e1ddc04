"""The table of all heads: from the record beside the weights, or measured when it is wanted."""

import shlex

import streamlit as st

from core.inspection.head_rows import HeadTable
from pages.heads.controls import PREFIX, SPLITS, Measured
from pages.shared.records import problem_of, record_of
from pages.shared.text import plain

WANTED = f"{PREFIX}wanted"  # what was asked to be measured, in this session
MOST_WANTED = 20


def table_of(measured: Measured) -> HeadTable | None:
    """The table at hand, None if it is neither recorded nor wanted."""
    record = record_of(measured.checkpoint, measured.digest, measured.split)
    if record is not None:
        return record.tables[measured.mode]
    if _key(measured) not in st.session_state.get(WANTED, ()):
        return None
    from pages.heads.measuring import measured_table  # noqa: PLC0415 - loads torch

    return measured_table(measured)


def offer_to_measure(measured: Measured) -> None:
    """Why there is no table yet, and the button that measures one."""
    st.markdown(f"#### Every head of {plain(measured.named)}")
    if problem := problem_of(measured.checkpoint, measured.digest, measured.split):
        st.caption(f"The recorded table cannot be used: {plain(problem)}")
    st.info(
        f"No table of these weights is recorded for the questions {plain(SPLITS[measured.split])}. "
        "Every head is switched off in turn while all of them are answered: seconds for a small "
        "model, a minute or more for one of characters.",
        icon=":material/hourglass_empty:",
    )
    st.button(
        "Measure every head now",
        key=f"{PREFIX}measure",
        on_click=_want,
        args=(_key(measured),),
        icon=":material/play_arrow:",
    )
    if measured.snapshot is None:
        st.markdown("Or once and for all, from the command line:")
        st.code(_command(measured), language="bash", wrap_lines=True)


def _command(measured: Measured) -> str:
    shipped = measured.task is None or measured.task.is_shipped
    corpus = "" if shipped else ' --corpus "$A5_DATA"'
    return (
        f"python -m core heads --checkpoint {shlex.quote(measured.checkpoint)}{corpus} "
        f"--split {measured.split} --record"
    )


def _want(key: str) -> None:
    wanted = st.session_state.get(WANTED, ())
    st.session_state[WANTED] = (*wanted, key)[-MOST_WANTED:]


def _key(measured: Measured) -> str:
    return f"{measured.digest} {measured.split} {measured.mode}"
