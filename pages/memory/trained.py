"""Models that were trained to recall pairs from a text, each at its best learning rate."""

from functools import partial

import pandas as pd
import streamlit as st

from core.figures.memory import recall_chart
from core.memory.mqar import ALONE, Found, Recall, label
from pages.memory import data, lines
from pages.memory import trained_words as words
from pages.memory.controls import PREFIX, Chosen
from pages.memory.predict import cover, foreseen, verdict
from pages.shared import jobs as job_kit
from pages.shared.charts import download_json, show_chart
from pages.shared.going import file_of
from pages.shared.text import whole

ALONE_HEIGHT = 400  # pixels of the picture


def show_trained(chosen: Chosen) -> None:
    """Covered until something is said; then recall over the pairs, learning rates, and files."""
    record = data.trained()
    models = [one.model for one in record.found if _mechanism(one) in chosen.methods]
    said_of = [model for model in models if model != ALONE]
    if len(said_of) < 2:
        st.info(words.NOT_TRAINED)
        return
    said = foreseen(chosen, "trained", words.WHO_RECALLS, of=said_of)
    if said is None:
        cover(chosen)
        return
    worst = words.recalls_least(record, said_of)
    title = words.title(record, said_of)
    st.markdown(f"##### {whole(title)}")
    verdict(said, worst, words.recalled_least(record, worst))
    chart = recall_chart(lines.trained(record, models), title="", height=ALONE_HEIGHT)
    picture, table = st.columns([1.5, 1], gap="medium")
    with picture:
        show_chart(chart, alt=f"Share recalled against pairs. {title}", main=True)
    with table:
        st.dataframe(words.rows(record, models), hide_index=True, height="content")
        st.page_link(
            file_of("training"),
            label="Train one of them",
            icon=":material/model_training:",
            query_params={"training-corpus": "pairs"},
        )
    st.markdown(whole(words.meaning(record, models)))
    st.caption(whole(words.how(record)))
    with st.expander("Learning rates that were tried"):
        st.dataframe(words.rate_rows(record, models), hide_index=True, height="content")
        st.caption(words.RATES_MEAN)
        st.code(record.command, language=None)
    job_kit.show_files(
        "As table and files",
        {"Recalled": chart.titled(title)},
        partial(_table, record, models),
        key=f"{PREFIX}text-files",
        more=partial(download_json, "Report", record.to_dict, "memory-mqar"),
    )


def _mechanism(found: Found) -> str:
    return "softmax" if found.model == ALONE else found.model


def _table(record: Recall, models: list[str]) -> pd.DataFrame:
    """A row a model, seed and number of pairs."""
    rows = [
        {
            "model": label(found.model),
            "learning rate": found.rate,
            "seed": one.seed,
            "pairs": n,
            "recalled": one.recalled[str(n)],
        }
        for found in record.of(models)
        for one in found.seeds
        for n in record.pairs
    ]
    return pd.DataFrame(rows)
