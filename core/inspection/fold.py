"""Fold a pattern over word pieces or characters into one over words.

Columns are summed (what all pieces of a word receive) and rows averaged (the word's mean row), so
that a row still sums to 1.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.data.byte_pieces import joined
from core.inspection.traced import Array, Step


def word_index(word_starts: Sequence[bool]) -> NDArray[np.intp]:
    """The word number of each token. Raises ValueError if the first token starts no word."""
    if not word_starts or not word_starts[0]:
        raise ValueError("the first token must start a word")
    return np.cumsum(np.asarray(word_starts, dtype=np.intp)) - 1


def word_labels(labels: Sequence[str], word_starts: Sequence[bool], space: str) -> list[str]:
    """The joined labels of each word, its characters whole, without the glyph of the leading
    space.
    """
    words: list[list[str]] = [[] for _ in range(int(word_index(word_starts)[-1]) + 1)]
    for label, word in zip(labels, word_index(word_starts), strict=True):
        words[word].append(label)
    return [_word(pieces, space) for pieces in words]


def written_words(steps: Sequence[Step], word_starts: Sequence[bool], space: str) -> list[Step]:
    """The written pieces as written words: each stands where its first piece does, with that
    piece's row and runners-up, and the probability of all its pieces.
    """
    words: list[list[Step]] = []
    for step in steps:
        goes_on = step.position < len(word_starts) and not word_starts[step.position]
        if goes_on and words:
            words[-1].append(step)
        else:
            words.append([step])
    return [
        replace(
            word[0],
            label=_word((step.label for step in word), space),
            probability=math.prod(step.probability for step in word),
        )
        for word in words
    ]


def _word(pieces: Iterable[str], space: str) -> str:
    word = joined(list(pieces))
    return word.removeprefix(space) or word


def fold_columns(values: Array, word_starts: Sequence[bool]) -> Array:
    """(..., L) to (..., words): the sum over the tokens of each word. Cost: one pass.

    Raises ValueError if word_starts does not fit the last axis.
    """
    starts = _first_tokens(word_starts, values.shape[-1])
    return np.add.reduceat(values, starts, axis=-1)


def fold_rows(values: Array, word_starts: Sequence[bool]) -> Array:
    """(..., L, n) to (..., words, n): the mean over the tokens of each word.

    Raises ValueError if word_starts does not fit the last but one axis.
    """
    starts = _first_tokens(word_starts, values.shape[-2])
    sums = np.add.reduceat(values, starts, axis=-2)
    counts = np.diff([*starts, values.shape[-2]])
    return (sums / counts[:, None]).astype(values.dtype)


def fold(weights: Array, word_starts: Sequence[bool]) -> Array:
    """(..., L, L) to (..., words, words); row sums are kept. Where every token is a word, what was
    given.
    """
    if all(word_starts) and len(word_starts) == weights.shape[-1]:
        return weights
    return fold_rows(fold_columns(weights, word_starts), word_starts)


def fold_visible(visible: NDArray[np.bool_], word_starts: Sequence[bool]) -> NDArray[np.bool_]:
    """(..., L, L) to (..., words, words): whether any token of a word may look at any of another.

    Raises ValueError if word_starts does not fit.
    """
    starts = _first_tokens(word_starts, visible.shape[-1])
    return np.logical_or.reduceat(np.logical_or.reduceat(visible, starts, -1), starts, -2)


def _first_tokens(word_starts: Sequence[bool], n_tokens: int) -> NDArray[np.intp]:
    if len(word_starts) != n_tokens or not word_starts[0]:
        raise ValueError(
            f"{len(word_starts)} word starts for {n_tokens} tokens: there must be one a token, and "
            "the first token must start a word"
        )
    return np.flatnonzero(np.asarray(word_starts))
