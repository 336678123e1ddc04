"""Which country a place lies in, by name alone.

A place is a city, a country or a US state. Of several of one name the one with the most people is
meant, so Boston lies in the United States; a name in another language or another time (Kiev) counts
where no city has it as its own. What is not found has no country: villages, and the parts of every
other country (England, Ontario).

The table is made by assets/make_places.py from GeoNames (CC BY 4.0). After its head, lines that
begin with #, it has blocks with an empty line between them: an ISO code of two letters, then
sorted names without what they share with the name before. How many characters these are stands
first in the line, as the character SHARED_FROM places on: `!Leeds`, `&town` is Leedstown.
"""

import gzip
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from core.data.people import Person
from core.paths import ASSETS

TABLE = ASSETS / "places.txt.gz"
SHARED_FROM, LONGEST_SHARED = 33, 30


def countries_of(places: Collection[str]) -> dict[str, str]:
    """ISO codes of the places that GeoNames knows (cities of 15,000 people or more).

    Cost: reads 1.5 MB once, about half a second.
    """
    known = _table()
    return {place: known[place] for place in places if place in known}


def read_table(text: str) -> Iterator[tuple[str, str]]:
    """(name, ISO code) of every line of a table."""
    code, name = "", ""
    for line in text.split("\n"):
        if not line:
            code = ""
        elif not code:
            code, name = line, ""
        else:
            name = name[: ord(line[0]) - SHARED_FROM] + line[1:]
            yield name, code


def countries_in(people: Iterable[Person]) -> dict[str, str]:
    """Country of every birthplace in the table; of two namesakes the one with more people in it."""
    rows = Counter((person.birthplace, person.country) for person in people)
    return {place: country for (place, country), _ in reversed(rows.most_common())}


@lru_cache(maxsize=1)
def _table() -> Mapping[str, str]:
    """Name to ISO code, read when first asked; nobody changes it."""
    text = gzip.decompress(TABLE.read_bytes()).decode()
    _, _, blocks = text.partition("\n\n")  # behind the head
    return dict(read_table(blocks))
