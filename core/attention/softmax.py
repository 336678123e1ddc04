"""Explicit softmax attention: the form that can be looked at.

    weights = softmax(Q Kᵀ / √d),  output = weights V        (Vaswani et al. 2017, equation 1)

Shapes: query, key, value (batch, head, position, head_dim). Cost: L²·d time, 2·L² numbers a head.
"""

import torch
from torch import Tensor


def scores(query: Tensor, key: Tensor, *, hidden: Tensor | None = None) -> Tensor:
    """Scaled scores (B, H, L_q, L_k), at least float32; hidden pairs are minus infinity."""
    scaled = widened(query) @ widened(key).transpose(-2, -1) / query.shape[-1] ** 0.5
    return scaled if hidden is None else scaled.masked_fill(hidden, -torch.inf)


def weights(scaled: Tensor) -> Tensor:
    """Softmax over the keys (B, H, L_q, L_k); rows sum to 1, hidden keys get exactly 0."""
    return torch.softmax(scaled, dim=-1)


def shown_weights(scaled: Tensor, hidden: Tensor | None) -> Tensor:
    """Softmax over the keys that are not hidden; a row that sees none gets 0 and not NaN."""
    if hidden is None:
        return weights(scaled)
    blind = hidden.all(dim=-1, keepdim=True)
    shown = scaled.masked_fill(hidden & ~blind, -torch.inf)
    return weights(shown).masked_fill(blind, 0.0)


def attend(
    query: Tensor, key: Tensor, value: Tensor, *, hidden: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Output (B, H, L_q, d) in the value's dtype, and the weights; hidden as in `scores`."""
    shown = shown_weights(scores(query, key), hidden)
    return shown.to(value.dtype) @ value, shown


def future(rows: Tensor, columns: Tensor) -> Tensor:
    """(L_q, L_k) from the positions of queries and keys: True where the key comes later."""
    return columns > rows[:, None]


def widened(x: Tensor) -> Tensor:
    """Half precision as float32; everything wider as it is."""
    if x.dtype in (torch.float32, torch.float64):
        return x
    return x.to(torch.promote_types(x.dtype, torch.float32))
