"""Wrong answers by kind: near in space, near in memory, or neither."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from core.data.people import Question

Kind = Literal["right_country", "known_place", "made_up"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A question that was answered wrongly."""

    question: str
    given: str
    expected: str
    kind: Kind


def mistakes(
    asked: Sequence[Question],
    given: Sequence[str],
    known: Iterable[Question],
    countries: Mapping[str, str],
) -> list[Mistake]:
    """The wrong ones of the answers `given`, in the order of the questions, each with its kind.

    `countries` holds the country of every place that is known to have one (see
    core.evaluation.countries). `right_country`: the answer and the expected place have the same
    country there; a place without a country is never right. `known_place`: otherwise, the answer
    to a question known from training, or a place in `countries`. `made_up`: anything else, and an
    empty answer. Raises ValueError for a question without an answer.
    """
    places = {question.answer for question in known} | set(countries)
    found: list[Mistake] = []
    for question, text in zip(asked, given, strict=True):
        if question.answer is None:
            raise ValueError(f"{question.text!r} has no answer: nobody can say what is wrong")
        answer, expected = text.strip(), question.answer.strip()
        if answer != expected:
            kind = _kind(answer, expected, places, countries)
            found.append(Mistake(question.text, answer, expected, kind))
    return found


def count_kinds(found: Iterable[Mistake]) -> dict[str, int]:
    """How many of each kind; every kind is there."""
    counts = Counter(mistake.kind for mistake in found)
    return {kind: counts[kind] for kind in KINDS}


def _kind(
    answer: str, expected: str, places: set[str | None], countries: Mapping[str, str]
) -> Kind:
    if not answer or answer not in places:
        return "made_up"
    country = countries.get(answer)
    return "right_country" if country and country == countries.get(expected) else "known_place"
