"""Groups of names that are asked one and the same question, made by seeded rules. Free of torch.

asked       drawn from those asked in training
read        read, never asked: everybody of dev and, where its answers are known, test
invented    first name of one and a surname blended of two others, all of one continent and pronoun
            (core.knowledge.names); nobody in the text has such a surname
one_letter  one letter changed in the name of somebody asked in training, whose place is true
surname     the surname alone of somebody asked in training, if nobody else's name has that word
crossed     first name of one, surname of another, both as they are
no_name     an adjective and a noun

Where nothing is known of continent and pronoun (the course's people, a question set) anybody is
combined with anybody. No name stands in two groups, and of those from "invented" on none is anybody
in the text: compared letter by letter whatever their case, none but surnames stands in it at all.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from core.knowledge.names import blended, first_word, one_letter_changed, parts_of
from core.knowledge.record import GroupName

N_NAMES = 300
_TRIES = 60  # a name
_ASCII = "abcdefghijklmnopqrstuvwxyz"
_ADJECTIVES = (
    "able amber bitter blunt bright broken brown calm careful cold copper damp dark double dry "
    "early empty even faint flat gentle golden green heavy hollow humble idle late light little "
    "loose loud mild narrow open pale plain quick quiet rapid raw rough round sharp shallow silent "
    "silver simple slow smooth soft solid sour steep stiff strange sudden sweet tall thin tidy "
    "tired warm wet wide wooden yellow"
).split()
_NOUNS = (
    "anchor apple basket blanket bottle bridge broom bucket button candle carpet ceiling chair "
    "cloud corner curtain cushion drawer engine envelope fence ferry garden gate glove hammer "
    "handle hinge kettle ladder lamp lantern ledger marble meadow mirror needle noodle oven paddle "
    "pebble pencil pillow plaster pocket puddle ribbon saddle sandwich shelf shovel spoon stairs "
    "table teapot thimble ticket towel tunnel umbrella wagon wheel whistle window"
).split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A name that is asked about.

    text: what the model is given; name: how the group has it. place: the true one, if there is one.
    person: whose place that is. span: where the name stands in a prompt of a question set, and
    `like` the answer that says how many tokens are written there.
    """

    name: str
    text: str
    place: str | None = None
    person: str = ""
    span: tuple[int, int] | None = None
    like: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Somebody of whom names are made. kind: with whose names they may be combined; before, behind:
    what stands around the name in the question; in_set: as a question set asks it.
    """

    name: str
    place: str | None
    before: str
    behind: str
    kind: str = ""
    in_set: bool = False

    def named(self, name: str, place: str | None = None, person: str = "") -> Named:
        """Another name in this one's question."""
        start = len(self.before)
        return Named(
            name=name,
            text=f"{self.before}{name}{self.behind}",
            place=place,
            person=person,
            span=(start, start + len(name)) if self.in_set else None,
            like=self.place or "" if self.in_set else "",
        )

    @property
    def itself(self) -> Named:
        return self.named(self.name, self.place, self.name)


Maker = Callable[[Random], Named | None]


def made_groups(
    sources: Sequence[Source],
    bases: Sequence[Source],
    taken: Iterable[str],
    text: str,
    *,
    n: int = N_NAMES,
    seed: int = 0,
) -> dict[GroupName, tuple[Named, ...]]:
    """The groups that nobody has read about, up to n of each; an empty one where nothing fits.

    sources: of whose names parts are taken; bases: those who are meant by a changed name or a
    surname. taken: names that no group may have, those of everybody. text: all that the model may
    have read; only its characters are used, since others may be none of its vocabulary's.
    """
    read = text.casefold()
    taken = {name.casefold() for name in (*taken, *(source.name for source in sources))}
    words = Counter(word for name in taken for word in set(name.split()))
    makers: dict[GroupName, tuple[Maker, bool]] = {
        "invented": (_inventing(sources, words), True),
        "one_letter": (_changing(bases, "".join(c for c in _ASCII if c in text)), True),
        "surname": (_surnames(bases, words), False),
        "crossed": (_crossing(sources), True),
        "no_name": (_no_names(bases, text), True),
    }
    groups: dict[GroupName, tuple[Named, ...]] = {}
    for group, (make, refuses_read) in makers.items():
        generator = Random(f"{seed}:{group}")
        groups[group] = _draw(make, generator, n, taken, read if refuses_read else "")
        taken |= {named.name.casefold() for named in groups[group]}
    return groups


def drawn(names: Sequence[Named], n: int, *, seed: int = 0) -> tuple[Named, ...]:
    """N of them, or all, in an order of the seed's."""
    return tuple(Random(f"{seed}:asked").sample(names, min(n, len(names))))


def _draw(
    make: Maker, generator: Random, n: int, taken: Collection[str], read: str
) -> tuple[Named, ...]:
    """N that are made, none of them taken, twice there, or in what is read."""
    found: dict[str, Named] = {}
    for _ in range(n * _TRIES):
        if len(found) == n:
            break
        named = make(generator)
        if named is None:
            continue
        key = named.name.casefold()
        if key not in taken and key not in found and not (read and key in read):
            found[key] = named
    return tuple(found.values())


def _inventing(sources: Sequence[Source], words: Mapping[str, int]) -> Maker:
    """Of one word, as subjects of question sets may be, the whole name is blended."""
    alike = _by_kind([one for one in sources if one.in_set or parts_of(one.name)])

    def make(generator: Random) -> Named | None:
        one = generator.choice(sources)
        if not alike[one.kind]:
            return None
        head, tail = (generator.choice(alike[one.kind]).name.split()[-1] for _ in range(2))
        surname = blended(head, tail, generator)
        if surname is None or surname.casefold() in words:
            return None
        if parts_of(one.name) is None:
            return one.named(surname) if one.in_set else None
        first = first_word(one.name)
        return None if first is None else one.named(f"{first} {surname}")

    return make


def _changing(bases: Sequence[Source], letters: str) -> Maker:
    def make(generator: Random) -> Named | None:
        base = generator.choice(bases)
        name = one_letter_changed(base.name, letters, generator)
        return None if name is None else base.named(name, base.place, base.name)

    return make


def _surnames(bases: Sequence[Source], words: Mapping[str, int]) -> Maker:
    def make(generator: Random) -> Named | None:
        base = generator.choice(bases)
        parts = parts_of(base.name)
        if parts is None or words[parts[1].split()[-1].casefold()] != 1:
            return None
        return base.named(parts[1], base.place, base.name)

    return make


def _crossing(sources: Sequence[Source]) -> Maker:
    alike = _by_kind(sources)

    def make(generator: Random) -> Named | None:
        one = generator.choice(sources)
        parts, others = parts_of(one.name), parts_of(generator.choice(alike[one.kind]).name)
        return one.named(f"{parts[0]} {others[1]}") if parts and others else None

    return make


def _no_names(bases: Sequence[Source], text: str) -> Maker:
    letters = set(text)
    adjectives, nouns = ([w for w in kind if letters >= {*w}] for kind in (_ADJECTIVES, _NOUNS))

    def make(generator: Random) -> Named | None:
        base = generator.choice(bases)
        if not adjectives or not nouns:
            return None
        return base.named(f"{generator.choice(adjectives)} {generator.choice(nouns)}")

    return make


def _by_kind(sources: Sequence[Source]) -> dict[str, list[Source]]:
    alike: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        alike[source.kind].append(source)
    return alike
