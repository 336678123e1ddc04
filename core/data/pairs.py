"""Multi-query associative recall (Arora et al. 2023, "Zoology"): pairs first, then every key.

    k₁ v₁ k₂ v₂ … kₙ vₙ  k₃ k₁ … kₙ

Behind each asked key its own value is the right answer, the next token. Keys of a text differ;
values may repeat, and say nothing of their keys: only looking back can tell. A key is one of 64
letters and digits of the Latin alphabet, a value one of 64 Greek and Cyrillic letters, so that a
text can be read and typed. Free of torch.
"""

import hashlib
from dataclasses import dataclass
from string import ascii_letters, digits

import numpy as np
from numpy.typing import NDArray

from core.data.own_vocabulary import CharVocabulary

KEYS = ascii_letters + digits + "&#"
VALUES = "αβγδεζηθικλμνξοπρστυφχψω" + "абвгдежзийклмнопрстуфхцчшщъыьэюя" + "ΓΔΘΛΞΠΣΦ"
MOST_PAIRS = len(KEYS)
TOKENS_PER_PAIR = 3
# Seeds of what no training draws.
SPLITS = {"held-out": 1, "dev": 2, "test": 3}
UNASKED = -100  # a target that does not count
Ids = NDArray[np.int64]


def pairs_vocabulary() -> CharVocabulary:
    """All keys and values."""
    return CharVocabulary.from_text(KEYS + VALUES)


@dataclass(frozen=True, slots=True)
class Asked:
    """Texts of n pairs: inputs and targets (texts, 3n), a target only behind an asked key."""

    inputs: Ids
    targets: Ids


@dataclass(frozen=True, slots=True)
class PairsData:
    """What is drawn from: no file, so the digest is that of the alphabets and of this format."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"pairs then keys: {KEYS} {VALUES}".encode()).hexdigest()


def draw_texts(n_pairs: int, n_texts: int, generator: np.random.Generator) -> Asked:
    """Raises ValueError for more pairs than there are keys."""
    if not 1 <= n_pairs <= MOST_PAIRS:
        raise ValueError(f"{n_pairs} pairs: 1 to {MOST_PAIRS} are possible, a key each")
    vocabulary = pairs_vocabulary()
    keys, values = (np.array(vocabulary.encode(letters)) for letters in (KEYS, VALUES))
    own = keys[_drawn(n_texts, len(KEYS), generator)[:, :n_pairs]]
    told = values[generator.integers(len(VALUES), size=own.shape)]
    order = _drawn(n_texts, n_pairs, generator)
    pairs = np.stack([own, told], -1).reshape(n_texts, -1)
    inputs = np.concatenate([pairs, np.take_along_axis(own, order, 1)], 1)
    targets = np.full_like(inputs, UNASKED)
    targets[:, 2 * n_pairs :] = np.take_along_axis(told, order, 1)
    return Asked(inputs, targets)


def held_back(split: str, n_pairs: int, n_asked: int) -> Asked:
    """Texts of a split with `n_asked` asked keys, or a few more: always the same."""
    generator = np.random.default_rng([SPLITS[split], n_pairs])
    return draw_texts(n_pairs, -(-n_asked // n_pairs), generator)


def _drawn(n_texts: int, n: int, generator: np.random.Generator) -> Ids:
    """A random order of 0 … n−1 for each text."""
    return generator.random((n_texts, n)).argsort(1)
