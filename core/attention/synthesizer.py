"""Synthesizer: a token writes its own row of scores, without looking at any other token.

    weights = softmax(ReLU(X A + b₁) B + b₂),  output = weights (X V)

(dense Synthesizer of Tay et al. 2020, equations 2 and 3, in the form of the course's exercise:
A is cut into heads, B and b₂ are shared by them.) Column j of B belongs to position j, so a weight
depends on the token that looks and on where the other one stands, never on what stands there: row
i is the same whatever the tokens before i are, as long as x_i is. Scores are not scaled by √d.

The random Synthesizer (equation 5 there) has the scores themselves as parameters, R (H, C, C),
the same for every text: weights = softmax(R). Either is causal by hiding the future, and neither
reads more positions than it has columns.

Cost: L²·d/h a head for the weights (none if random) and as much for the output; L² numbers a head.
"""

import torch
from torch import Tensor

from core.attention.softmax import future, shown_weights, widened


def scores(hidden: Tensor, second: Tensor, offset: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Scores (B, H, L_q, L_k), at least float32; future columns are minus infinity.

    hidden = ReLU(X A + b₁) (B, H, L_q, d/h); second = B (d/h, C) and offset = b₂ (C), or
    (H, d/h, C) and (H, 1, C) where each head has its own. rows and columns are positions; the
    columns are 0, 1, … without a gap.
    """
    return written(hidden, second, offset, len(columns)).masked_fill(
        future(rows, columns), -torch.inf
    )


def written(hidden: Tensor, second: Tensor, offset: Tensor, n_keys: int) -> Tensor:
    """Scores for the first n_keys positions, nothing hidden; shapes as in `scores`."""
    check_length(n_keys, second.shape[-1])
    return widened(hidden) @ widened(second[..., :n_keys]) + offset[..., :n_keys]


def random_scores(table: Tensor, n_queries: int, n_keys: int) -> Tensor:
    """The table's scores (1, H, L_q, L_k) for the first positions, nothing hidden."""
    check_length(max(n_queries, n_keys), table.shape[-1])
    return widened(table[None, :, :n_queries, :n_keys])


def attend(scored: Tensor, value: Tensor, *, hidden: Tensor | None = None) -> Tensor:
    """Output (B, H, L_q, d) of scores by either; hidden pairs as in core.attention.masks."""
    return shown_weights(scored, hidden).to(value.dtype) @ value


def check_length(n_tokens: int, n_columns: int) -> None:
    """Raise ValueError for more tokens than the Synthesizer has columns."""
    if n_tokens > n_columns:
        raise ValueError(
            f"{n_tokens} tokens are more than the {n_columns} columns of the Synthesizer"
        )
