"""The table of all heads: from the record beside the weights, or measured when it is wanted."""

import shlex

import streamlit as st

from core.inspection.head_rows import HeadTable
from pages.heads.controls import PREFIX, SPLITS, Choice
from pages.shared.records import problem_of, record_of
from pages.shared.text import plain

WANTED = f"{PREFIX}wanted"  # what was asked to be measured, in this session
MOST_WANTED = 20


def table_of(choice: Choice) -> HeadTable | None:
    """The table at hand, None if it is neither recorded nor wanted."""
    record = record_of(choice.checkpoint, choice.digest, choice.split)
    if record is not None:
        return record.tables[choice.mode]
    if _key(choice) not in st.session_state.get(WANTED, ()):
        return None
    from pages.heads.measuring import measured_table  # noqa: PLC0415 - loads torch

    return measured_table(choice)


def offer_to_measure(choice: Choice) -> None:
    """Why there is no table yet, and the button that measures one."""
    st.markdown(f"#### Every head of {plain(choice.named)}")
    if problem := problem_of(choice.checkpoint, choice.digest, choice.split):
        st.caption(f"The recorded table cannot be used: {plain(problem)}")
    st.info(
        f"No table of these weights is recorded for the questions {plain(SPLITS[choice.split])}. "
        "Every head is switched off in turn while all of them are answered: seconds for a small "
        "model, a minute or more for one of characters.",
        icon=":material/hourglass_empty:",
    )
    st.button(
        "Measure every head now",
        key=f"{PREFIX}measure",
        on_click=_want,
        args=(_key(choice),),
        icon=":material/play_arrow:",
    )
    if choice.snapshot is None:
        st.markdown("Or once and for all, from the command line:")
        st.code(_command(choice), language="bash", wrap_lines=True)


def _command(choice: Choice) -> str:
    corpus = "" if choice.corpus == "notable" else ' --corpus "$A5_DATA"'
    return (
        f"python -m core heads --checkpoint {shlex.quote(choice.checkpoint)}{corpus} "
        f"--split {choice.split} --record"
    )


def _want(key: str) -> None:
    wanted = st.session_state.get(WANTED, ())
    st.session_state[WANTED] = (*wanted, key)[-MOST_WANTED:]


def _key(choice: Choice) -> str:
    return f"{choice.digest} {choice.split} {choice.mode}"
