"""What is kept while a model writes: a cache that grows with the text, or a state that does not."""

from functools import partial

import pandas as pd
import streamlit as st

from core.figures.memory import bytes_chart
from core.memory.generation import LENGTHS, Kept, kept_by_methods, kept_by_models
from core.memory.names import label
from pages.memory import lines, words
from pages.memory.controls import PREFIX, Chosen
from pages.shared import bound, present
from pages.shared import jobs as job_kit
from pages.shared.charts import download_json, show_chart
from pages.shared.text import whole

NARROWEST = 400  # pixels of a picture
LENGTH = f"{PREFIX}tokens"
USUAL = "131,072"


def show_generation(chosen: Chosen) -> None:
    """One head of each mechanism beside whole models, and the formulas below."""
    options = [f"{length:,}" for length in LENGTHS]
    asked = bound.select_slider("Tokens written so far", options, USUAL, key=LENGTH)
    present.keys_step(LENGTH, options, ("Left", "Right"), "Tokens")
    length = LENGTHS[options.index(asked)]
    heads, models = kept_by_methods(chosen.spec), kept_by_models()
    title = words.generation_title(models, length)
    st.markdown(f"##### {whole(title)}")
    of_models = bytes_chart(lines.of_models(models), at=length, title="One text in named models")
    of_heads = bytes_chart(
        lines.of_heads(heads, chosen.methods),
        at=length,
        title=f"One head of {chosen.spec.dim} numbers",
    )
    pictures = st.grid(2, min_column_width=NARROWEST)
    with pictures.cell():
        show_chart(of_models, alt=f"Bytes kept against tokens. {title}", main=True)
        st.dataframe(words.model_rows(models, length), hide_index=True, height="content")
    with pictures.cell():
        show_chart(of_heads, alt="Bytes kept by one head of each mechanism against tokens")
        rows = words.head_rows(heads, chosen.methods, length)
        st.dataframe(rows, hide_index=True, height="content")
    st.markdown(whole(words.GENERATION_MEANS))
    st.caption(whole(words.BYTES))
    job_kit.show_files(
        "As table and files",
        {"Models": of_models, "Heads": of_heads},
        partial(_table, heads, models, chosen.methods),
        key=f"{PREFIX}generation-files",
        more=partial(download_json, "Report", partial(_report, heads, models), "memory-generation"),
    )


def _report(heads: Kept, models: Kept) -> dict[str, object]:
    """As the command line prints it."""
    return {"lengths": list(models.lengths), "models": models.n_bytes, "head": heads.n_bytes}


def _table(heads: Kept, models: Kept, methods: tuple[str, ...]) -> pd.DataFrame:
    """A row a mechanism or model, and length."""
    of_heads = {f"one head of {label(method)}": heads.n_bytes[method] for method in methods}
    rows = [
        {"of": name, "tokens": length, "bytes": n_bytes}
        for name, row in {**of_heads, **models.n_bytes}.items()
        for length, n_bytes in zip(models.lengths, row, strict=True)
    ]
    return pd.DataFrame(rows)
