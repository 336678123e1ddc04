"""Wrong answers by kind: near in space, near in memory, or neither.

Near in space is a place in the same country, by name alone. A place is a city, a country or a US
state. Of several of one name the one with the most people is meant, so Boston lies in the United
States; a name in another language or another time (Kiev) counts where no city has it as its own.
What is not found has no country: villages, and the parts of every other country (England, Ontario).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from core.data.people import Person, Question
from core.data.places import place_countries

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

    `countries` holds the country of every place that is known to have one. `right_country`: the
    answer and the expected place have the same country there; a place without a country is never
    right. `known_place`: otherwise, the answer to a question known from training, or a place in
    `countries`. `made_up`: anything else, and an empty answer. Raises ValueError for a question
    without an answer.
    """
    places = known_places(known, countries)
    found: list[Mistake] = []
    for question, text in zip(asked, given, strict=True):
        if question.answer is None:
            raise ValueError(f"{question.text!r} has no answer: nobody can say what is wrong")
        answer, expected = text.strip(), question.answer.strip()
        if answer != expected:
            kind = _kind(answer, expected, places, countries)
            found.append(Mistake(question.text, answer, expected, kind))
    return found


def known_places(known: Iterable[Question], countries: Mapping[str, str]) -> set[str]:
    """What is no made-up word: answers to questions known from training, and places that are known
    to have a country.
    """
    return {question.answer for question in known if question.answer} | set(countries)


def count_kinds(found: Iterable[Mistake]) -> dict[str, int]:
    """How many of each kind; every kind is there."""
    counts = Counter(mistake.kind for mistake in found)
    return {kind: counts[kind] for kind in KINDS}


def countries_of(places: Collection[str]) -> dict[str, str]:
    """ISO codes of the places that GeoNames knows (cities of 15,000 people or more).

    Cost: reads 1.5 MB once, about half a second.
    """
    known = place_countries()
    return {place: known[place] for place in places if place in known}


def countries_in(people: Iterable[Person]) -> dict[str, str]:
    """Country of every birthplace in the table; of two namesakes the one with more people in it."""
    rows = Counter((person.birthplace, person.country) for person in people)
    return {place: country for (place, country), _ in reversed(rows.most_common())}


def _kind(answer: str, expected: str, places: set[str], countries: Mapping[str, str]) -> Kind:
    if not answer or answer not in places:
        return "made_up"
    country = countries.get(answer)
    return "right_country" if country and country == countries.get(expected) else "known_place"
