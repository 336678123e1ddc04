"""Singular values of a shipped model's heads, beside Linformer's numbers of rows."""

import streamlit as st

from core import paths
from core.checkpoints.shelf import list_checkpoints
from core.checkpoints.store import CheckpointError
from core.data.biographies import biographies
from core.figures.approximation import spectrum_chart
from core.inspection.spectrum import Spectra, spectra
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.loading import checkpoint_digest, load_model, people
from pages.shared.text import plain

DEFAULT = "notable-pretrained"
ROWS, SHARE = (16, 32, 64), 0.9


def show_spectrum() -> None:
    """Choose a checkpoint; how quickly its heads' values fall over a text as long as it reads."""
    names = list_checkpoints(paths.CHECKPOINTS)
    if not names:
        st.caption("There is no checkpoint whose heads could be looked at.")
        return
    usual = names.index(DEFAULT) if DEFAULT in names else 0
    name = bound.selectbox("Heads of", names, usual, key="rt-heads-of", follows=True)
    try:
        found = _spectra(name, checkpoint_digest(name, None))
    except (CheckpointError, ValueError) as error:
        st.text(str(error))
        return
    ranks = found.rank_for(SHARE)
    title = (
        f"{SHARE:.0%} of the sum takes {ranks.min()} to {ranks.max()} of {found.n_tokens} values"
    )
    shown = [k for k in ROWS if k < found.n_tokens]
    chart = spectrum_chart(found.cumulative, shown, title=title, height=240)
    show_chart(chart, alt=f"{title}; a line for each head of {name}")
    st.markdown(
        f"Each line is a head of {plain(name)} over {found.n_tokens} tokens of biographies. "
        "Linformer's map has rank k at most (orange lines): a head whose line is flat at the top "
        "before k could be replaced, one that rises slowly could not. A causal map always has full "
        "rank, and Linformer has no causal form: its rows mix all positions."
    )


@st.cache_resource(max_entries=8, show_spinner="Looking at the heads")
def _spectra(name: str, digest: str) -> Spectra:
    stored = load_model(name, None, digest)
    lines = biographies(people()[:60], n_sentences=1, seed=0)
    text = " ".join(line.text for line in lines)
    return spectra(stored, text)
