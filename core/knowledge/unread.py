"""Whom the corpus of notable-unread leaves out: as many of every continent. Free of torch.

assets/unread.txt holds the names, one a line; assets/make_groups.py writes it by this rule.
"""

import random
from collections.abc import Sequence

from core.data.people import CONTINENTS, SPLITS, Person, split_of

N_UNREAD = 300


def choose_unread(people: Sequence[Person], *, n: int = N_UNREAD, seed: int = 0) -> list[Person]:
    """`n` people in the order of the table: of each continent n / 6, of its splits in proportion.

    Nobody whose name stands in what the table says of somebody else, which would be read after
    all. The largest remainders fill up what rounding down leaves. Raises ValueError where a
    continent has too few.
    """
    of_each, left = divmod(n, len(CONTINENTS))
    if left:
        raise ValueError(f"{n} people cannot be the same number of {len(CONTINENTS)} continents")
    told = ["\n".join([p.name, p.birthplace, p.country, p.occupation, p.known_for]) for p in people]
    alone = [person for person in people if sum(person.name in text for text in told) == 1]
    chosen = {
        person.name
        for continent in CONTINENTS
        for person in _of_continent([p for p in alone if p.continent == continent], of_each, seed)
    }
    return [person for person in people if person.name in chosen]


def _of_continent(people: Sequence[Person], n: int, seed: int) -> list[Person]:
    if len(people) < n:
        raise ValueError(f"{len(people)} people of a continent; {n} are to be left out")
    splits: dict[str, list[Person]] = {split: [] for split in SPLITS}
    for person in people:
        splits[split_of(person.name)].append(person)
    chosen: list[Person] = []
    for split, count in _in_proportion({s: len(found) for s, found in splits.items()}, n).items():
        generator = random.Random(f"{seed}:unread:{people[0].continent}:{split}")
        chosen += generator.sample(splits[split], count)
    return chosen


def _in_proportion(sizes: dict[str, int], n: int) -> dict[str, int]:
    """How many of each, n in all, by largest remainder."""
    total = sum(sizes.values())
    counts = {split: n * size // total for split, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda split: -(n * sizes[split] % total))
    for split in by_remainder[: n - sum(counts.values())]:
        counts[split] += 1
    return counts
