"""What is looked at: checkpoint, moment, question. Every choice is in the URL."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from core.data.question_set import QuestionSet
from core.data.task import COURSE, Task
from core.inspection.traced import AttentionTrace
from pages.attention.apart import leave_out_first
from pages.attention.offered import views_lacking
from pages.attention.view import ARCS, MAP, PARTS, SPACE, View, make_view, why_not_folded
from pages.shared import bound
from pages.shared.choosing import TRACE, UPLOADED, checkpoint_task, choose_model
from pages.shared.loading import Source
from pages.shared.models import USUAL, Writing, choose_writing, listed
from pages.shared.no_first import choose_no_first, why_not
from pages.shared.questions import choose_question, composed
from pages.shared.sets import choose_set
from pages.shared.trace_files import OpenedTrace, choose_trace

if TYPE_CHECKING:
    from pages.attention.upload import Upload


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which model is asked what. `expected` is None where the right answer is not known, `upload`
    where the checkpoint is a shipped one or a file is missing, `asked` unless it is a question set
    that is asked; `opened` is a trace, if one is looked at.
    """

    checkpoint: str
    snapshot: int | None
    upload: "Upload | None"
    task: Task | None
    question: str
    expected: str | None
    opened: OpenedTrace | None = None
    asked: QuestionSet | None = None
    writing: Writing = USUAL


def choose() -> Asked:
    """The controls of the side bar."""
    with st.sidebar:
        checkpoint, snapshot = choose_model(others=[UPLOADED, TRACE])
        if checkpoint == TRACE:
            return _of_trace(choose_trace())
        uploaded = checkpoint == UPLOADED
        upload = _choose_upload() if uploaded else None
        task = COURSE if uploaded else checkpoint_task(checkpoint)
        writing = choose_writing(checkpoint)
        asks = upload is not None or not uploaded
        asked = choose_set(task) if asks else None
        question, expected = (
            choose_question(task, own=uploaded, asked=asked) if asks else ("", None)
        )
    return Asked(
        checkpoint=checkpoint,
        snapshot=snapshot,
        upload=upload,
        task=task,
        question=question,
        expected=expected,
        asked=asked,
        writing=writing,
    )


def _of_trace(opened: OpenedTrace | None) -> Asked:
    """A trace was asked already, and elsewhere."""
    return Asked(
        checkpoint=TRACE,
        snapshot=None,
        upload=None,
        task=None,
        question="",
        expected=None,
        opened=opened,
    )


def _choose_upload() -> "Upload | None":
    from pages.attention.upload import choose_upload  # noqa: PLC0415 - loads torch

    return choose_upload()


def choose_target(source: Source) -> Source:
    """The same model, given a target where it has a source and one is typed. Raises as loading."""
    if listed(source.name) is None or not source.load().model.shape.has_source:
        return source
    with st.sidebar:
        typed = bound.text_input(
            "Target",
            key="target",
            placeholder="empty: the model writes it",
            help="Given to the decoder token by token in the place of what it would write; shown "
            "is how likely that is, and what it looks at.",
        )
        target = composed(typed)
    return replace(source, writing=replace(source.writing, target=target if target.strip() else ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """How a trace is drawn: its view, the kind of picture, whose maximum is fully coloured, and
    whether the first token is left out.
    """

    view: View
    kind: str
    own_scale: bool
    no_first: bool = False


def choose_display(trace: AttentionTrace) -> Display:
    """Words or pieces, kind of picture and colour scale, or why there is no choice."""
    with st.sidebar:
        view = make_view(trace, folded=_choose_fold(trace))
        lacking = views_lacking(trace, view)
        kinds = [kind for kind in (MAP, ARCS, PARTS, SPACE) if kind not in lacking]
        kind = bound.segmented_control("View", kinds, default=MAP, required=True, key="view")
        for reason in lacking.values():
            st.caption(reason)
        own_scale = bound.toggle(
            "Colours to this head's maximum",
            key="own-scale",
            help="Off: full colour is a weight of 1 in every map, so maps can be compared.",
        )
        no_first = choose_no_first("no-first", why_not([trace]))
    if no_first:
        view = leave_out_first(view)
    return Display(view=view, kind=kind or MAP, own_scale=own_scale, no_first=no_first)


def _choose_fold(trace: AttentionTrace) -> bool:
    if reason := why_not_folded(trace):
        st.toggle("Whole words", disabled=True, key="fold-latents")
        st.caption(reason)
        return False
    return bound.toggle(
        "Whole words",
        value=True,
        key="fold",
        help="Off: the pieces that the model reads. Columns of one word are summed, its rows "
        "averaged, so every row still sums to 1; summed contributions are an upper bound.",
    )
