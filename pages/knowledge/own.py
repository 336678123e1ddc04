"""Names of the visitor's own: typed or from a table, asked when told to, a row of the pictures."""

from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from core.knowledge import rows, words
from core.knowledge.own_names import HEADERS, MOST_BYTES, MOST_NAMES, OwnName, parse_names
from core.knowledge.record import Group, Knowledge
from pages.knowledge.controls import PREFIX, Chosen
from pages.shared import who
from pages.shared.text import whole
from pages.shared.uploads import KEPT, File, choose_file

NAMES, FILE = f"{PREFIX}names", f"{PREFIX}file"
ASKED = f"{PREFIX}asked"  # in the session: what is to be asked, and of which model
FORM = (
    "In UTF-8, at most 1 MB: a header `name`, or `name` and `place` with a tab between them, then "
    "a name a line."
)
TYPED = "your names"


@dataclass(frozen=True, slots=True)
class ToAsk:
    """Names as they were given; `size` is that of a file before it was cut. The model that they
    are asked `of` is the one that is chosen when they are read first.
    """

    raw: bytes
    size: int
    typed: bool
    of: str = ""


@dataclass(frozen=True, slots=True)
class Own:
    """The group of the visitor's names, or why there is none though it was wanted."""

    group: Group | None = None
    problem: str = ""


def own_names(chosen: Chosen) -> Own:
    """What came of the visitor's names; nothing unless they were to be asked of this very model."""
    wanted: ToAsk | None = st.session_state.get(ASKED)
    if wanted is not None and not wanted.of:
        st.session_state[ASKED] = wanted = replace(wanted, of=_of(chosen))
    if wanted is None or wanted.of != _of(chosen):
        return Own()
    try:
        names = _parsed(wanted)
        from pages.knowledge.measuring import asked_own  # noqa: PLC0415 - loads torch

        return Own(asked_own(chosen, names))
    except ValueError as error:
        return Own(problem=str(error))


def show_own(chosen: Chosen, known: Knowledge, own: Own) -> None:
    """Where names are typed or uploaded, the button, and every answer."""
    st.markdown("#### Names of your own")
    refused = who.refusal("measure")
    typed, table = st.columns(2, gap="medium")
    with typed:
        st.text_area(
            "A name a line",
            key=NAMES,
            placeholder="Ada Lovelace\nAdana Bellova",
            disabled=bool(refused),
            help=f"At most {MOST_NAMES:,}. The place that is true may stand behind a tab.",
        )
    with table:
        choose_file("Or a table", FILE, MOST_BYTES, said=FORM)
    with st.container(horizontal=True):
        st.button(
            "Ask these names",
            key=f"{PREFIX}ask",
            on_click=_ask,
            icon=":material/play_arrow:",
            disabled=bool(refused),
        )
        if own.group is not None:
            st.button("Take them out again", key=f"{PREFIX}forget", on_click=_forget)
    who.say(refused)
    if own.problem:
        st.error("These names cannot be asked.", icon=":material/block:")
        st.text(own.problem)
    if own.group is not None:
        st.markdown(
            f"They are the last row of the pictures above. {whole(words.own_said(own.group))}"
        )
        table_of = rows.example_table(own.group.examples, words.outcome_words(known))
        st.dataframe(pd.DataFrame(table_of), hide_index=True)


def _parsed(wanted: ToAsk) -> tuple[OwnName, ...]:
    if wanted.size > MOST_BYTES:
        raise ValueError(f"{wanted.size:,} bytes; at most {MOST_BYTES:,} are read")
    if wanted.typed:
        return parse_names(wanted.raw, where=TYPED, header=_header(wanted.raw))
    return parse_names(wanted.raw, where="your table")


def _of(chosen: Chosen) -> str:
    return f"{chosen.digest} {chosen.split} {'' if chosen.asked is None else chosen.asked.digest}"


def _header(raw: bytes) -> tuple[str, ...]:
    """What a text without a header has in its columns."""
    return HEADERS[b"\t" in raw]


def _ask() -> None:
    """Names that are typed come before a table."""
    if who.refusal("measure"):
        return
    lines = [line.strip() for line in str(st.session_state.get(NAMES) or "").splitlines()]
    raw = "\n".join(filter(None, lines)).encode()
    file: File | None = st.session_state.get(KEPT + FILE)
    if raw or file is None:
        st.session_state[ASKED] = ToAsk(raw, len(raw), typed=True)
    else:
        st.session_state[ASKED] = ToAsk(file.data, file.size, typed=False)


def _forget() -> None:
    st.session_state.pop(ASKED, None)
