"""What the decoder of a recogniser needs: the same steps with one thing taken away at a time."""

import streamlit as st

from core.evaluation.tables import AblationRun, load_ablation
from pages.report_card.table import TABLES
from pages.shared.text import percent, plain, with_interval

LINE, HEAD = 66, 80  # pixels of the table
_HEAD = """\
| decoder | what differs | parameters | character error (95 %) | exact sentences |
|:--|:--|--:|--:|--:|"""


def show_decoders() -> None:
    """A table of `ablation --of hearing`; nothing before it was run."""
    try:
        found = load_ablation(TABLES / "hearing.json")
    except ValueError as error:
        st.error(plain(str(error)))
        return
    if found is None:
        return
    st.markdown(
        f"**What does the decoder need?** {found.length} each, from the beginning, seed "
        f"{found.seed}; {found.runs[0].total:,} {plain(found.split)} sentences, in voices of "
        f"training (`python -m core ablation --of hearing`, {plain(found.machine)})."
    )
    with st.container(height=LINE * len(found.runs) + HEAD, border=False):  # scrolls on a phone
        st.markdown("\n".join([_HEAD, *map(_line, found.runs)]))


def _line(run: AblationRun) -> str:
    cells = [
        plain(run.label),
        plain(run.differs),
        f"{run.n_parameters:,}",
        "–" if run.character_error is None else with_interval(run.character_error),
        percent(run.accuracy),
    ]
    return f"| {' | '.join(cells)} |"
