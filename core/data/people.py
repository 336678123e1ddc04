"""The table of notable people, its fixed splits, and the questions about them."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, cast

from core.data.characters import compose, read_lines

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
# What counts as right: the text, or that what is written begins with it.
Rule = Literal["exact", "first-tokens"]
PRONOUNS = ("he", "she", "they")
CONTINENTS = ("Africa", "Asia", "Europe", "North America", "South America", "Oceania")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One row of the table; years are integers, negative before the common era."""

    name: str
    pronoun: str
    birthplace: str
    country: str
    continent: str
    born: int
    died: int | None
    occupation: str
    known_for: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and, where it is known, the expected answer.

    One of a question set may say where its subject stands in the text (`span`, characters from 0,
    the end not included), and has the `rule` of its set.
    """

    text: str
    answer: str | None
    name: str
    span: tuple[int, int] | None = None
    rule: Rule = "exact"


def is_right(given: str, expected: str, rule: Rule = "exact") -> bool:
    """Exact match after trimming: the one rule for the questions of a task.

    By `first-tokens`, what is written has been cut to as many tokens as the answer has. Texts are
    compared and not tokens: the last one may hold a comma, too, but the answer may not go on as a
    longer word (Niger, Nigeria).
    """
    if rule == "exact":
        return given.strip() == expected.strip()
    written, wanted = compose(given).strip(), compose(expected).strip()
    return written.startswith(wanted) and not written[len(wanted) :][:1].isalnum()


@dataclass(frozen=True, slots=True)
class Template:
    """A question about somebody: what stands before the name, and behind it."""

    before: str
    behind: str

    def question(self, name: str) -> str:
        return f"{self.before}{name}{self.behind}"

    def name_span(self, text: str) -> tuple[int, int] | None:
        """(start, end) of the name in a question, with any space that was typed around it; None for
        a text of another form. White space around all and before the last mark does not matter.
        """
        before, behind = re.escape(self.before), re.escape(self.behind[:-1])
        match = re.fullmatch(rf"\s*{before}(.+?){behind}\s*{re.escape(self.behind[-1])}\s*", text)
        return None if match is None else match.span(1)


BIRTHPLACE = Template("Where was ", " born?")  # the one template of the exercise
COLUMNS = tuple(field.name for field in fields(Person))


def load_people(path: Path) -> list[Person]:
    """Read the table (UTF-8, tab separated, one header line).

    Raises ValueError that names file, line and what is allowed.
    """
    rows = [line.split("\t") for line in read_lines(path)]
    if not rows or tuple(rows[0]) != COLUMNS:
        raise ValueError(f"{path}, line 1: the header must be {' '.join(COLUMNS)}")
    people = [_person(row, f"{path}, line {number}") for number, row in enumerate(rows[1:], 2)]
    _refuse_duplicates(people, path)
    return people


def leave_out(people: Sequence[Person], names: Path) -> tuple[list[Person], list[Person]]:
    """(all others, those whom a file names), each in the order of the table; one name a line.

    Raises ValueError that names file and line of a name that is nobody's, or stands there twice.
    """
    known, left_out = {person.name for person in people}, dict[str, int]()
    for number, name in enumerate(read_lines(names), 1):
        if name not in known:
            raise ValueError(f"{names}, line {number}: {name!r:.80} is nobody in the table")
        first = left_out.setdefault(name, number)
        if first != number:
            raise ValueError(f"{names}, line {number}: {name} is already on line {first}")
    others = [person for person in people if person.name not in left_out]
    return others, [person for person in people if person.name in left_out]


def split_of(name: str) -> Split:
    """Train (60 %), dev (20 %) or test (20 %), fixed by a hash of the name alone."""
    position = _fraction(name, salt="split")
    return "train" if position < 0.6 else "dev" if position < 0.8 else "test"


def is_held_out(name: str) -> bool:
    """Whether a train person is kept for tuning: 10 % of train, never asked in training."""
    return split_of(name) == "train" and _fraction(name, salt="held-out") < 0.1


def questions_of(people: Iterable[Person], split: Split) -> list[Question]:
    """The questions about everybody in one split, in the order of the table."""
    return [birthplace_question(person) for person in people if split_of(person.name) == split]


def birthplace_question(person: Person) -> Question:
    """The one question about somebody, with the right answer."""
    return Question(BIRTHPLACE.question(person.name), person.birthplace, person.name)


def _fraction(name: str, *, salt: str) -> float:
    digest = hashlib.sha256(f"{salt}:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _person(row: Sequence[str], where: str) -> Person:
    if len(row) != len(COLUMNS):
        raise ValueError(f"{where}: {len(row)} columns, {len(COLUMNS)} are needed")
    cells = dict(zip(COLUMNS, row, strict=True))
    for column, value in cells.items():
        if column != "died" and not value.strip():
            raise ValueError(f"{where}: the column {column} is empty")
    _refuse_unknown(cells["pronoun"], PRONOUNS, f"{where}, column pronoun")
    _refuse_unknown(cells["continent"], CONTINENTS, f"{where}, column continent")
    years = {"born": _year(cells["born"], where), "died": None}
    if cells["died"]:
        years["died"] = _year(cells["died"], where)
    texts = {column: value for column, value in cells.items() if column not in years}
    return Person(**texts, born=cast(int, years["born"]), died=years["died"])


def _refuse_unknown(value: str, allowed: Sequence[str], where: str) -> None:
    if value not in allowed:
        raise ValueError(f"{where}: {value!r} is not one of {', '.join(allowed)}")


def _year(text: str, where: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{where}: {text!r} is not a year (a whole number)") from None


def _refuse_duplicates(people: Sequence[Person], path: Path) -> None:
    seen: dict[str, int] = {}
    for number, person in enumerate(people, 2):
        first = seen.setdefault(person.name, number)
        if first != number:
            raise ValueError(f"{path}, line {number}: {person.name} is already on line {first}")
