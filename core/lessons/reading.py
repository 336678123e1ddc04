"""Lessons from files: TOML, read strictly, so that what is shown can be held to.

A file says what is wrong with it: which file, which step, why.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from core.lessons.calls import CALLS, arguments_of
from core.lessons.lesson import NAMED, PAGES, UNITS, Claim, Lesson, Prediction, Step
from core.lessons.texts import check_text
from core.paths import LESSONS
from core.reading import read_bytes

SUFFIX = ".toml"
MOST_BYTES, MOST_STEPS, MOST_CHOICES = 200_000, 50, 9
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
CLAIM_NAME = re.compile(r"[a-z][a-z0-9_]*")
Made = TypeVar("Made")
Table = dict[str, Any]
# A key of the file whose name is no name in Python.
RENAMED = {"with": "with_"}


def list_lessons(folder: Path = LESSONS) -> list[Lesson]:
    """All lessons of a folder, in their order. Raises ValueError for one that cannot be read."""
    found = [read_lesson(path) for path in folder.glob(f"*{SUFFIX}")]
    return sorted(found, key=lambda lesson: (lesson.order, lesson.name))


def find_lesson(name: str, folder: Path = LESSONS) -> Lesson:
    """The lesson of this name. Raises ValueError that lists what there is."""
    names = sorted(path.stem for path in folder.glob(f"*{SUFFIX}"))
    if name not in names:
        raise ValueError(f"no lesson is called {name!r}; lessons: {', '.join(names) or 'none'}")
    return read_lesson(folder / f"{name}{SUFFIX}")


def read_lesson(path: Path) -> Lesson:
    """One lesson, every text, name and number of it checked. Raises ValueError."""
    try:
        table = tomllib.loads(read_bytes(path, MOST_BYTES).decode("utf-8"))
    except ValueError as error:  # TOML's and UTF-8's own are such errors, too
        raise ValueError(f"{path.name}: {error}") from None
    try:
        return _lesson(path.stem, table)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _lesson(name: str, table: Table) -> Lesson:
    if not NAME.fullmatch(name):
        raise ValueError(f"a lesson's file is called like copying-and-averaging, not {name!r}")
    steps = _tables(table.pop("steps", []), "steps")
    if not 1 <= len(steps) <= MOST_STEPS:
        raise ValueError(f"{len(steps)} steps; 1 to {MOST_STEPS} are allowed")
    lesson = _made(Lesson, {"name": name, **table, "steps": ()})
    if lesson.minutes < 1:
        raise ValueError(f"minutes is {lesson.minutes}; at least 1 is needed")
    for text in (lesson.title, lesson.learns):
        check_text(text)
    made: list[Step] = []
    for number, step in enumerate(steps, 1):
        try:
            made.append(_step(step))
        except ValueError as error:
            raise ValueError(f"step {number}: {error}") from None
    return _made(Lesson, {"name": name, **table, "steps": tuple(made)})


def _step(table: Table) -> Step:
    table = dict(table)
    claims = tuple(_claim(claim) for claim in _tables(table.pop("claims", []), "claims"))
    predict = table.pop("predict", None)
    state = _state(table.pop("state", {}))
    if (page := table.get("page")) not in PAGES:
        raise ValueError(f"page is {page!r}; pages: {', '.join(filter(None, PAGES))}, '' for home")
    step = _made(Step, {**table, "state": state, "claims": claims})
    if predict is not None:
        prediction = _made(Prediction, _table(predict, "predict"))
        step = _made(Step, {**table, "state": state, "claims": claims, "predict": prediction})
        _check_prediction(step, prediction)
    _check_step(step)
    return step


def _check_step(step: Step) -> None:
    """Names in braces are claims, and every figure is one, or the state's, or of a head's name."""
    names = [claim.name for claim in step.claims]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two claims are called {', '.join(twice)}")
    texts = [step.title, step.text, step.after, *(claim.text for claim in step.claims)]
    if step.predict is not None:
        texts += [step.predict.ask, *step.predict.choices]
    if any(NAMED.search(claim.text) for claim in step.claims):
        raise ValueError("the text of a claim stands behind its own number and names no other")
    for text in texts:
        for found in NAMED.finditer(text):
            step.claim(found[1])
        check_text(text, step.state)
    if empty := [name for name in ("title", "text") if not getattr(step, name).strip()]:
        raise ValueError(f"{empty[0]} is empty")


def _check_prediction(step: Step, predict: Prediction) -> None:
    limits = (predict.low, predict.high)
    if predict.choices:
        if any(limit is not None for limit in limits) or predict.unit:
            raise ValueError("predict asks for a choice: it has no low, high and unit")
        if not 2 <= len(set(predict.choices)) == len(predict.choices) <= MOST_CHOICES:
            raise ValueError(
                f"predict has the choices {', '.join(predict.choices)}: 2 to {MOST_CHOICES}, each "
                "once, are needed"
            )
        if predict.right not in predict.choices:
            raise ValueError(f"predict: right is {predict.right!r}, which is none of the choices")
        return
    if predict.low is None or predict.high is None:
        raise ValueError("predict needs choices, or low and high of a number")
    claim = step.claim(predict.right)
    if not (isfinite(predict.low) and predict.low <= claim.stated <= predict.high):
        raise ValueError(
            f"predict: {claim.name} is {claim.stated}, not from {predict.low} to {predict.high}"
        )
    if not isfinite(predict.high) or predict.unit != claim.unit:
        raise ValueError(f"predict asks for {predict.unit!r}; {claim.name} is in {claim.unit!r}")


def _claim(table: Table) -> Claim:
    claim = _made(Claim, table)
    where = f"claim {claim.name!r}"
    if not CLAIM_NAME.fullmatch(claim.name):
        raise ValueError(f"{where}: a claim is called like name_share")
    if claim.unit not in UNITS:
        raise ValueError(
            f"{where}: unit is {claim.unit!r}; units: {', '.join(filter(None, UNITS))}"
        )
    if not isfinite(claim.stated) or not 0 <= claim.tolerance < float("inf"):
        raise ValueError(f"{where}: {claim.stated} within {claim.tolerance} can be held to nothing")
    if claim.call not in CALLS:
        raise ValueError(f"{where}: unknown call {claim.call!r}; calls: {', '.join(CALLS)}")
    try:
        told = arguments_of(claim.call, claim.with_)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return _made(Claim, {**table, "with": told})


def _state(value: object) -> dict[str, str | tuple[str, ...]]:
    """Keys and values of an address: a text, or several."""
    try:
        read = msgspec.convert(value, dict[str, str | list[str]])
    except msgspec.ValidationError:
        raise ValueError(f"state is {value!r:.80}: texts, or lists of texts, are needed") from None
    return {key: each if isinstance(each, str) else tuple(each) for key, each in read.items()}


def _made(kind: type[Made], table: Mapping[str, Any]) -> Made:
    """A dataclass of a table: every key known, none missing, each value of its type."""
    renamed = {RENAMED.get(key, key): value for key, value in table.items()}
    known = {field.name for field in fields(cast(Any, kind))}
    named = {value: key for key, value in RENAMED.items()}
    if extra := sorted(key for key in table if RENAMED.get(key, key) not in known or key in named):
        raise ValueError(f"unknown keys: {', '.join(extra)}")
    try:
        return msgspec.convert(renamed, kind)
    except msgspec.ValidationError as error:
        raise ValueError(str(error).replace("with_", "with")) from None


def _tables(value: object, what: str) -> Sequence[Table]:
    if not isinstance(value, list):
        raise ValueError(f"{what} is {value!r:.80}: tables [[{what}]] are needed")
    return [_table(each, what) for each in cast(list[object], value)]


def _table(value: object, what: str) -> Table:
    if not isinstance(value, dict):
        raise ValueError(f"{what} holds {value!r:.80}, where a table is needed")
    return cast(Table, value)
