"""Explicit softmax attention: the form that can be looked at.

    weights = softmax(Q Kᵀ / √d),  output = weights V        (Vaswani et al. 2017, equation 1)

Shapes: query, key, value (batch, head, position, head_dim). Cost: L²·d time, 2·L² numbers a head.
"""

import torch
from torch import Tensor


def scores(query: Tensor, key: Tensor, *, causal: bool = True) -> Tensor:
    """Scaled scores (B, H, L_q, L_k) in float32; causal: future keys are minus infinity.

    With fewer queries than keys the queries are the last positions.
    """
    scaled = query.float() @ key.float().transpose(-2, -1) / query.shape[-1] ** 0.5
    if not causal:
        return scaled
    return scaled.masked_fill(future(query.shape[-2], key.shape[-2], query.device), -torch.inf)


def weights(scaled: Tensor) -> Tensor:
    """Softmax over the keys (B, H, L_q, L_k); rows sum to 1, masked keys get exactly 0."""
    return torch.softmax(scaled, dim=-1)


def future(n_queries: int, n_keys: int, device: torch.device) -> Tensor:
    """(L_q, L_k) booleans: True where the key comes after the query."""
    rows = torch.arange(n_keys - n_queries, n_keys, device=device)
    return torch.arange(n_keys, device=device) > rows[:, None]
