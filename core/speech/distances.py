"""How far one text is from another: edits of letters or of words, for many pairs at once.

All pairs go through their tables together, row by row. Within a row only insertions depend on each
other: d[j] = min over k <= j of (d[k] + (j − k) · cost), the running minimum of d[k] − k · cost.
Cost: pairs · longest² numbers, about 0.1 s for 1,200 pairs of 60 letters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Items: TypeAlias = Sequence[str]  # a text is one of its letters, too
Pairs: TypeAlias = Sequence[tuple[Items, Items]]
Span: TypeAlias = tuple[int, int]
Counts: TypeAlias = NDArray[np.int64]

_ONE_EDIT = 1 << 20  # so many edits inside a span would be needed to weigh as much as one in all


@dataclass(frozen=True, slots=True, kw_only=True)
class _Costs:
    """Of a pair, by row: what it costs to lose or change its item, and to insert one behind it."""

    change: Counts  # (pairs, longest)
    insert: Counts  # (pairs, longest + 1), the first before any item


def levenshtein(pairs: Pairs) -> Counts:
    """The fewest insertions, deletions and substitutions of each pair."""
    return _distances(pairs, _alike(pairs), swaps=False)


def damerau_levenshtein(pairs: Pairs) -> Counts:
    """The same with neighbours that change places as one edit more.

    It is the restricted form (optimal string alignment), as the package textdistance has it unless
    told otherwise: what was swapped is not edited again, so that "ca" and "abc" are 3 apart, not 2.
    """
    return _distances(pairs, _alike(pairs), swaps=True)


def split_errors(pairs: Pairs, spans: Sequence[Span]) -> tuple[Counts, Counts]:
    """Edits inside and outside of a span (start, end) of each reference, the first of its pair.

    Both add up to `levenshtein`. What is inserted before, in or behind the span belongs to it. Of
    the alignments with the fewest edits that counts which has the fewest inside. Raises ValueError
    for a span that is not in its reference.
    """
    for (reference, _), (start, end) in zip(pairs, spans, strict=True):
        if not 0 <= start <= end <= len(reference):
            raise ValueError(f"span {start} to {end} does not lie in {len(reference)} letters")
    at = np.arange(_longest(pairs) + 1, dtype=np.int64)
    start, end = np.asarray(spans, np.int64).reshape(-1, 2, 1).transpose(1, 0, 2)
    change = _ONE_EDIT + ((start <= at[:-1]) & (at[:-1] < end))
    insert = _ONE_EDIT + ((start <= at) & (at <= end))
    weighed = _distances(pairs, _Costs(change=change, insert=insert), swaps=False)
    return weighed % _ONE_EDIT, weighed // _ONE_EDIT - weighed % _ONE_EDIT


def _alike(pairs: Pairs) -> _Costs:
    ones = np.ones((len(pairs), _longest(pairs) + 1), np.int64)
    return _Costs(change=ones[:, 1:], insert=ones)


def _longest(pairs: Pairs) -> int:
    return max((len(reference) for reference, _ in pairs), default=0)


def _distances(pairs: Pairs, costs: _Costs, *, swaps: bool) -> Counts:
    numbers: dict[str, int] = {}
    given, given_lengths = numbered([reference for reference, _ in pairs], numbers, -1)
    heard, heard_lengths = numbered([text for _, text in pairs], numbers, -2)
    steps = np.arange(heard.shape[1] + 1, dtype=np.int64)
    above: Counts = costs.insert[:, :1] * steps
    row: Counts = above
    found = np.zeros(len(pairs), np.int64)
    for i in range(given.shape[1] + 1):
        if i:
            below = _without_insertions(row, given[:, i - 1 : i], heard, costs.change[:, i - 1 : i])
            if swaps and i > 1:
                _swap(below, above, given[:, i - 2 : i], heard)
            above, row = row, _with_insertions(below, costs.insert[:, i : i + 1] * steps)
        ended = np.flatnonzero(given_lengths == i)
        found[ended] = row[ended, heard_lengths[ended]]
    return found


def _without_insertions(row: Counts, item: Counts, heard: Counts, change: Counts) -> Counts:
    """The next row: the item is lost, or it stands where a heard one does."""
    below = row + change
    np.minimum(below[:, 1:], row[:, :-1] + change * (item != heard), out=below[:, 1:])
    return below


def _with_insertions(below: Counts, costs: Counts) -> Counts:
    """The same row once items are inserted; `costs` are those of all up to each column."""
    return np.minimum.accumulate(below - costs, axis=1) + costs


def _swap(below: Counts, above: Counts, last_two: Counts, heard: Counts) -> None:
    """Take one edit from two rows above where the last two items were heard in turn."""
    crossed = (last_two[:, 1:] == heard[:, :-1]) & (last_two[:, :1] == heard[:, 1:])
    fewer = np.minimum(below[:, 2:], above[:, :-2] + 1)
    below[:, 2:] = np.where(crossed, fewer, below[:, 2:])


def numbered(texts: Sequence[Items], numbers: dict[str, int], beyond: int) -> tuple[Counts, Counts]:
    """A number for each item, (texts, longest), and the lengths; `beyond` stands behind a text."""
    lengths = np.array([len(text) for text in texts], np.int64)
    rows = np.full((len(texts), int(lengths.max(initial=0))), beyond, np.int64)
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = [numbers.setdefault(item, len(numbers)) for item in text]
    return rows, lengths
