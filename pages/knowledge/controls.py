"""Whose knowledge is shown, on which questions, and what stands beside it. Free of torch."""

from dataclasses import dataclass

import streamlit as st

from core.data.question_set import QuestionSet
from core.data.task import Task
from core.knowledge.file import TASK
from pages.shared import bound, weights
from pages.shared.choosing import checkpoint_task, choose_name, every_name
from pages.shared.records import weights_digest
from pages.shared.sets import choose_set

PREFIX = "knows-"
NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A model by its name, the digest of its weights, and what it is asked: a task or a set.

    `other` is the name of a second model beside it, if any.
    """

    name: str
    digest: str
    task: Task | None
    asked: QuestionSet | None = None
    other: str | None = None

    @property
    def split(self) -> str:
        return TASK if self.asked is None else self.asked.name


def choose() -> Chosen:
    """The controls of the side bar. Raises ValueError if the weights cannot be read."""
    with st.sidebar:
        names = every_name()
        name = choose_name(names, prefix=PREFIX)
        digest, task = weights_digest(name, None), checkpoint_task(name)
        weights.note(digest)
        asked = choose_set(task, prefix=PREFIX)
        other = bound.selectbox(
            "Beside it",
            [NONE, *(each for each in names if each != name)],
            key=f"{PREFIX}other",
            help="A second model, whose groups are drawn below those of the first.",
        )
    return Chosen(
        name=name,
        digest=digest,
        task=task,
        asked=asked,
        other=None if other == NONE else other,
    )
