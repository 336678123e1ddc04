"""Linformer: the keys and the values of all positions are mixed into k rows.

    output = softmax(Q (E K)ᵀ / √d) (F V)                     (Wang et al. 2020, equation 7)

E and F (k, L) mix positions, the same for all heads or (H, k, L). Padding is zeroed before it is
mixed, so that what stands there reaches no row. Weights over the k rows sum to 1, but those over
tokens (`weights`, times F) need not, and can be negative: values that are all 1 do not stay 1.
There is no causal form: each of the k rows holds all positions before any mask could be applied.

Shapes: query, key, value (batch, head, position, head_dim); at most L positions, the columns of E.
Cost: 4·L·k·d operations for the mixing and as many for the attention, 2·k·d and L·k numbers.
"""

import torch
from torch import Tensor

from core.attention import softmax
from core.attention.masks import NoCausalFormError, check_padding


def draw_projection(n_rows: int, n_tokens: int, *, generator: torch.Generator) -> Tensor:
    """(n_rows, n_tokens) in float64 from N(0, 1/k), the start that theorem 2 of the paper uses."""
    drawn = torch.randn(n_rows, n_tokens, generator=generator, dtype=torch.float64)
    return drawn / n_rows**0.5


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mix_keys: Tensor,
    mix_values: Tensor,
    *,
    causal: bool = False,
    padding: Tensor | None = None,
) -> Tensor:
    """Output (B, H, L_q, d) in the value's dtype. Raises NoCausalFormError if causal."""
    refuse(causal=causal)
    rows = mixed(key, mix_keys, padding)
    over_rows = softmax.weights(softmax.scores(query, rows))
    return (over_rows @ mixed(value, mix_values, padding)).to(value.dtype)


def weights(
    query: Tensor,
    key: Tensor,
    mix_keys: Tensor,
    mix_values: Tensor,
    *,
    causal: bool = False,
    padding: Tensor | None = None,
) -> Tensor:
    """Effective weights (B, H, L_q, L_k): what each value is multiplied by."""
    refuse(causal=causal)
    over_rows = softmax.weights(softmax.scores(query, mixed(key, mix_keys, padding)))
    shares = over_rows @ mix_values[..., : key.shape[2]].to(over_rows)
    return shares if padding is None else shares.masked_fill(padding[:, None, None, :], 0.0)


def mixed(x: Tensor, mix: Tensor, padding: Tensor | None) -> Tensor:
    """(B, H, L, d) to (B, H, k, d), padding left out."""
    n_tokens, most = x.shape[2], mix.shape[-1]
    if n_tokens > most:
        raise ValueError(f"{n_tokens} tokens are more than the {most} columns of Linformer's E, F")
    check_padding(padding, x)
    wide = softmax.widened(x)
    shown = wide if padding is None else wide.masked_fill(padding[:, None, :, None], 0.0)
    return mix[..., :n_tokens].to(shown) @ shown


def refuse(*, causal: bool) -> None:
    """Raise NoCausalFormError if it is to be causal."""
    if causal:
        raise NoCausalFormError("Linformer", "each of its k rows is a mixture of all positions")
