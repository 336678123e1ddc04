"""Perceiver: attention through a bottleneck of m latents (Jaegle et al. 2021; the exercise's form).

    down    Z₀ = C + attention(LN(C), LN(X))        queries from a learned basis C (1, m, d)
    blocks  Z  = Z + attention(LN(Z), LN(Z))        ordinary layers at length m
    up      Y  = X + attention(LN(X), LN(Z))        queries from what the first layer read

each followed by its MLP. The first argument of attention gives the queries, the second keys and
values; LN is the layer's own norm, one for both. C + and X + are the residual paths around the two
projections; without them (`latent_residual=False`) only the attention's output goes on. With
`latent_norm="latents"` the norm stands on the latents' side alone, and X is read as it is:

    down    Z₀ = C + attention(LN(C), X)
    up      Y  = X + attention(X, LN(Z))

The exercise's hints name a norm of C on the way down and of Z on the way up, and none of X.

Masks: latent j stands at position p(j) = j · stride. Latent j sees the tokens at positions ≤ p(j),
latent j sees the latents k ≤ j, and token t sees the latents with p(k) ≤ t. Both projections are
therefore triangular, and nothing flows backwards in time.

What token t can be told about. Stride 1 is the course's form: the last latent stands at m − 1, so
tokens 0 … min(t, m − 1) reach token t through the latents, and token t itself through its query
and the residual path. The tokens from m on reach nobody but themselves: for t > m, all of
m … t − 1 are lost. Stride s > 1 carries later tokens through: tokens 0 … s · ⌊t / s⌋ reach token t
(up to the last latent, at s · (m − 1)), and token t itself as before. With s = 2 and
m = block_size / 2 nothing is lost; with s > 2 the up to s − 2 tokens just before t are. Without the
residual path the tokens 1 … s − 1 lose themselves too: whatever their query, they see one latent.

Cost, L tokens: L·m·d time down and up, m²·d a layer between, against L²·d without the bottleneck.
The latents that stand before a position never change later, so a key-value cache is exact.
`attend` is the bottleneck alone, with no layer between and nothing learned but the basis.
"""

import torch
from torch import Tensor

from core.attention import softmax
from core.attention.masks import check_padding, hidden_pairs


def latent_positions(n_latents: int, stride: int, tokens: Tensor) -> Tensor:
    """Where the latents stand that belong to consecutive token positions, ascending."""
    standing = torch.arange(n_latents, device=tokens.device) * stride
    return standing[(standing >= tokens[0]) & (standing <= tokens[-1])]


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    basis: Tensor,
    *,
    causal: bool = False,
    stride: int = 1,
    padding: Tensor | None = None,
) -> Tensor:
    """Output (B, H, L_q, d): Z = softmax(C Kᵀ/√d) V, then softmax(Q Zᵀ/√d) Z; basis C (H, m, d)."""
    up, _, latents = both_ways(
        query, key, value, basis, causal=causal, stride=stride, padding=padding
    )
    return (up @ latents).to(value.dtype)


def weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    basis: Tensor,
    *,
    causal: bool = False,
    stride: int = 1,
    padding: Tensor | None = None,
) -> Tensor:
    """Effective weights (B, H, L_q, L_k): up times down, rows sum to 1."""
    up, down, _ = both_ways(query, key, value, basis, causal=causal, stride=stride, padding=padding)
    return up @ down


def both_ways(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    basis: Tensor,
    *,
    causal: bool,
    stride: int,
    padding: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Weights up (B, H, L_q, m) and down (B, H, m, L_k), and the latents (B, H, m, d) between.

    A latent that sees nothing is hidden from every row.
    """
    check_padding(padding, key)
    unseen = None if padding is None else padding[:, None, None, :]
    later = None
    if causal:
        hidden_pairs(query, key, causal=True)
        tokens = torch.arange(key.shape[2], device=key.device)
        standing = latent_positions(basis.shape[1], stride, tokens)
        basis = basis[:, : len(standing)]
        ahead = softmax.future(standing, tokens)
        unseen = ahead if unseen is None else ahead | unseen
        later = softmax.future(tokens, standing)
    down = softmax.shown_weights(softmax.scores(basis[None], key), unseen)
    latents = down @ softmax.widened(value)
    if padding is not None and unseen is not None:
        empty = unseen.all(dim=-1)[:, :, None, :]
        later = empty if later is None else later | empty
    up = softmax.shown_weights(softmax.scores(query, latents), later)
    return up, down, latents
