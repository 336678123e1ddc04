"""How many pairs each memory gives back, beside its theory."""

from functools import partial

import pandas as pd
import streamlit as st

from core.figures.memory import recall_chart
from core.memory.capacity import Capacity
from core.memory.names import label
from pages.memory import data, lines, words
from pages.memory.controls import PREFIX, Chosen
from pages.memory.predict import cover, foreseen, verdict
from pages.shared import jobs as job_kit
from pages.shared.charts import download_json, show_chart
from pages.shared.text import whole

ALONE = 400  # pixels: height of the picture


def show_capacity(chosen: Chosen) -> None:
    """Covered until something is said; then the shares, where half is lost, and the files."""
    said = foreseen(chosen, "first", words.WHO_FORGETS)
    if said is None:
        cover(chosen)
        return
    found = data.capacity(chosen.spec, chosen.pairs)
    first = found.forgets_first(chosen.methods)
    title = words.capacity_title(found, chosen.methods)
    st.markdown(f"##### {whole(title)}")
    verdict(said, first, words.forgets_first(found, first))
    chart = recall_chart(lines.recalled(found, chosen.methods), title="", height=ALONE)
    picture, table = st.columns([1.9, 1], gap="medium")
    with picture:
        show_chart(chart, alt=f"Share recalled against pairs. {title}", main=True)
    with table:
        st.dataframe(words.halves(found, chosen.methods), hide_index=True, height="content")
    st.markdown(whole(words.capacity_meaning(found, chosen.methods)))
    st.caption(whole(words.capacity_how(found)))
    job_kit.show_files(
        "As table and files",
        {"Recalled": chart.titled(title)},
        partial(_table, found, chosen.methods),
        key=f"{PREFIX}capacity-files",
        more=partial(download_json, "Report", found.to_dict, "memory-capacity"),
    )


def _table(found: Capacity, methods: tuple[str, ...]) -> pd.DataFrame:
    """A row a mechanism and number of pairs."""
    rows = [
        {
            "mechanism": label(method),
            "pairs": n,
            "recalled": rate.value,
            "low": rate.low,
            "high": rate.high,
            "theory": theory,
        }
        for method in methods
        for n, rate, theory in zip(
            found.pairs,
            found.recalled[method],
            found.theory[method] or [None] * len(found.pairs),
            strict=True,
        )
    ]
    return pd.DataFrame(rows)
