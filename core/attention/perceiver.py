"""Perceiver: attention through a bottleneck of m latents (Jaegle et al. 2021; the exercise's form).

    down    Z₀ = C + attention(LN(C), LN(X))        queries from a learned basis C (1, m, d)
    blocks  Z  = Z + attention(LN(Z), LN(Z))        ordinary layers at length m
    up      Y  = X + attention(LN(X), LN(Z))        queries from what the first layer read

each followed by its MLP. C + and X + are the residual paths around the two projections; without
them (`latent_residual=False`) only the attention's output goes on, as in several public solutions.

Masks: latent j stands at position p(j) = j · stride. Latent j sees the tokens at positions ≤ p(j),
latent j sees the latents k ≤ j, and token t sees the latents with p(k) ≤ t. Both projections are
therefore triangular, and nothing flows backwards in time.

What token t can be told about. Stride 1 is the course's form: the last latent stands at m − 1, so
tokens 0 … min(t, m − 1) reach token t through the latents, and token t itself through its query
and the residual path. The tokens from m on reach nobody but themselves: for t > m, all of
m … t − 1 are lost. Stride s > 1 carries later tokens through: tokens 0 … s · ⌊t / s⌋ reach token t
(up to the last latent, at s · (m − 1)), and token t itself as before. With s = 2 and
m = block_size / 2 nothing is lost; with s > 2 the up to s − 2 tokens just before t are.

Cost, L tokens: L·m·d time down and up, m²·d a layer between, against L²·d without the bottleneck.
The latents that stand before a position never change later, so a key-value cache is exact.
"""

import torch
from torch import Tensor


def latent_positions(n_latents: int, stride: int, tokens: Tensor) -> Tensor:
    """Where the latents stand that belong to consecutive token positions, ascending."""
    standing = torch.arange(n_latents, device=tokens.device) * stride
    return standing[(standing >= tokens[0]) & (standing <= tokens[-1])]
