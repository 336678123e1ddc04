"""Patterns of attention with a name, and a caption for a head: the clearest one, or none.

A pattern is a set of keys for each of some rows. Its score is the mean weight that these rows put
on their keys; its baseline is what rows would put there that attend uniformly to all they can see.

Over every row that counts:       previous token, same token, first token, next token (encoders)
In the row that writes the
first token of the answer:        surname, first names, name, question mark, answer mark (⁇),
                                  words around the name

A pattern is clear with a score of at least 0.3 that is at least twice its baseline or, since a name
may be most of a question and its baseline cannot be doubled, at least halfway from there to 1. The
caption is the clear pattern furthest above its baseline; without one it is "no clear pattern". Of
a pattern of every row and what it comes to in the row of ⁇ (the token before ⁇ is the question
mark), only the former is said.

Many heads rest on the first token while they have nothing to look at. Where such sinks are set
apart, patterns are those of the rows without it, and its share is said beside them. No torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.inspection.captions import CLEAR_FACTOR, CLEAR_WEIGHT
from core.inspection.scores import Look
from core.inspection.sinks import WITHOUT_FIRST
from core.inspection.traced import AttentionTrace

IN_EVERY_ROW = ("previous token", "same token", "first token", "next token")
IN_FIRST_WRITING_ROW = (
    "surname",
    "first names",
    "name",
    "question mark",
    "answer mark",
    "words around the name",
)
PATTERNS = IN_EVERY_ROW + IN_FIRST_WRITING_ROW
# What a pattern of every row looks at in the row that writes the first token.
COMES_TO = {
    "previous token": "question mark",
    "same token": "answer mark",
    "first token": "words around the name",
}
NO_PATTERN = "no clear pattern"
NEARLY_ALL = 0.99
ANSWER_MARK = "⁇"  # as vocabularies label it
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the parts of a question stand: token positions. A surname is a name's last word.

    `mark` is the row that writes the first token of the answer, None where nothing is written;
    `is_marked` says that ⁇ stands there.
    """

    mark: int | None
    name: tuple[int, ...]
    surname: tuple[int, ...]
    question_mark: tuple[int, ...]
    is_marked: bool = True

    @property
    def words_around(self) -> tuple[int, ...]:
        """The rest of a question that follows the template; else nothing."""
        if not self.name or self.mark is None:
            return ()
        return tuple(sorted({*range(self.mark)} - {*self.name, *self.question_mark}))


def find_places(
    labels: Sequence[str], word_starts: Sequence[bool], name: Sequence[int], mark: int | None
) -> Places:
    """From the tokens of a text, the positions of its name, and the row that writes first."""
    starts = [position for position in name if word_starts[position]]
    last = starts[-1] if starts else 0
    return Places(
        mark=mark,
        name=tuple(name),
        surname=tuple(position for position in name if position >= last),
        question_mark=(mark - 1,) if mark and labels[mark - 1] == "?" else (),
        is_marked=mark is not None and labels[mark] == ANSWER_MARK,
    )


def places_of(trace: AttentionTrace) -> Places:
    """The places in a traced text."""
    mark = trace.steps[0].row if trace.steps else None
    return find_places(trace.labels, trace.word_starts, trace.name_positions, mark)


def pattern_masks(
    places: Places,
    rows: Sequence[int],
    columns: Sequence[int],
    n_tokens: int,
    *,
    of_tokens: bool = True,
    look: Look | None = None,
) -> Numbers:
    """(patterns, L, L): 1 / (rows of the pattern) at each of its keys, so that the product with a
    map, summed, is the score. All zero for a pattern that does not occur.

    `rows` and `columns` are the positions that look and are looked at. Where the columns are a
    Perceiver's latents (not `of_tokens`), no part of the question is looked at. Where a latent
    looks, the last one at or before ⁇ takes the place of the row that writes the first token.
    In cross-attention there are no neighbours, and without the first token (`look`) it is no key.
    """
    look = look or Look(first=columns[0])
    masks = np.zeros((len(PATTERNS), n_tokens, n_tokens))
    _mark_every_row(masks, np.asarray(rows), np.asarray(columns), look)
    writing = writing_row(places, rows, look)
    keys = (
        places.surname,
        tuple(sorted({*places.name} - {*places.surname})),
        places.name,
        places.question_mark,
        (places.mark,) if places.is_marked else (),
        places.words_around,
    )
    there = {*columns} if look.kind != "decoder" else {*columns} & {*range((writing or 0) + 1)}
    for index, positions in enumerate(keys, len(IN_EVERY_ROW)):
        if of_tokens and writing is not None:
            masks[index, writing, [p for p in positions if p in there]] = 1
    if look.no_first:
        masks[:, :, look.first] = 0
    n_rows = masks.any(-1).sum(-1)
    return masks / np.maximum(n_rows, 1)[:, None, None]


def _mark_every_row(
    masks: Numbers, rows: NDArray[np.intp], columns: NDArray[np.intp], look: Look
) -> None:
    """The patterns of every row, from the first that counts on."""
    used = rows[rows >= look.first_row]
    masks[PATTERNS.index("first token"), used, columns[0]] = 1
    if look.kind == "cross":
        return
    at = np.searchsorted(columns, used)
    has_before, same = at > 0, np.isin(used, columns)
    masks[PATTERNS.index("previous token"), used[has_before], columns[at[has_before] - 1]] = 1
    masks[PATTERNS.index("same token"), used[same], used[same]] = 1
    if look.kind == "encoder":
        after = np.searchsorted(columns, used, side="right")
        has_next = after < len(columns)
        masks[PATTERNS.index("next token"), used[has_next], columns[after[has_next]]] = 1


def writing_row(places: Places, rows: Sequence[int], look: Look) -> int | None:
    """The row of a layer that writes the first token, None where none does."""
    if places.mark is None:
        return None
    if look.kind != "decoder":
        return places.mark if places.mark in rows else None
    return max((row for row in rows if row <= places.mark), default=None)


def pattern_scores(weights: NDArray[np.floating[Any]], masks: Numbers) -> Numbers:
    """(…, patterns) from maps (…, L, L): the mean over rows that have any weight; nan for a pattern
    that does not occur, or in no such row.
    """
    shape, n_patterns = weights.shape[:-2], len(masks)
    maps = weights.reshape(int(np.prod(shape)), -1).astype(np.float64)
    scores = maps @ masks.reshape(n_patterns, -1).T
    there = maps.reshape(len(maps), *masks.shape[-2:]).any(-1)
    has = masks.any(-1)
    counted = np.einsum("ni,pi->np", there, has, dtype=np.float64)
    mean = np.full_like(scores, np.nan)
    np.divide(scores * has.sum(-1), counted, out=mean, where=counted > 0)
    return mean.reshape(*shape, n_patterns)


def uniform_pattern_scores(visible: NDArray[np.bool_], masks: Numbers) -> Numbers:
    """(patterns,): the scores of rows that attend uniformly to all that they can see (L, L)."""
    return pattern_scores(visible / np.maximum(visible.sum(-1, keepdims=True), 1), masks)


def clear_pattern(scores: Numbers, uniform: Numbers) -> str | None:
    """The clear pattern furthest above its baseline, from (patterns,) each."""
    needed = np.maximum(CLEAR_WEIGHT, np.minimum(CLEAR_FACTOR * uniform, (1 + uniform) / 2))
    clear = scores >= needed  # never for a pattern that does not occur: its score is nan
    for every, one in COMES_TO.items():
        clear[PATTERNS.index(one)] &= not clear[PATTERNS.index(every)]
    if not clear.any():
        return None
    return PATTERNS[int(np.where(clear, scores - uniform, -np.inf).argmax())]


def caption(scores: Numbers, uniform: Numbers, sink: float | None = None) -> str:
    """One phrase for a table. `sink` is the sink share where scores are without the first token:
    a large one is said beside the pattern, alone where no row has anything else.
    """
    found = clear_pattern(scores, uniform) or NO_PATTERN
    if sink is None or sink < CLEAR_WEIGHT:
        return found
    said = f"sink {100 * sink:.0f} %"
    return said if _rests(scores, sink) else f"{found}, {said}"


def _rests(scores: Numbers, sink: float) -> bool:
    """Whether no row has anything beside its sink; rows may be none for another reason, too."""
    return bool(np.isnan(scores).all()) and sink >= NEARLY_ALL


def caption_sentence(
    name: str, scores: Numbers, uniform: Numbers, sink: float | None = None
) -> str:
    """The same with its numbers, for a title: what a head does, when, and beside which baseline."""
    best = clear_pattern(scores, uniform)
    if sink is not None and _rests(scores, sink):
        return f"{name} rests on the first token alone (sink share {sink:.2g})"
    apart = "" if sink is None else f"; {WITHOUT_FIRST}, its sink share is {sink:.2g}"
    if best is None:
        return (
            f"{name} has {NO_PATTERN}: nothing gets both a weight of {CLEAR_WEIGHT:g} and clearly "
            f"more than uniform attention would give it{apart}"
        )
    index = PATTERNS.index(best)
    when = "" if best in IN_EVERY_ROW else " when it writes the first token of the answer"
    return (
        f"{name} looks at the {best}{when} "
        f"(weight {scores[index]:.2g}, uniform {uniform[index]:.2g}{apart})"
    )
