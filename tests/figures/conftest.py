"""Causal weights and awkward labels."""

from collections.abc import Callable

import numpy as np
import pytest

from core.figures.attention import Matrix

REPEATED = ["A", "n", "n", "a", "·", "H", "a", "n", "n", "a", "h", '"', "\\", "'", "<b>&$x$</b>"]


@pytest.fixture(scope="session")
def causal() -> Callable[[int], Matrix]:
    """Weights (n, n) that look at few keys a row, as real heads do; rows sum to 1."""

    def make(n: int) -> Matrix:
        drawn = np.tril(np.random.default_rng(n).random((n, n)) ** 4)
        drawn[np.diag_indices(n)] += 1e-3
        return (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32)

    return make


@pytest.fixture
def labels() -> list[str]:
    """Repeated characters, and those that mean something in JSON, HTML, Markdown and LaTeX."""
    return list(REPEATED)
