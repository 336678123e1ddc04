"""Patterns of attention with a name, and a caption for a head: the clearest one, or none.

A pattern is a set of keys for each of some rows. Its score is the mean weight that these rows put
on their keys; its baseline is what rows would put there that attend uniformly to all they can see.

Over every row from 2 on:         previous token, same token, first token
In the row that writes the
first token of the answer:        surname, first names, name, question mark, answer mark (⁇),
                                  words around the name

A pattern is clear with a score of at least 0.3 that is at least twice its baseline or, since a name
may be most of a question and its baseline cannot be doubled, at least halfway from there to 1. The
caption is the clear pattern furthest above its baseline; without one it is "no clear pattern". Of
a pattern of every row and what it comes to in the row of ⁇ (the token before ⁇ is the question
mark), only the former is said. No torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.inspection.captions import CLEAR_FACTOR, CLEAR_WEIGHT
from core.inspection.scores import FIRST_ROW
from core.inspection.traced import AttentionTrace

IN_EVERY_ROW = ("previous token", "same token", "first token")
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
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the parts of a question stand: token positions. A surname is a name's last word."""

    mark: int
    name: tuple[int, ...]
    surname: tuple[int, ...]
    question_mark: tuple[int, ...]

    @property
    def words_around(self) -> tuple[int, ...]:
        """The rest of a question that follows the template; else nothing."""
        if not self.name:
            return ()
        return tuple(sorted({*range(self.mark)} - {*self.name, *self.question_mark}))


def find_places(
    labels: Sequence[str], word_starts: Sequence[bool], name: Sequence[int], mark: int
) -> Places:
    """From the tokens of a question, the positions of its name, and the position of its ⁇."""
    starts = [position for position in name if word_starts[position]]
    last = starts[-1] if starts else 0
    return Places(
        mark=mark,
        name=tuple(name),
        surname=tuple(position for position in name if position >= last),
        question_mark=(mark - 1,) if mark and labels[mark - 1] == "?" else (),
    )


def places_of(trace: AttentionTrace) -> Places:
    """The places in a traced question."""
    mark = trace.steps[0].row
    return find_places(trace.labels, trace.word_starts, trace.name_positions, mark)


def pattern_masks(
    places: Places,
    rows: Sequence[int],
    columns: Sequence[int],
    n_tokens: int,
    *,
    of_tokens: bool = True,
) -> Numbers:
    """(patterns, L, L): 1 / (rows of the pattern) at each of its keys, so that the product with a
    map, summed, is the score. All zero for a pattern that does not occur.

    `rows` and `columns` are the positions that look and are looked at. Where the columns are a
    Perceiver's latents (not `of_tokens`), no part of the question is looked at. Where a latent
    looks, the last one at or before ⁇ takes the place of the row that writes the first token.
    """
    masks = np.zeros((len(PATTERNS), n_tokens, n_tokens))
    for row in (row for row in rows if row >= FIRST_ROW):
        seen = [column for column in columns if column <= row]
        before = [column for column in seen if column < row]
        masks[0, row, before[-1:]] = 1
        masks[1, row, [column for column in seen if column == row]] = 1
        masks[2, row, seen[:1]] = 1
    writing = max(row for row in rows if row <= places.mark)
    keys = (
        places.surname,
        tuple(sorted({*places.name} - {*places.surname})),
        places.name,
        places.question_mark,
        (places.mark,),
        places.words_around,
    )
    for index, positions in enumerate(keys, len(IN_EVERY_ROW)):
        if of_tokens:
            masks[index, writing, [p for p in positions if p <= writing]] = 1
    n_rows = masks.any(-1).sum(-1)
    return masks / np.maximum(n_rows, 1)[:, None, None]


def pattern_scores(weights: NDArray[np.floating[Any]], masks: Numbers) -> Numbers:
    """(…, patterns) from maps (…, L, L); nan for a pattern that does not occur."""
    scores = np.einsum("...ij,pij->...p", weights.astype(np.float64), masks, optimize=True)
    return np.where(masks.any((-2, -1)), scores, np.nan)


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


def caption(scores: Numbers, uniform: Numbers) -> str:
    """One phrase for a table."""
    return clear_pattern(scores, uniform) or NO_PATTERN


def caption_sentence(name: str, scores: Numbers, uniform: Numbers) -> str:
    """The same with its numbers, for a title: what a head does, when, and beside which baseline."""
    best = clear_pattern(scores, uniform)
    if best is None:
        return (
            f"{name} has {NO_PATTERN}: nothing gets both a weight of {CLEAR_WEIGHT:g} and clearly "
            "more than uniform attention would give it"
        )
    index = PATTERNS.index(best)
    when = "" if best in IN_EVERY_ROW else " when it writes the first token of the answer"
    return (
        f"{name} looks at the {best}{when} "
        f"(weight {scores[index]:.2g}, uniform {uniform[index]:.2g})"
    )
