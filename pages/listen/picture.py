"""The main picture: the sound, and where one head listens as each character is written; all heads
beside it. A fragment, so that a step redraws this part alone.
"""

from functools import partial

import numpy as np
import streamlit as st

from core.figures import listening as figures
from core.figures.overview import HEAD_SELECTION, heads_grid
from core.figures.thumbnails import thumbnails
from core.inspection.heads import Head, HeadsOff, head_name, parse_head
from core.inspection.heard import Listened
from core.inspection.listened import (
    diagonals,
    most_diagonal,
    quiet_columns,
    spread,
    weights_of,
)
from core.speech.features import band_hertz
from pages.listen import words
from pages.listen.controls import Chosen
from pages.listen.sounds import PREFIX, SECONDS_A_FRAME, Given
from pages.shared import bound, present
from pages.shared.charts import clicked, download_svg, show_chart
from pages.shared.text import whole

HEAD, CHARACTER, OWN = f"{PREFIX}head", f"{PREFIX}character", f"{PREFIX}own"
CHART, GRID = f"{PREFIX}chart", f"{PREFIX}grid"
SIZE = 46  # pixels of a small head


def show_alone(given: Given) -> None:
    """The sound, where nobody listens."""
    title = f"{given.title}, {given.seconds:.2f} s"
    st.markdown(f"**{whole(title)}**")
    chart = figures.sound_map(given.frames, band_hertz(), SECONDS_A_FRAME)
    show_chart(chart, alt=f"Spectrogram: {title}", main=True)


@st.fragment
def show_picture(chosen: Chosen, given: Given, heard: Listened) -> None:
    """Controls; sound and one head; all heads."""
    found = diagonals(heard)
    if not found:
        show_alone(given)
        st.info("This recogniser looks at no part of the sound: there is nothing to draw below it.")
        return
    controls = st.columns([1, 2.4, 0.9], vertical_alignment="bottom")
    with controls[0]:
        at = _choose_head(heard, list(found))
    with controls[1]:
        row = _choose_character(heard)
    with controls[2]:
        own = bound.toggle(
            "Own scale", key=OWN, help="Off: full colour is a weight of 1; on: the largest weight."
        )
    weights = weights_of(heard, at)
    title = words.picture_title(heard, at, row, weights[row].tolist())
    picture, heads = st.columns([3.4, 1], gap="small")
    with picture:
        st.markdown(f"**{whole(title)}**")
        chart = figures.sound_map(
            heard.frames, band_hertz(), SECONDS_A_FRAME, drawn(heard, at, row, own=own)
        )
        key = f"{CHART}-{row}"
        show_chart(chart, alt=title, key=key, on_select=partial(_pick_row, key, heard), main=True)
    with heads:
        _show_heads(heard, at, chosen.off)
    if at in chosen.off.heads:
        st.markdown(f"{head_name(*at)} is off: its weights are shown, and what it gives is zero.")
    measured = spread(weights, quiet_columns(given.samples, heard))
    st.markdown(whole(words.spread_said(given, at, measured)))
    st.caption(
        "Orange is the sound: the louder a band, the fuller. Purple is weight: bars for the chosen "
        "character, a row below for each. Where a head listens is not yet what it takes from there."
    )
    download_svg("Picture", chart.titled(title), f"{head_name(*at)} listens", width=800)


def drawn(heard: Listened, at: Head, row: int, *, own: bool = False) -> figures.Heard:
    """A head as the picture takes it."""
    weights = weights_of(heard, at)
    return figures.Heard(
        weights=weights,
        labels=heard.labels,
        probabilities=[one.probability for one in heard.characters],
        chosen=row,
        seconds_a_column=heard.seconds_a_column,
        top=float(weights.max()) if own else 1.0,
    )


def _choose_head(heard: Listened, heads: list[Head]) -> Head:
    names = [head_name(*head) for head in heads]
    best = most_diagonal(heard) or heads[0]
    at = parse_head(
        bound.selectbox(
            "Head that listens",
            names,
            names.index(head_name(*best)),
            key=HEAD,
            follows=True,
            help="Those of cross-attention; the most diagonal one at first.",
        )
    )
    present.keys_step(HEAD, names, ("Up", "Down"), "Head")
    return at


def _choose_character(heard: Listened) -> int:
    """Which written character is looked at, from 0; the first where there is one alone."""
    labels = {str(i): f"{i + 1}: {label}" for i, label in enumerate(heard.labels)}
    names = list(labels)
    if len(names) == 1:
        st.caption("One character was written.")
        return 0
    chosen = bound.select_slider(
        "Written character",
        names,
        names[len(names) // 2],
        format_func=lambda option: labels.get(option, option),
        key=CHARACTER,
        follows=True,
    )
    present.keys_step(CHARACTER, names, ("Left", "Right"), "Character")
    return int(chosen)


def _pick_row(key: str, heard: Listened) -> None:
    row = clicked(key, figures.ROW_SELECTION, "row")
    if row is not None and row[0] < len(heard.labels):
        st.session_state[CHARACTER] = str(row[0])


def _show_heads(heard: Listened, at: Head, off: HeadsOff) -> None:
    """All heads that listen, as small pictures with their share near the diagonal."""
    found, layers = diagonals(heard), list(heard.layers["cross"])
    scores = np.full((max(layers) + 1, heard.weights["cross"].shape[1]), np.nan)
    for (layer, head), one in found.items():
        scores[layer, head] = one.share
    seen = np.ones(heard.weights["cross"].shape[2:], dtype=np.bool_)
    images = [thumbnails(of_layer, seen) for of_layer in heard.weights["cross"]]
    grid = heads_grid(
        images, scores, at, score_name="near the diagonal", size=SIZE, off=off.heads, layers=layers
    )
    st.markdown("**All heads that listen**")
    key = f"{GRID}-{head_name(*at)}"
    show_chart(
        grid,
        key=key,
        on_select=partial(_pick_head, key, list(found)),
        alt=f"All heads that listen; {head_name(*at)} is chosen",
    )
    uniform = found[at].uniform
    st.caption(f"Number: share of weight near the diagonal (uniform: {uniform:.2f}).")


def _pick_head(key: str, heads: list[Head]) -> None:
    head = clicked(key, HEAD_SELECTION, "layer", "head")
    if head is not None and head in heads:
        st.session_state[HEAD] = head_name(*head)
