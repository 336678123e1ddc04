"""A real answered question and the head that found the answer, from a stored trace: no torch."""

import streamlit as st

from core.data.characters import SPACE_GLYPH
from core.figures import attention as figures
from core.figures import attention_row as row_figures
from core.files import read_json
from core.inspection.captions import row_sentence, strongest_head
from core.inspection.fold import fold, word_index, word_labels, written_words
from core.inspection.heads import head_name
from core.inspection.trace_json import trace_from_dict
from core.inspection.traced import AttentionTrace
from core.lessons.reading import list_lessons
from core.paths import ASSETS, LESSONS
from pages.home.cards import show_cards
from pages.shared.charts import show_chart
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
    name, starts = head_name(layer, head), trace.word_starts
    step = written_words(trace.steps, starts, SPACE_GLYPH)[0]
    weights = fold(trace.weights[layer, head], starts)
    contribution = fold(trace.contribution[layer, head], starts)
    row, labels = int(word_index(trace.word_starts)[step.row]), _words(trace)
    title = row_sentence(name, row, weights[row], labels, step)
    _welcome()
    st.markdown(
        f"#### {plain(trace.question)} → **{plain(trace.answer)}**  \n"
        f"A small GPT of our own answers from memory. Of its {trace.n_layers * trace.n_heads} "
        f"heads, {plain(name)} brings most of the name to the place where the answer is written."
    )
    cells = st.grid(8, min_column_width=80, gap="xsmall")
    with cells.cell(column_span=5):
        chart = figures.attention_map(
            weights,
            contribution,
            labels,
            row,
            title=title,
            size=300,
        )
        show_chart(chart, alt=title, main=True)
        st.caption(
            f"Probability of the answer: {percent(trace.probability)}. Rows look, columns are "
            "looked at; grey cells lie in the future. One head rarely explains an answer alone."
        )
    with cells.cell(column_span=3):
        bars = row_figures.row_bars(
            weights[row],
            contribution[row],
            labels,
            row,
            title=f"What it takes to write “{step.label}”",
            height=150,
        )
        show_chart(bars, alt=f"Weights and contributions of row {row}")
    show_cards(trace)


def _welcome() -> None:
    """The product's name, what it is for, and where a newcomer begins."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown("### Attention Explorer  \nSee where a language model looks while it answers.")
        st.page_link(
            "pages/lessons/page.py",
            label="First time here? Begin with the first lesson",
            icon=":material/play_circle:",
            query_params=_first_lesson(),
        )


def _first_lesson() -> dict[str, str]:
    """The query that opens it; without lessons, or with a damaged one, their page says so."""
    try:
        lessons = list_lessons(LESSONS)
    except ValueError:
        lessons = []
    return {"lesson": lessons[0].name} if lessons else {}


def _words(trace: AttentionTrace) -> list[str]:
    return word_labels(trace.labels, trace.word_starts, SPACE_GLYPH)


main()
