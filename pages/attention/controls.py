"""What is looked at: checkpoint, moment, question. Every choice is in the URL."""

from dataclasses import dataclass

import streamlit as st

from core.checkpoints.store import list_checkpoints, snapshot_steps
from core.cli.paths import CHECKPOINTS
from core.data.people import Person, question_text, split_of
from core.inspection.record import AttentionTrace
from pages.attention.view import ARCS, MAP, MOST_ARC_TOKENS, PARTS, View, make_view
from pages.shared.loading import people

DEFAULT_CHECKPOINT = "notable-pretrained"
DEFAULT_NAME = "Ada Lovelace"
TYPED = "type"
SOURCES = {
    "train": "asked in training",
    "dev": "never asked (dev)",
    "test": "never asked (test)",
    TYPED: "type freely",
}
FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which model is asked what; `person` is None for a question about nobody in the table."""

    checkpoint: str
    snapshot: int | None
    question: str
    person: Person | None


def choose() -> Choice:
    """The controls of the sidebar."""
    with st.sidebar:
        checkpoint, snapshot = _choose_model()
        question = _choose_question()
    by_question = {question_text(person.name): person for person in people()}
    return Choice(
        checkpoint=checkpoint,
        snapshot=snapshot,
        question=question,
        person=by_question.get(question.strip()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """How a trace is drawn: its view, the kind of picture, and whose maximum is fully coloured."""

    view: View
    kind: str
    own_scale: bool


def choose_display(trace: AttentionTrace) -> Display:
    """Folding, kind of picture and colour scale; arcs are offered for up to 40 tokens."""
    with st.sidebar:
        folded = st.toggle(
            "Fold to words",
            key="fold",
            bind="query-params",
            help="Columns of one word are summed, its rows averaged, so every row still sums to 1. "
            "Contributions are summed norms: an upper bound.",
        )
        view = make_view(trace, folded=folded)
        kinds = [MAP] if len(view.labels) > MOST_ARC_TOKENS else [MAP, ARCS]
        if trace.query is not None:
            kinds.append(PARTS)
        kind = st.segmented_control(
            "View", kinds, default=MAP, required=True, key="view", bind="query-params"
        )
        if ARCS not in kinds:
            st.caption(
                f"Arcs are drawn for up to {MOST_ARC_TOKENS} tokens; here are {len(view.labels)}."
            )
        own_scale = st.toggle(
            "Colours to this head's maximum",
            key="own-scale",
            bind="query-params",
            help="Off: full colour is a weight of 1 in every map, so maps can be compared.",
        )
    return Display(view=view, kind=kind or MAP, own_scale=own_scale)


def _choose_model() -> tuple[str, int | None]:
    names = list_checkpoints(CHECKPOINTS)
    if not names:
        st.error("There is no checkpoint in the folder checkpoints/.")
        st.stop()
    default = names.index(DEFAULT_CHECKPOINT) if DEFAULT_CHECKPOINT in names else 0
    name = st.selectbox("Checkpoint", names, default, key="checkpoint", bind="query-params")
    steps = snapshot_steps(CHECKPOINTS / name)
    if not steps:
        return name, None
    moment = st.select_slider(
        "Moment of training (step)",
        [*map(str, steps), FINISHED],
        FINISHED,
        key="moment",
        bind="query-params",
        help="Scrub through snapshots of this training.",
    )
    return name, None if moment == FINISHED else int(moment)


def _choose_question() -> str:
    source = st.selectbox(
        "Question about a person",
        list(SOURCES),
        list(SOURCES).index(split_of(DEFAULT_NAME)),
        format_func=SOURCES.__getitem__,
        key="source",
        bind="query-params",
        help="The model read a few sentences about everybody, but was asked only about some.",
    )
    if source == TYPED:
        default = question_text(DEFAULT_NAME)
        return st.text_input("Question", default, key="question", bind="query-params") or ""
    names = [person.name for person in people() if split_of(person.name) == source]
    default = names.index(DEFAULT_NAME) if DEFAULT_NAME in names else 0
    name = st.selectbox("Person", names, default, key=f"person-{source}", bind="query-params")
    return question_text(name)
