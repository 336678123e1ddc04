"""Vectors of many dimensions as points in three: principal components, and what they leave out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.data.characters import SPACE_GLYPH

N_AXES = 3
KINDS = ("special", "first token", "digit", "punctuation", "start of a word", "inside a word")


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """points (L, 3); shares (3,): what part of the variance each axis has, 0 if there is none."""

    points: NDArray[np.float32]
    shares: NDArray[np.float64]


def principal(vectors: NDArray[np.floating[Any]]) -> Components:
    """The first three principal components of vectors (L, n), around their mean.

    points = U·S of the singular value decomposition; share = S²/ΣS². Axes that there are too few
    vectors or dimensions for are zero. Cost: O(L n min(L, n)). Raises ValueError without vectors.
    """
    if vectors.ndim != 2 or not vectors.size:
        raise ValueError(f"vectors of shape {vectors.shape}; (L, n) with at least one is needed")
    centred = vectors.astype(np.float64) - vectors.mean(0, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    n = min(N_AXES, len(sizes))
    points = np.zeros((len(vectors), N_AXES), dtype=np.float32)
    points[:, :n] = left[:, :n] * sizes[:n]
    shares, total = np.zeros(N_AXES), float(np.square(sizes).sum())
    if total > 0:
        shares[:n] = np.square(sizes[:n]) / total
    return Components(points=points, shares=shares)


def token_kind(label: str, *, starts: bool, special: bool, first: bool) -> str:
    """One of KINDS: what a token is by its text and its place; marks such as BOS come first."""
    text = label.replace(SPACE_GLYPH, "").replace("▁", "").strip()
    if special:
        return KINDS[0]
    if first:
        return KINDS[1]
    if text and all(character.isdigit() for character in text):
        return KINDS[2]
    if not any(character.isalnum() for character in text):
        return KINDS[3]
    return KINDS[4] if starts else KINDS[5]
