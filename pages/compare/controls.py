"""What is compared: two questions, two checkpoints, or two moments of one training."""

from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

import streamlit as st

from core.checkpoints.shelf import dev_curve, snapshot_steps
from core.data.people import BIRTHPLACE
from core.figures.moments import accuracy_at_moments
from core.figures.template import Figure
from core.inspection.traced import AttentionTrace
from core.paths import CHECKPOINTS
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.choosing import (
    DEFAULT_CHECKPOINT,
    FINISHED,
    TRACE,
    checkpoint_task,
    choose_model,
    choose_moment,
    choose_name,
    every_name,
    shelf_names,
)
from pages.shared.loading import Source, load_trace, people, shipped
from pages.shared.questions import FREE_TEXT, OTHER_TEXT, Fits, as_long, choose_question
from pages.shared.trace_files import OpenedTrace, choose_trace

PREFIX = "compare-"
QUESTIONS, MODELS, MOMENTS = "two questions", "two checkpoints", "two moments of a training"
OTHER_NAME = "Marie Curie"
SCRATCH, WITH_SNAPSHOTS = "notable-scratch", "notable-small"
SIDES = (("A", f"{PREFIX}first-", SCRATCH), ("B", f"{PREFIX}second-", DEFAULT_CHECKPOINT))
AS_LONG = (
    "Where latents look, rows stand at positions: Question B needs as many tokens as Question A."
)
NO_SNAPSHOTS = (
    "No checkpoint here kept snapshots of its training: train one with `python -m core train "
    "--preset notable-small --out checkpoints/runs/mine`, its recipe keeps seven."
)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs: `name` says what is particular to it."""

    letter: str
    name: str
    source: Source
    question: str
    expected: str | None
    opened: OpenedTrace | None = None

    @property
    def trace(self) -> AttentionTrace:
        """What the file holds, or what the model does when it is asked."""
        if self.opened is not None and self.opened.file is not None:
            return self.opened.file.trace
        return load_trace(self.source, self.question)


class NoTraceError(ValueError):
    """A side for which a trace is to be opened, and why there is none (None: nothing is chosen)."""

    def __init__(self, opened: OpenedTrace | None) -> None:
        super().__init__("no trace" if opened is None else opened.problem)
        self.opened = opened


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared, and whether a head of the one is the same head of the other.

    `charts` are already drawn: they come to the files.
    """

    what: str
    first: Side
    second: Side
    charts: dict[str, Figure] = field(default_factory=dict)

    @property
    def same_heads(self) -> bool:
        return self.what != MODELS


def choose_what() -> str:
    """What differs between the two."""
    return (
        bound.segmented_control(
            "Compare",
            [QUESTIONS, MODELS, MOMENTS],
            default=QUESTIONS,
            required=True,
            key=f"{PREFIX}what",
            label_visibility="collapsed",
        )
        or QUESTIONS
    )


def choose(what: str) -> Pair:
    """The controls of a kind of comparison. Raises ValueError if a checkpoint cannot be read."""
    return {QUESTIONS: _questions, MODELS: _models, MOMENTS: _moments}[what]()


def _questions() -> Pair:
    with st.sidebar:
        name, snapshot = choose_model(prefix=PREFIX)
        task, source = checkpoint_task(name), shipped(name, snapshot)
        one, right = choose_question(
            task, prefix=PREFIX, label="Question A", texts=("Text A", FREE_TEXT)
        )
        fits = _fits(source, one)
        two, other = choose_question(
            task,
            prefix=f"{PREFIX}other-",
            label="Question B",
            texts=("Text B", OTHER_TEXT),
            name=OTHER_NAME if fits is None else _fitting_name(fits),
            fits=fits,
        )
        if fits is not None:
            st.caption(AS_LONG)
    return Pair(QUESTIONS, Side("A", one, source, one, right), Side("B", two, source, two, other))


def _fits(source: Source, question: str) -> Fits | None:
    """What the other question must be like; None where any length will do."""
    stored = source.load()
    if not stored.model.shape.n_latents:
        return None
    return partial(as_long, stored.vocabulary, question)


def _fitting_name(fits: Fits) -> str:
    """A well-known person of two names, so that it is the people that differ."""
    names = (person.name for person in people() if person.name.count(" ") == 1)
    return next(
        (name for name in (OTHER_NAME, *names) if fits(BIRTHPLACE.question(name))), OTHER_NAME
    )


def _models() -> Pair:
    """Two checkpoints are asked one question; beside a trace, that of the trace."""
    with st.sidebar:
        names = [*every_name(), TRACE]
        one, two = (
            _choose_side(names, letter, prefix, default) for letter, prefix, default in SIDES
        )
        question, expected = _question_of(one, two)
    first, second = (
        _opened_side(letter, chosen)
        if isinstance(chosen, OpenedTrace)
        else Side(letter, chosen, shipped(chosen, None), question, expected)
        for letter, chosen in (("A", one), ("B", two))
    )
    return Pair(MODELS, first, second)


def _question_of(one: OpenedTrace | str, two: OpenedTrace | str) -> tuple[str, str | None]:
    """That of a trace if there is one, else the one that is chosen, with its right answer."""
    for side in (one, two):
        if isinstance(side, OpenedTrace) and side.file is not None:
            return side.file.trace.question, None
    return choose_question(checkpoint_task(str(one)), prefix=PREFIX)


def _choose_side(names: list[str], letter: str, prefix: str, default: str) -> OpenedTrace | str:
    """A checkpoint by name, or a trace. Raises NoTraceError where it cannot be used."""
    name = choose_name(names, prefix=prefix, label=f"Checkpoint {letter}", default=default)
    if name != TRACE:
        return name
    opened = choose_trace(prefix=prefix, label=f"Trace {letter}")
    if opened is None or opened.file is None:
        raise NoTraceError(opened)
    return opened


def _opened_side(letter: str, opened: OpenedTrace) -> Side:
    source = Source(f"trace {opened.name}", None, "", _without_model)
    question = "" if opened.file is None else opened.file.trace.question
    return Side(letter, opened.name, source, question, None, opened)


def _without_model() -> NoReturn:
    raise ValueError("a trace has no model to be asked")


def _moments() -> Pair:
    with st.sidebar:
        names = [name for name in shelf_names() if snapshot_steps(CHECKPOINTS / name)]
        if not names:
            raise ValueError(NO_SNAPSHOTS.replace("`", ""))
        name = choose_name(names, prefix=f"{PREFIX}trained-", default=WITH_SNAPSHOTS)
        steps = snapshot_steps(CHECKPOINTS / name)
        other = choose_moment(steps, prefix=f"{PREFIX}other-", label="B: moment of training (step)")
        question, expected = choose_question(checkpoint_task(name), prefix=PREFIX)
    curve = st.container()
    moment = choose_moment(
        steps,
        prefix=PREFIX,
        label="A: moment of training (step): scrub",
        default=str(steps[len(steps) // 2]),
    )
    with curve:
        charts = _show_curve(name, moment, other)
    first, second = (
        Side(letter, _step_name(step), shipped(name, step), question, expected)
        for letter, step in (("A", moment), ("B", other))
    )
    return Pair(MOMENTS, first, second, charts)


def _show_curve(name: str, moment: int | None, other: int | None) -> dict[str, Figure]:
    points = [(_moment_name(step), share) for step, share in dev_curve(CHECKPOINTS / name)]
    if not points:
        st.caption("How many dev questions each snapshot gets right is not recorded in its card.")
        return {}
    marks = [("A", _moment_name(moment)), ("B", _moment_name(other))]
    title = f"{name}: right answers to dev, by step"
    chart = accuracy_at_moments(points, marks, title=title)
    show_chart(chart, alt=f"{title}: A at {marks[0][1]}, B at {marks[1][1]}")
    return {"Curve": chart}


def _moment_name(step: int | None) -> str:
    return FINISHED if step is None else str(step)


def _step_name(step: int | None) -> str:
    return FINISHED if step is None else f"step {step}"
