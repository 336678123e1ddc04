"""The table of places: cities, countries and US states with their countries, by name alone.

It is made by assets/make_places.py from GeoNames (CC BY 4.0). After its head, lines that begin with
#, it has blocks with an empty line between them: an ISO code of two letters, then sorted names
without what they share with the name before. How many characters these are stands first in the
line, as the character SHARED_FROM places on: `!Leeds`, `&town` is Leedstown.
"""

import gzip
from collections.abc import Iterator, Mapping
from functools import lru_cache

from core.paths import ASSETS

TABLE = ASSETS / "places.txt.gz"
SHARED_FROM, LONGEST_SHARED = 33, 30


@lru_cache(maxsize=1)
def place_countries() -> Mapping[str, str]:
    """Name to ISO code, read when first asked; nobody changes it.

    Cost: reads 1.5 MB once, about half a second.
    """
    text = gzip.decompress(TABLE.read_bytes()).decode()
    _, _, blocks = text.partition("\n\n")  # behind the head
    return dict(read_table(blocks))


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
