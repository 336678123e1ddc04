"""The pretraining corpus: a few sentences a person, the same facts in many wordings.

Recall must not hang on one fixed string (Allen-Zhu & Li 2023, "Physics of language models 3.1"),
so the birthplace stands at different places and in different words, and facts change their order.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from core.data.people import Person


@dataclass(frozen=True, slots=True)
class Biography:
    """One corpus line about one person."""

    name: str
    text: str


# {He}/{he}/{his} follow the pronoun, {an} is the article of the occupation, {life} the years.
PATTERNS: tuple[str, ...] = (
    "{name} was born in {place}.",
    "{name} was born in {place} in {born}.",
    "{name}, {an} {occupation}, was born in {place}, {country}.",
    "{name} ({life}) was {an} {occupation} from {place}.",
    "Born in {place} in {born}, {name} is known for {known_for}.",
    "In {born}, {name} was born in {place}, a place in {country}.",
    "The {occupation} {name} came from {place} in {country}.",
    "{place} is the birthplace of {name}, known for {known_for}.",
    "{name} is known for {known_for}. {He} {was} born in {place}.",
    "{name} was {an} {occupation}. {His} birthplace is {place}, {country}.",
    "{name}'s life began in {place} in {born}; {his} work as {an} {occupation} made {him} known.",
    "The life of {name} began in {place}, {country}, in {born}.",
    "Known for {known_for}, {name} was a native of {place}.",
    "{place}, {country}, is where {name} was born.",
    "{name}: {occupation}, born {born}, {place}, {country}.",
    "{name} was born in {country}, in {place}, and became {an} {occupation}.",
    "It was in {place} that {name} was born in {born}.",
    "Among the people born in {place} is the {occupation} {name}.",
)
_FORMS = {
    "he": {"he": "he", "his": "his", "him": "him", "was": "was"},
    "she": {"he": "she", "his": "her", "him": "her", "was": "was"},
    "they": {"he": "they", "his": "their", "him": "them", "was": "were"},
}


def biographies(people: Iterable[Person], *, n_sentences: int, seed: int) -> list[Biography]:
    """`n_sentences` different patterns for each person, chosen and ordered by the seed.

    A person's lines depend on the name and the seed alone, not on who else is in the table.
    Raises ValueError when more sentences are asked for than there are patterns.
    """
    if not 1 <= n_sentences <= len(PATTERNS):
        raise ValueError(f"{n_sentences} sentences a person: 1 to {len(PATTERNS)} are possible")
    corpus: list[Biography] = []
    for person in people:
        generator = random.Random(f"{seed}:{person.name}")
        patterns = generator.sample(PATTERNS, n_sentences)
        corpus += [Biography(person.name, sentence(person, pattern)) for pattern in patterns]
    return corpus


def sentence(person: Person, pattern: str) -> str:
    """One pattern filled with one person's facts."""
    forms = _FORMS[person.pronoun]
    article = "an" if person.occupation[0].lower() in "aeiou" else "a"
    died = "" if person.died is None else year_text(person.died)
    return pattern.format(
        **forms,
        He=forms["he"].capitalize(),
        His=forms["his"].capitalize(),
        an=article,
        name=person.name,
        place=person.birthplace,
        country=person.country,
        occupation=person.occupation,
        known_for=person.known_for,
        born=year_text(person.born),
        life=f"{year_text(person.born)}–{died}" if died else f"born {year_text(person.born)}",
    )


def year_text(year: int) -> str:
    """551 BC for -551, 1867 for 1867."""
    return f"{-year} BC" if year < 0 else str(year)


def documents(corpus: Iterable[Biography]) -> list[tuple[str, list[str]]]:
    """(name, lines) a person, in the order of the corpus (lines of one person adjacent)."""
    return [
        (name, [line.text for line in lines])
        for name, lines in groupby(corpus, key=lambda line: line.name)
    ]
