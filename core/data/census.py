"""First names and surnames of the 1990 census of the United States, the most common first.

The table is made by assets/make_census.py. After its head, lines that begin with #, stand two
blocks with an empty line between them: first names, then surnames.
"""

import gzip
from functools import lru_cache

from core.paths import ASSETS

TABLE = ASSETS / "census.txt.gz"


@lru_cache(maxsize=1)
def census_names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(first names, surnames), read when first asked."""
    _, firsts, surnames = gzip.decompress(TABLE.read_bytes()).decode().split("\n\n")
    return tuple(firsts.split("\n")), tuple(surnames.split("\n"))
