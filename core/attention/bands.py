"""What mechanisms with a window share: which pairs it holds, and texts in bands.

A window of w tokens is a token itself and the w − 1 before it. The text is cut into blocks of
b ≥ w − 1 tokens; a block's rows then find all their windows in the band of 2·b keys that is the
block before their own and their own. Positions of the band that no token stands at are below 0 or
beyond the text.

A ring holds the last w tokens of a text that is read token by token: position p in slot p modulo w.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention.chunks import in_chunks
from core.attention.masks import check_padding

LEAST_BLOCK = 16  # tokens: smaller ones are more steps than work


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """The last w keys and values (B, H, w, d) of `n_seen` tokens; slots not yet used are zero."""

    keys: Tensor
    values: Tensor
    n_seen: int

    @property
    def positions(self) -> Tensor:
        """(w,): where the token of each slot stands, below 0 for a slot that is not used."""
        w = self.keys.shape[2]
        slots = torch.arange(w, device=self.keys.device)
        return slots + (self.n_seen - 1 - slots).div(w, rounding_mode="floor") * w


def empty_ring(key: Tensor, value: Tensor, window: int) -> Ring:
    """Of a text that has not begun."""
    keys, values = (x.new_zeros(*x.shape[:2], window, x.shape[-1]) for x in (key, value))
    return Ring(keys=keys, values=values, n_seen=0)


def with_token(ring: Ring, key: Tensor, value: Tensor) -> Ring:
    """The ring after one more token (B, H, 1, d), which takes the place of the oldest."""
    here = torch.arange(ring.keys.shape[2], device=key.device) == ring.n_seen % ring.keys.shape[2]
    keys = torch.where(here[:, None], key, ring.keys)
    values = torch.where(here[:, None], value, ring.values)
    return Ring(keys=keys, values=values, n_seen=ring.n_seen + 1)


def ring_of(key: Tensor, value: Tensor, window: int) -> Ring:
    """The ring after a whole text (B, H, L, d)."""
    n_tokens = key.shape[2]
    ring = empty_ring(key, value, window)
    last = torch.arange(max(0, n_tokens - window), n_tokens, device=key.device)
    slots = last % window
    keys, values = (
        kept.index_copy(2, slots, x[:, :, last])
        for kept, x in ((ring.keys, key), (ring.values, value))
    )
    return Ring(keys=keys, values=values, n_seen=n_tokens)


def block_of(window: int, n_tokens: int) -> int:
    """How many tokens a block has."""
    return max(1, min(max(window, LEAST_BLOCK), n_tokens))


def in_bands(x: Tensor, block: int) -> Tensor:
    """(B, H, L, …) to (B, H, N, 2·b, …): each block behind the one before it, zeros before all."""
    blocks = in_chunks(x, block)
    before = torch.cat([torch.zeros_like(blocks[:, :, :1]), blocks[:, :, :-1]], dim=2)
    return torch.cat([before, blocks], dim=3)


def band_positions(block: int, n_tokens: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Where rows (N, b, 1) and the keys of their bands (N, 1, 2·b) stand."""
    starts = torch.arange(max(1, -(-n_tokens // block)), device=device)[:, None, None] * block
    offsets = torch.arange(-block, block, device=device)
    return starts + offsets[block:, None], starts + offsets


def hidden_in_bands(
    block: int, n_tokens: int, device: torch.device, padding: Tensor | None
) -> Tensor:
    """(B or 1, 1, N, b, 2·b): True for the future, for padding and where no token stands."""
    rows, columns = band_positions(block, n_tokens, device)
    hidden = (columns > rows) | (columns < 0)
    if padding is None:
        return hidden[None, None]
    return hidden | in_bands(padding[:, None], block)[..., None, :]


def check(query: Tensor, key: Tensor, window: int, padding: Tensor | None) -> None:
    """Raise ValueError unless queries and keys are the same tokens, and the window holds one."""
    if query.shape[2] != key.shape[2]:
        raise ValueError(
            f"{query.shape[2]} queries and {key.shape[2]} keys: a window needs the same tokens for "
            "both"
        )
    if window < 1:
        raise ValueError(f"a window of {window} tokens; it must be at least 1")
    check_padding(padding, key)
