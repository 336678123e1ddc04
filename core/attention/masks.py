"""Which pairs of query and key are hidden, and which rows see nothing at all.

padding (batch, key) is True where a key is padding. Causal: a row sees itself and what was before.
"""

import torch
from torch import Tensor


class NoCausalFormError(ValueError):
    """The mechanism mixes positions in a way that no mask over pairs can undo."""

    def __init__(self, mechanism: str, why: str) -> None:
        super().__init__(f"{mechanism} has no causal form: {why}")


def hidden_pairs(
    query: Tensor, key: Tensor, *, causal: bool = False, padding: Tensor | None = None
) -> Tensor | None:
    """(B or 1, 1, L_q, L_k), True where the pair is hidden; None if none is."""
    check_padding(padding, key)
    columns = None if padding is None else padding[:, None, None, :]
    if not causal:
        return columns
    n_tokens = key.shape[2]
    if query.shape[2] != n_tokens:
        raise ValueError(
            f"{query.shape[2]} queries and {n_tokens} keys: causal attention needs them to be the "
            "same tokens"
        )
    positions = torch.arange(n_tokens, device=key.device)
    future = (positions > positions[:, None])[None, None]
    return future if columns is None else future | columns


def blind_rows(padding: Tensor, n_queries: int, *, causal: bool = False) -> Tensor:
    """(B, L_q), True for rows that see no key: their output is 0 and says nothing."""
    if not causal:
        return padding.all(dim=1, keepdim=True).expand(-1, n_queries)
    return padding.cummin(dim=1).values[:, :n_queries]


def check_padding(padding: Tensor | None, key: Tensor) -> None:
    """Raise ValueError unless the mask is a truth value for each key of each text."""
    if padding is None:
        return
    expected = (key.shape[0], key.shape[2])
    if padding.dtype != torch.bool:
        raise ValueError(f"padding is {padding.dtype}; it must be torch.bool, True for padding")
    if tuple(padding.shape) != expected:
        raise ValueError(f"padding is {tuple(padding.shape)}; (batch, keys) is {expected}")
