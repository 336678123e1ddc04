"""What is measured: checkpoint, moment, questions, and what takes a head's place. Free of torch."""

from dataclasses import dataclass

import streamlit as st

from core.data.question_set import QuestionSet
from core.data.task import Task
from core.inspection.heads import Mode
from pages.shared import bound, weights
from pages.shared.choosing import TRACE, checkpoint_task, choose_model
from pages.shared.no_first import choose_no_first
from pages.shared.records import sets_of, weights_digest
from pages.shared.sets import choose_set
from pages.shared.trace_files import OpenedTrace, choose_trace

PREFIX = "heads-"
ALL, ONE, PATCH, TWICE = "all heads", "one question", "patching", "tokens said twice"
SPLITS = {"dev": "never asked (dev)", "test": "never asked (test)", "train": "asked in training"}
APART = (
    "Without the first token: patterns, weights and scores are those of rows renormalised over the "
    "other keys; a sink share is said where it is large. Contributions and effects are those of "
    "whole rows."
)
TOO_OLD = (
    "No choice: this table was recorded before there were scores without the first token. Measured "
    "anew (python -m core heads with --record) it has them."
)
INSTEAD: dict[Mode, str] = {"zero": "zero", "mean": "its mean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Which weights (their digest), measured on which questions, in which mode.

    Where a question set is `asked`, the split is its name.
    """

    checkpoint: str
    snapshot: int | None
    digest: str
    task: Task | None
    split: str
    mode: Mode
    asked: QuestionSet | None = None

    @property
    def named(self) -> str:
        """For titles and files: notable-small at step 400."""
        return self.checkpoint + (f" at step {self.snapshot}" if self.snapshot else "")


def choose(part: str) -> Measured | OpenedTrace | None:
    """The controls of the side bar; None while a trace is chosen and none is there.

    Raises ValueError if the weights cannot be read.
    """
    with st.sidebar:
        checkpoint, snapshot = choose_model(prefix=PREFIX, others=[TRACE])
        if checkpoint == TRACE:
            return choose_trace(prefix=PREFIX)
        digest, task = weights_digest(checkpoint, snapshot), checkpoint_task(checkpoint)
        weights.note(digest)
        asked = None
        if part != TWICE:  # whose tokens are drawn
            asked = choose_set(task, prefix=PREFIX, recorded=sets_of(checkpoint, digest))
        split, mode = ("dev", "zero") if part in (PATCH, TWICE) else _choose_measured(task, asked)
    return Measured(
        checkpoint=checkpoint,
        snapshot=snapshot,
        digest=digest,
        task=task,
        split=split if asked is None else asked.name,
        mode="mean" if mode == "mean" else "zero",
        asked=asked,
    )


def _choose_measured(task: Task | None, asked: QuestionSet | None) -> tuple[str, str | None]:
    """Which questions of a task, and what a head that is off gives; without questions there are
    no averages, and no mean in its place.
    """
    split = "dev"
    if task is None and asked is None:
        return split, "zero"
    if asked is None:
        split = bound.selectbox(
            "Averages over questions",
            list(SPLITS),
            format_func=SPLITS.__getitem__,
            key=f"{PREFIX}split",
        )
    mode = bound.segmented_control(
        "A head that is off gives",
        list(INSTEAD),
        default="zero",
        required=True,
        format_func=INSTEAD.__getitem__,
        key=f"{PREFIX}mode",
        help="Its mean is taken over the dev questions or the question set that is asked, apart "
        "for the rows that read the question and those that write the answer.",
    )
    return split, mode


def choose_first_out(reason: str) -> bool:
    """Whether the first token is left out, said aloud; with a reason why not, no choice."""
    with st.sidebar:
        no_first = choose_no_first(f"{PREFIX}no-first", reason)
    if no_first:
        st.caption(APART)
    return no_first


def choose_part() -> str:
    """What to look at."""
    return (
        bound.segmented_control(
            "Look at",
            [ALL, ONE, PATCH, TWICE],
            default=ALL,
            required=True,
            key=f"{PREFIX}part",
            label_visibility="collapsed",
        )
        or ALL
    )
