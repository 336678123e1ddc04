"""Whether it is right as often as it says, and what gives away whom it never read about."""

import streamlit as st

from core.figures import knowledge_measures as figures
from core.knowledge import rows, words
from core.knowledge.record import SIGNALS, Knowledge
from pages.shared.charts import show_chart
from pages.shared.text import plain, whole


def show_signals(known: Knowledge) -> None:
    """Two pictures side by side: calibration, and the signals with the line of a coin."""
    curve, signals = st.columns(2, gap="medium")
    with curve:
        title = words.calibration_title(known)
        st.markdown(f"#### Is it right as often as it says?\n**{whole(title)}.**")
        show_chart(figures.calibration(*rows.calibrated(known)), alt=title)
        st.caption(words.CALIBRATION_MEANS)
    with signals:
        title = words.signals_title(known)
        st.markdown(f"#### What gives it away?\n**{whole(title)}.**")
        if known.auroc:
            named, dots = rows.signals(known)
            chart = figures.interval_rows(
                named,
                dots,
                axis=rows.AUROC_AXIS,
                ends=rows.signal_ends(known),
                line=rows.COIN,
                in_percent=False,
            )
            show_chart(chart, alt=title)
        if verdict := words.attention_verdict(known):
            st.markdown(whole(verdict))
        st.caption(whole(words.signals_meaning(known)))
    for signal, name in SIGNALS.items():
        if signal in known.lacking:
            st.caption(plain(f"Without {name}: {known.lacking[signal]}"))
