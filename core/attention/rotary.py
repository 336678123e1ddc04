"""Rotary position embedding (Su et al. 2021, equation 34).

Pair i of a head's d numbers is turned by the angle position · θ_i, θ_i = 10000^(−2i/d), so that
query · key depends on the distance of the two positions only. The two members of a pair are
i and i + d/2.
"""

import torch
from torch import Tensor


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """Turn (B, H, L, d) by the angles of `positions` (L,). Cost: L·d."""
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-torch.arange(half, device=x.device) / half)
    angle = positions[:, None] * frequency  # (L, d/2)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
