"""What is told of a sound that a recogniser wrote down, as plain arrays; free of torch.

Axes as everywhere: (layer, head, row, column). A column of the encoder, and of what the decoder
looks at, stands for STRIDE frames. Rows of the decoder are the characters it wrote, the end last:
row i is where it looked when it wrote character i.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Kind = Literal["encoder", "decoder", "cross"]
END = "⏎"
BAND = 0.1  # half the width of the diagonal, as a part of the sound


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One character: how likely it was, and what else was."""

    label: str
    probability: float
    next_best: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What shows that the weights shown are those that were used.

    replay_max_difference: of the logits by the weights shown against those by torch's own fused
    attention; row_sum_max_error: of any row of weights from 1.
    """

    replay_max_difference: float
    row_sum_max_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Listened:
    """A sound, what was written of it, and every head on the way.

    frames (T, N_BANDS). weights: of each kind that the model has (layers of that kind, H, rows,
    columns); `layers` says which layers of the model these are. ctc_text: what the encoder alone
    says, None where it was trained without that head.
    """

    text: str
    characters: tuple[Written, ...]
    frames: Array
    weights: dict[Kind, Array]
    layers: dict[Kind, tuple[int, ...]]
    ctc_text: str | None
    proof: Proof
    seconds_a_column: float

    @property
    def probability(self) -> float:
        """Of exactly this text."""
        return float(np.prod([one.probability for one in self.characters]))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(one.label for one in self.characters)

    @property
    def n_columns(self) -> int:
        return next(iter(self.weights.values())).shape[-1] if self.weights else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagonal:
    """How diagonal a head of cross-attention is.

    share: of its weight within BAND of the diagonal; uniform: what a head scores that looks at all
    alike. order: the rank correlation (Spearman) of each character's place and of the time it
    looks at on average; a head that looks at one time alone has 0.
    """

    share: float
    uniform: float
    order: float


def diagonal(weights: Array) -> Diagonal:
    """Of one head's weights (rows, columns); both axes are taken from 0 to 1."""
    n_rows, n_columns = weights.shape
    rows, columns = _middles(n_rows), _middles(n_columns)
    near = np.abs(rows[:, None] - columns) <= BAND
    looked: NDArray[np.float64] = weights @ columns
    return Diagonal(
        share=float((weights * near).sum() / n_rows),
        uniform=float(near.mean()),
        order=_rank_correlation(looked),
    )


def _middles(n: int) -> NDArray[np.float64]:
    """Of n equal parts of 0 to 1."""
    return np.linspace(0.5 / n, 1 - 0.5 / n, n)


def _rank_correlation(values: NDArray[np.floating]) -> float:
    """Spearman's, of values with their places; 0 where all values are (nearly) the same."""
    if len(values) < 2 or float(np.ptp(values)) < 1e-6:
        return 0.0
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return float(np.corrcoef(ranks, np.arange(len(values)))[0, 1])
