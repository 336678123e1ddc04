"""Ask it: the name that was heard goes into the model of birthplaces, and both attentions stand
side by side: where it was listened, and where was looked.
"""

import streamlit as st

from core.data.characters import SPACE_GLYPH
from core.data.task import NOTABLE
from core.figures import attention as figures
from core.figures.listening import Heard, sound_map
from core.inspection.captions import row_sentence, strongest_head
from core.inspection.fold import fold, word_index, word_labels, written_words
from core.inspection.heads import head_name
from core.inspection.heard import Listened
from core.inspection.listened import most_diagonal, weighed_seconds, weights_of
from core.inspection.traced import AttentionTrace
from core.paths import CHECKPOINTS
from core.speech.asking import Nearest, asked_span, nearest, spelled
from core.speech.features import band_hertz
from pages.listen import words
from pages.listen.sounds import PREFIX, SECONDS_A_FRAME
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.choosing import DEFAULT_CHECKPOINT
from pages.shared.loading import load_trace, people, shipped
from pages.shared.text import percent, plain, verdict_badge, whole

KNOWN, HEARD = "nearest", "heard"
LABELS = {KNOWN: "Nearest known name", HEARD: "As it was heard"}
SHOWN = 300  # pixels


def show_ask(heard: Listened) -> None:
    """The name, who is nearest, the answer; why not where no question was heard."""
    st.markdown("#### Ask it")
    span = asked_span(heard.text)
    if span is None:
        st.markdown("No “where was NAME born” was heard: there is no name to ask about.")
        return
    name = heard.text[slice(*span)]
    found = _nearest(name)
    st.markdown(whole(words.nearest_said(name, found)))
    if not (CHECKPOINTS / DEFAULT_CHECKPOINT).is_dir():
        st.caption(f"{plain(DEFAULT_CHECKPOINT)}, which answers, is not here.")
        return
    asked = _choose_name(name, found)
    try:
        trace = load_trace(shipped(DEFAULT_CHECKPOINT, None), NOTABLE.template.question(asked))
    except ValueError as error:
        st.error("This name cannot be asked.", icon=":material/block:")
        st.text(str(error))
        return
    _show_answer(asked, trace)
    listened, looked = st.columns(2, gap="medium")
    with listened:
        _show_listened(heard, slice(*span))
    with looked:
        _show_looked(trace)


@st.cache_data(max_entries=256, show_spinner=False)
def _nearest(name: str) -> Nearest:
    return nearest(name, [person.name for person in people()])


def _choose_name(name: str, found: Nearest) -> str:
    how = bound.segmented_control(
        "Asked with",
        list(LABELS),
        default=KNOWN,
        required=True,
        format_func=LABELS.__getitem__,
        key=f"{PREFIX}ask",
    )
    if how == HEARD:
        return spelled(name)
    if len(found.names) == 1:
        return found.names[0]
    return bound.selectbox(
        "Of those as near", found.names, key=f"{PREFIX}who", follows=True, width=360
    )


def _show_answer(asked: str, trace: AttentionTrace) -> None:
    true = next((one.birthplace for one in people() if one.name == asked), None)
    st.markdown(
        f"{plain(trace.question)} → **{plain(trace.answer)}**, {percent(trace.probability)}"
        f"{verdict_badge(true, trace.answer)}"
    )
    st.page_link(
        "pages/attention/page.py",
        label="All heads of this answer",
        icon=":material/grid_on:",
        query_params={"source": "type freely", "question": trace.question},
    )


def _show_listened(heard: Listened, rows: slice) -> None:
    """The rows that wrote the name."""
    at = most_diagonal(heard)
    if at is None:
        st.caption("This recogniser looks at no part of the sound.")
        return
    weights = weights_of(heard, at)[rows]
    title = f"Where it listened: {head_name(*at)}, the name"
    chart = sound_map(
        heard.frames,
        band_hertz(),
        SECONDS_A_FRAME,
        Heard(
            weights=weights,
            labels=heard.labels[rows],
            probabilities=[one.probability for one in heard.characters[rows]],
            chosen=0,
            seconds_a_column=heard.seconds_a_column,
        ),
    )
    st.markdown(f"**{plain(title)}**")
    show_chart(chart, alt=title)
    st.caption(f"Its letters listen at {weighed_seconds(heard, weights):.2f} s on average.")


def _show_looked(trace: AttentionTrace) -> None:
    """The head that brings most of the answer, folded to words."""
    layer, head = strongest_head(trace)
    starts = trace.word_starts
    step = written_words(trace.steps, starts, SPACE_GLYPH)[0]
    weights = fold(trace.weights[layer, head], starts)
    labels = word_labels(trace.labels, starts, SPACE_GLYPH)
    row = int(word_index(starts)[step.row])
    title = row_sentence(head_name(layer, head), row, weights[row], labels, step)
    chart = figures.attention_map(
        weights, fold(trace.contribution[layer, head], starts), labels, row, size=SHOWN
    )
    st.markdown(f"**Where it looked: {plain(title)}**")
    show_chart(chart, alt=title)
