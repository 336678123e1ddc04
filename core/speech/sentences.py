"""What is spoken to whom: sentences of training, and questions about people never spoken in it.

    dev    "where was NAME born?" about 200 people, each in four voices of training and two new ones
    test   the same about 200 others
    tune   about 100 others, in two voices of training: what choices are made on
    train  questions and sentences about everybody else, and what makes more words heard: first
           names with the surnames of others, names of the US census, places of the world,
           sentences of biographies

No text of training holds the name of anybody in another split. Whose name has a figure in it
(14th, XVI) is left out: how it is spoken is not how it is written.
"""

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from core.data.biographies import biographies
from core.data.census import census_names
from core.data.people import Person
from core.data.places import place_countries
from core.speech.voices import NEW, TRAINED, Voice, drawn_voice

Split = Literal["train", "tune", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "tune", "dev", "test")
LETTERS = "abcdefghijklmnopqrstuvwxyz'"
CHARACTERS = " " + LETTERS
LONGEST = 99  # characters of a plain text, as in the homework
N_PEOPLE: dict[Split, int] = {"dev": 200, "test": 200, "tune": 100}
N_VOICES: dict[Split, int] = {"dev": 4, "test": 2, "tune": 2}
QUESTION = "where was {name} born?"
ABOUT = (
    "{name} was born in {place}",
    "was {name} born in {place}?",
    "{name} came from {place}",
    "tell me where {name} was born",
    "{name}",
    "{name} of {country}",
    "{name} was {article} {occupation}",
)
OF_PLACES = ("where is {place}?", "who was born in {place}?", "from {place} to {other}", "{place}")
_SAYABLE = re.compile(r"[A-Z][a-z]{3,}( [A-Z][a-z]{2,})?")
# Of a hundred sentences of training.
# Names of the census are the most part: how a name that was never heard is spelled is learned from
# many names, and our people have 2,400.
PARTS = {"asked": 22, "about": 10, "crossed": 10, "census": 38, "places": 12, "biographies": 8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A text as it is given to the voice; `name` is whom it asks about, empty in training."""

    text: str
    voice: Voice
    split: Split
    name: str = ""

    @property
    def plain(self) -> str:
        return plain(self.text)


def plain(text: str) -> str:
    """Lower case letters, apostrophes and single spaces: what a recogniser writes."""
    letters = (c for c in unaccented(text).lower() if c in LETTERS or not c.isalpha())
    return " ".join("".join(c if c in LETTERS else " " for c in letters).split())


def unaccented(text: str) -> str:
    """Letters without their marks, so that an English voice says what is written."""
    spelled = text.translate(_SPELLED)
    bare = "".join(
        c for c in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(c)
    )
    return bare.translate(_SPELLED)


def is_speakable(name: str) -> bool:
    """Whether a name is said as it is written."""
    return re.search(r"\d|\b[IVX]{2,}\b", name) is None


def split_people(people: Sequence[Person], seed: int) -> dict[Split, list[Person]]:
    """Who is in which split; nobody is in two. Raises ValueError for too few people."""
    speakable = [person for person in people if is_speakable(person.name)]
    if len(speakable) <= (n_held := sum(N_PEOPLE.values())):
        raise ValueError(f"{len(speakable)} people: more than {n_held} are needed")
    random.Random(f"people:{seed}").shuffle(speakable)
    found: dict[Split, list[Person]] = {}
    for split in ("dev", "test", "tune"):
        found[split] = speakable[: N_PEOPLE[split]]
        speakable = speakable[N_PEOPLE[split] :]
    return {"train": speakable, **found}


def places_to_say(people: Sequence[Person]) -> list[str]:
    """Names of the table of places that an English voice can say (of one or two words in Latin
    letters), sorted, and as often again the birthplaces of these people.
    """
    named = sorted(name for name in place_countries() if _SAYABLE.fullmatch(name))
    born = [person.birthplace for person in people]
    return named + born * (len(named) // len(born))


def sentences(
    people: Sequence[Person], places: Sequence[str], *, n_train: int, seed: int
) -> list[Sentence]:
    """All that is spoken: `n_train` sentences of training, then tune, dev and test. The same
    arguments give the same sentences.
    """
    by_split = split_people(people, seed)
    held = [plain(p.name) for split in ("tune", "dev", "test") for p in by_split[split]]
    drawn = _of_training(by_split["train"], places, random.Random(f"train:{seed}"))
    of_others = (s for s in drawn if not _names(s.plain, held))
    found = list(islice(of_others, n_train))
    for split in ("tune", "dev", "test"):
        generator = random.Random(f"{split}:{seed}")
        for person in by_split[split]:
            text = unaccented(QUESTION.format(name=person.name))
            names = generator.sample(TRAINED, N_VOICES[split])
            for voice in (*names, *(NEW if split in ("dev", "test") else ())):
                drawn = drawn_voice((voice,), generator)
                found.append(Sentence(text=text, voice=drawn, split=split, name=person.name))
    return found


def _names(text: str, held: Sequence[str]) -> bool:
    return any(name in text for name in held)


def _of_training(
    people: Sequence[Person], places: Sequence[str], generator: random.Random
) -> Iterator[Sentence]:
    """Without end."""
    lines = [b.text for b in biographies(people, n_sentences=3, seed=0)]
    draw: dict[str, Callable[[], str]] = {
        "asked": lambda: QUESTION.format(name=generator.choice(people).name),
        "about": lambda: _about(generator.choice(people), generator),
        "crossed": lambda: QUESTION.format(name=_crossed(people, generator)),
        "census": lambda: QUESTION.format(name=_of_census(people, generator)),
        "places": lambda: _of_place(places, generator),
        "biographies": lambda: generator.choice(lines),
    }
    while True:
        (kind,) = generator.choices(list(PARTS), list(PARTS.values()))
        text = unaccented(draw[kind]())
        if is_speakable(text) and 1 <= len(plain(text)) <= LONGEST:
            yield Sentence(text=text, voice=drawn_voice(TRAINED, generator), split="train")


def _about(person: Person, generator: random.Random) -> str:
    return generator.choice(ABOUT).format(
        name=person.name,
        place=person.birthplace,
        country=person.country,
        occupation=person.occupation,
        article="an" if person.occupation[0] in "aeiou" else "a",
    )


def _crossed(people: Sequence[Person], generator: random.Random) -> str:
    """The first name of one person and the last of another."""
    first, last = (generator.choice(people).name.split() for _ in range(2))
    return f"{first[0]} {last[-1]}"


def _of_census(people: Sequence[Person], generator: random.Random) -> str:
    """A surname with a first name, half of these those of people; common ones come more often."""
    firsts, surnames = census_names()
    first = _common(firsts, generator)
    if generator.random() < 0.5:
        first = generator.choice(people).name.split()[0]
    return f"{first} {_common(surnames, generator)}"


def _common(names: Sequence[str], generator: random.Random) -> str:
    """One of names by how common they are; half of all draws fall on the first quarter."""
    return names[int(len(names) * generator.random() ** 2)]


def _of_place(places: Sequence[str], generator: random.Random) -> str:
    place, other = (generator.choice(places) for _ in range(2))
    return generator.choice(OF_PLACES).format(place=place, other=other)


# What NFKD leaves as it is.
_SPELLED = str.maketrans(
    {
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "đ": "d",
        "Đ": "D",
        "ð": "d",
        "Ð": "D",
        "þ": "th",
        "Þ": "Th",
        "ß": "ss",
        "æ": "ae",
        "Æ": "Ae",
        "œ": "oe",
        "Œ": "Oe",
        "ı": "i",
        "’": "'",
        "‘": "'",
        "ʻ": "'",
        "ʼ": "'",
        "–": " ",
        "-": " ",
    }
)
