"""A question set of one's own: prompts with their answers, and what counts as right.

Free of torch. core.data.question_file reads one from a file.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from core.data.characters import describe_character
from core.data.people import SPLITS, Question, Rule
from core.from_json import dataclass_from_dict

MOST_PROMPT, MOST_ANSWER = 4_000, 200  # characters
FIRST_TOKENS: Rule = "first-tokens"
RULES: dict[Rule, str] = {
    "first-tokens": "right if what is written, cut to as many tokens as the answer has, begins "
    "with the answer",
    "exact": "right if everything that is written is the answer, letter by letter",
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
RESERVED = (*SPLITS, "held-out")  # files of a task's splits have these names
# What the parts of a question about a person are in a prompt of a set.
_OF_SUBJECT = {
    "words around the name": "words around the subject",
    "first names": "first words of the subject",
    "surname": "last word of the subject",
    "name": "subject",
    "answer mark": "last token of the prompt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """Questions under a name, and what counts as right. Of each question the subject is its name.

    At least one question, no prompt twice: `make_set` sees to it.
    """

    name: str
    rule: Rule
    questions: tuple[Question, ...]

    @property
    def right(self) -> str:
        """The rule in words."""
        return RULES[self.rule]

    @property
    def digest(self) -> str:
        """sha256 of everything that a figure over the set depends on; its name is not."""
        rows = [[q.text, q.answer, q.span] for q in self.questions]
        return hashlib.sha256(json.dumps([self.rule, rows]).encode()).hexdigest()

    def find(self, text: str) -> Question | None:
        """The question with this prompt."""
        return next((q for q in self.questions if q.text == text.strip()), None)

    def to_dict(self) -> dict[str, Any]:
        """What `set_from_dict` reads."""
        rows = [[q.text, q.answer, None if q.span is None else [*q.span]] for q in self.questions]
        return {"name": self.name, "rule": self.rule, "questions": rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    name: str
    rule: Rule
    questions: list[tuple[str, str, tuple[int, int] | None]]


def set_from_dict(data: Mapping[str, Any]) -> QuestionSet:
    """The inverse of `to_dict`. Raises ValueError for anything else."""
    stored = dataclass_from_dict(_Stored, _as_tuples(data))
    check_name(stored.name)
    found: list[tuple[str, Question]] = []
    for index, (text, answer, span) in enumerate(stored.questions):
        where = f"question {index}"
        kept = None if span is None else checked_span(text, *span, where)
        found.append((where, make_question(text, answer, kept, where, stored.rule)))
    return make_set(stored.name, stored.rule, found, stored.name)


def check_name(name: str) -> None:
    """Raise ValueError for a name that a set cannot have: files beside weights are named by it."""
    if not NAME.fullmatch(name):
        raise ValueError(
            f"{name!r:.80} cannot name a question set: up to 60 letters without accents, digits, "
            "- and _ are allowed, a letter or a digit first"
        )
    if name in RESERVED:
        raise ValueError(
            f"{name!r} cannot name a question set: a task's own questions are called that; name "
            f"the file anything but {', '.join(RESERVED)}"
        )


def of_subject(text: str) -> str:
    """A text about the questions of a task as it is said of a set, whose prompts have subjects."""
    parts = re.compile("|".join(rf"\b{part}\b" for part in _OF_SUBJECT))
    return parts.sub(lambda found: _OF_SUBJECT[found[0]], text)


def make_question(
    prompt: str, answer: str, span: tuple[int, int] | None, where: str, rule: Rule
) -> Question:
    """One question. Raises ValueError naming `where` and what is allowed."""
    refuse_odd_cell(prompt, "prompt", MOST_PROMPT, where)
    refuse_odd_cell(answer, "answer", MOST_ANSWER, where)
    return Question(prompt, answer, "" if span is None else prompt[slice(*span)], span, rule)


def refuse_odd_cell(text: str, what: str, most: int, where: str) -> None:
    """Raise ValueError for an empty cell, one of more than `most` characters, and for control
    characters.
    """
    if not text.strip():
        raise ValueError(f"{where}: the {what} is empty")
    if len(text) > most:
        raise ValueError(f"{where}: {len(text):,} characters in the {what}; {most:,} are allowed")
    _refuse_control(text, f"{where}, {what}")


def _refuse_control(text: str, where: str) -> None:
    for position, character in enumerate(text):
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            raise ValueError(
                f"{where}, position {position}: {describe_character(character)} is a control "
                "character; text in one line is needed"
            )


def checked_span(prompt: str, start: int, end: int, where: str) -> tuple[int, int]:
    """Where a subject stands. Raises ValueError if that is no part of the prompt."""
    if not 0 <= start < end <= len(prompt) or not prompt[start:end].strip():
        raise ValueError(
            f"{where}: the subject {start}:{end} is no part of the prompt, whose characters go "
            f"from 0 to {len(prompt)}"
        )
    return start, end


def make_set(
    name: str, rule: Rule, found: Sequence[tuple[str, Question]], where: str
) -> QuestionSet:
    """A set of questions, each with the line that it stands on. Raises ValueError for none, and for
    a prompt that stands there twice.
    """
    if not found:
        raise ValueError(f"{where}: no questions behind the header; at least one is needed")
    seen: dict[str, str] = {}
    for line, question in found:
        first = seen.setdefault(question.text, line)
        if first != line:
            raise ValueError(f"{line}: this prompt stands already on {first.rpartition(', ')[2]}")
    return QuestionSet(name=name, rule=rule, questions=tuple(q for _, q in found))


def _as_tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists where a stored set has tuples."""
    rows = data.get("questions")
    if not isinstance(rows, list):
        return dict(data)
    return {**data, "questions": [_row(row) for row in cast(list[Any], rows)]}


def _row(row: Any) -> Any:
    if not isinstance(row, list):
        return row
    cells = cast(list[Any], row)
    return tuple(tuple(cast(list[Any], c)) if isinstance(c, list) else c for c in cells)
