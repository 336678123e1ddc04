"""Synthesizer: a token writes its own row of scores, without looking at any other token.

    weights = softmax(ReLU(X A + b₁) B + b₂),  output = weights (X V)

(dense Synthesizer of Tay et al. 2020, equations 2 and 3, in the form of the course's exercise:
A is cut into heads, B and b₂ are shared by them.) Column j of B belongs to position j, so a weight
depends on the token that looks and on where the other one stands, never on what stands there: row
i is the same whatever the tokens before i are, as long as x_i is. Scores are not scaled by √d.

Cost: L²·d/h a head for the weights and as much for the output; L is at most the columns of B.
"""

import torch
from torch import Tensor

from core.attention.softmax import future, widened


def scores(hidden: Tensor, second: Tensor, offset: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Scores (B, H, L_q, L_k), at least float32; future columns are minus infinity.

    hidden = ReLU(X A + b₁) (B, H, L_q, d/h); second = B (d/h, C) and offset = b₂ (C), or
    (H, d/h, C) and (H, 1, C) where each head has its own. rows and columns are positions; the
    columns are 0, 1, … without a gap.
    """
    n_keys = len(columns)
    written = widened(hidden) @ widened(second[..., :n_keys]) + offset[..., :n_keys]
    return written.masked_fill(future(rows, columns), -torch.inf)
