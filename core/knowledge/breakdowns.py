"""How often answers are right and made up by continent, pronoun, century and frequency of the
place; and whose places invented names are answered with. Free of torch.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from core.data.people import CONTINENTS, PRONOUNS, Person
from core.intervals import wilson_interval
from core.knowledge.groups import Named
from core.knowledge.record import Continent, Outcome, Share

EARLY = 1500  # before it all centuries are one row
FREQUENCIES = ((0, "0"), (1, "1"), (2, "2–4"), (5, "5–9"), (10, "10–19"), (20, "20+"))


def by_continent(
    people: Sequence[Person], names: Sequence[Named], found: Sequence[Outcome]
) -> tuple[Share, ...]:
    """In the order of the continents."""
    of = {person.name: person.continent for person in people}
    return _shares(names, found, lambda named: of.get(named.person), CONTINENTS)


def by_pronoun(
    people: Sequence[Person], names: Sequence[Named], found: Sequence[Outcome]
) -> tuple[Share, ...]:
    """he, she, they."""
    of = {person.name: person.pronoun for person in people}
    return _shares(names, found, lambda named: of.get(named.person), PRONOUNS)


def by_century(
    people: Sequence[Person], names: Sequence[Named], found: Sequence[Outcome]
) -> tuple[Share, ...]:
    """Of birth, the early ones in one row: before 1500, 1500–1599, …"""
    of = {person.name: person.born for person in people}
    last = max(of.values(), default=EARLY)
    centuries = [_century(year) for year in (EARLY - 1, *range(EARLY, last + 1, 100), last)]
    order = list(dict.fromkeys(centuries))
    return _shares(
        names,
        found,
        lambda named: _century(of[named.person]) if named.person in of else None,
        order,
    )


def by_frequency(
    trained: Sequence[str], names: Sequence[Named], found: Sequence[Outcome]
) -> tuple[Share, ...]:
    """Of the true place among the answers of training."""
    counts = Counter(trained)

    def row(named: Named) -> str | None:
        if named.place is None:
            return None
        return [name for least, name in FREQUENCIES if counts[named.place] >= least][-1]

    return _shares(names, found, row, [name for _, name in FREQUENCIES])


def continents_of(
    people: Sequence[Person], given: Sequence[str], trained: Sequence[str]
) -> tuple[Continent, ...]:
    """Of the answers that lie on a continent, beside those of training; empty where none does.

    A place lies where most of the table's people who were born in it say so; one that nobody was
    born in, as a made-up word, lies nowhere and is counted nowhere.
    """
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for person in people:
        votes[person.birthplace][person.continent] += 1
    where = {place: counted.most_common(1)[0][0] for place, counted in votes.items()}
    answered = Counter(where[place.strip()] for place in given if place.strip() in where)
    taught = Counter(where[place] for place in trained if place in where)
    total = answered.total()
    if not total or not taught:
        return ()
    return tuple(
        Continent(
            name=name,
            n=answered[name],
            share=answered[name] / total,
            low=low,
            high=high,
            training_share=taught[name] / taught.total(),
        )
        for name in CONTINENTS
        for low, high in (wilson_interval(answered[name], total),)
    )


def _shares(
    names: Sequence[Named],
    found: Sequence[Outcome],
    row: Callable[[Named], str | None],
    order: Sequence[str],
) -> tuple[Share, ...]:
    """A row for each name in `order` that anybody belongs to."""
    of_row: dict[str, list[Outcome]] = defaultdict(list)
    for named, outcome in zip(names, found, strict=True):
        if (name := row(named)) is not None:
            of_row[name].append(outcome)
    rows: list[Share] = []
    for name in order:
        if outcomes := of_row.get(name):
            n, right = len(outcomes), outcomes.count("right")
            low, high = wilson_interval(right, n)
            made_up = outcomes.count("made_up")
            rows.append(Share(name=name, n=n, right=right, low=low, high=high, made_up=made_up))
    return tuple(rows)


def _century(year: int) -> str:
    if year < EARLY:
        return f"before {EARLY}"
    first = year // 100 * 100
    return f"{first}–{first + 99}"
