"""Heads made by hand, each of which does one thing, and a question to name its parts of."""

import numpy as np

from core.inspection.patterns import (
    Places,
    caption,
    pattern_masks,
    pattern_scores,
    uniform_pattern_scores,
)

LABELS = "·Where ·was ·A da ·Ar den ·born ? ⁇ ·Li ma".split()
STARTS = [True, True, True, False, True, False, True, True, True, True, False]
N, MARK = len(LABELS), 8
PLACES = Places(mark=MARK, name=(2, 3, 4, 5), surname=(4, 5), question_mark=(7,))
VISIBLE = np.tri(N, dtype=bool)
MASKS = pattern_masks(PLACES, range(N), range(N), N)
UNIFORM = uniform_pattern_scores(VISIBLE, MASKS)


def uniform_head() -> np.ndarray:
    return VISIBLE / VISIBLE.sum(-1, keepdims=True)


def head_on(columns: list[int], share: float) -> np.ndarray:
    """Uniform, but in the row of ⁇ `share` on some columns and the rest evenly on the others."""
    weights = uniform_head()
    others = [column for column in range(MARK + 1) if column not in columns]
    weights[MARK] = 0
    weights[MARK, columns] = share / len(columns)
    weights[MARK, others] = (1 - share) / len(others)
    return weights


def caption_of(weights: np.ndarray) -> str:
    return caption(pattern_scores(weights, MASKS), UNIFORM)


def previous_token_head(n: int) -> np.ndarray:
    """Row 0 can only look at itself, every other row looks at the token before."""
    weights = np.eye(n, k=-1, dtype=np.float32)
    weights[0, 0] = 1
    return weights


def first_token_head(n: int) -> np.ndarray:
    weights = np.zeros((n, n), dtype=np.float32)
    weights[:, 0] = 1
    return weights
