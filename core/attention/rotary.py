"""Rotary position embedding (Su et al. 2021, equation 34).

Pair i of a head's d numbers is turned by the angle position · θ_i, θ_i = 10000^(−2i/d), so that
query · key depends on the distance of the two positions only. The two members of a pair are
i and i + d/2.
"""

import torch
from torch import Tensor

from core.attention.softmax import widened


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """Turn (B, H, L, d) by the angles of `positions` (L,). Cost: L·d."""
    half = x.shape[-1] // 2
    angle = angles(positions, half, dtype=widened(x).dtype)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def angles(positions: Tensor, n_pairs: int, *, dtype: torch.dtype) -> Tensor:
    """(L, n_pairs): position · θ_i."""
    pairs = torch.arange(n_pairs, device=positions.device, dtype=dtype)
    return positions[:, None] * 10000.0 ** (-pairs / n_pairs)
