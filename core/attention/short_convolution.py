"""A short causal convolution: each token takes up a little of those right before it.

    y_t = x_t + Σ_{i<n} w_i ∘ x_{t−i}        x before the text is 0

In front of queries, keys and values it lets a key know which token it follows, which attention
would need a layer of its own for. Linear models of today have one of 4 tokens (Mamba, Gu and Dao
2023; DeltaNet, Yang et al. 2024); beside the stream itself, as here, it is a Canon layer (Allen-Zhu
2025, arXiv 2512.17351).
"""

import torch.nn.functional as F
from torch import Tensor


def mix(x: Tensor, weights: Tensor) -> Tensor:
    """X (B, L, width), weights (n, width), the token's own first. Cost: n · L · width products.

    As shifted products, not as torch's depthwise convolution, which takes twice as long here.
    """
    n, length = len(weights), x.shape[1]
    padded = F.pad(x, (0, 0, n - 1, 0))
    mixed = x
    for back, weight in enumerate(weights):
        start = n - 1 - back
        mixed = mixed + weight * padded[:, start : start + length]
    return mixed
