"""What pretraining buys, and which pretraining: a chart of the ablation, and what differs."""

import streamlit as st

from core.evaluation.tables import Ablation
from core.figures import report as figures
from pages.report_card import words
from pages.shared.charts import show_chart
from pages.shared.text import percent, plain


def show_ablation(found: Ablation | None, problem: str) -> None:
    """The ablation; or why there is none."""
    st.markdown("##### What does pretraining buy, and which pretraining?")
    if problem:
        st.error(plain(problem))
    elif found is None:
        st.info(words.NO_ABLATION, icon=":material/science:")
    else:
        picture, differences = st.columns([1.3, 1])
        with picture:
            _chart(found)
        with differences:
            st.markdown("\n".join(words.run_lines(found)))
            st.markdown(words.ablation_line(found))


def _chart(found: Ablation) -> None:
    base = found.runs[0]
    title = f"The same {found.minutes:.3g} minutes, one thing changed at a time"
    chart = figures.accuracy_bars(
        words.ablation_bars(found),
        [(f"{base.label} {percent(base.accuracy)}", base.accuracy)],
        [],
        title=title,
        axis=f"right answers to {base.total} {found.split} questions",
    )
    show_chart(chart, alt=title)
