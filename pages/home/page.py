"""A real answered question and the head that found the answer, from a stored trace: no torch."""

import streamlit as st

from core.checkpoints.files import read_json
from core.cli.paths import ASSETS
from core.figures import attention as figures
from core.figures.thumbnails import contact_sheet
from core.inspection.captions import head_name, row_sentence, strongest_head
from core.inspection.record import AttentionTrace, trace_from_dict
from pages.shared.text import percent, plain

STORED = ASSETS / "home_trace.json"


@st.cache_resource(max_entries=1)
def stored_trace(modified: float) -> AttentionTrace:
    """The trace that `python -m core trace … --out assets/home_trace.json` wrote."""
    return trace_from_dict(read_json(STORED))


def main() -> None:
    """One question, one head, one row, one sentence, and the way on."""
    trace = stored_trace(STORED.stat().st_mtime)
    layer, head = strongest_head(trace)
    name, step = head_name(layer, head), trace.steps[0]
    weights, contribution = trace.weights[layer, head], trace.contribution[layer, head]
    title = row_sentence(name, step.row, weights[step.row], trace.labels, step)
    st.markdown(
        f"## {plain(trace.question)} → **{plain(trace.answer)}**  \n"
        "A small GPT, trained in this repository, recalls birthplaces. "
        f"Of its {trace.n_layers * trace.n_heads} attention heads, {plain(name)} brings most of "
        "the name to the place where the answer is written."
    )
    picture, row = st.columns([2, 1.2])
    with picture:
        chart = figures.attention_map(
            weights,
            contribution,
            trace.labels,
            step.row,
            title=title,
            scores=trace.scores[layer, head],
            size=340,
        )
        st.altair_chart(chart, alt=title)
        st.caption(
            f"Probability of the answer: {percent(trace.probability)}. Rows look, columns are "
            "looked at; grey cells lie in the future. One head rarely explains an answer alone."
        )
    with row:
        bars = figures.row_bars(
            weights[step.row],
            contribution[step.row],
            trace.labels,
            step.row,
            title=f"What it takes from each key to write “{step.label}”",
            height=170,
        )
        st.altair_chart(bars, alt=f"Weights and contributions of row {step.row}")
        with st.container(border=True):
            st.page_link(
                "pages/attention/page.py",
                label="**Attention: every head, anybody**",
                icon=":material/grid_on:",
            )
            st.image(
                contact_sheet(trace.weights), width="stretch", caption="All heads, this question"
            )


main()
