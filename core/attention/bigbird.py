"""BigBird: softmax over a window, a few global blocks and a few random ones.

The text is cut into blocks of b tokens. Each block of queries sees g global blocks (the first
ones), the window of w blocks around its own and r blocks drawn at random, none twice; the global
blocks see everything (Zaheer et al. 2020, section 2). The global blocks make the graph of blocks a
star: any two tokens are two steps apart, which its proofs of universality rest on.

Causal: the window ends at the block's own, the random blocks are earlier ones, the global blocks
see no more than what was before them, and within its own block a token sees no later one. Random
and global blocks therefore never look ahead. A text of at most g + w + r blocks is attended to in
full.

Shapes: query, key, value (batch, head, position, head_dim); blocks (n_blocks, s), −1 for none.
Cost, s = g + w + r blocks seen: 4·L·s·b·d operations and L·s·(2·d + 3·b) numbers (gathered keys and
values, scores, masked scores, weights); not causal 4·g·b·L·d operations more for the global rows.
"""

from typing import cast

import torch
from torch import Tensor

from core.attention import softmax
from core.attention.masks import check_padding, hidden_pairs


def draw_blocks(
    n_blocks: int,
    *,
    n_global: int = 1,
    n_window: int = 3,
    n_random: int = 3,
    causal: bool = False,
    generator: torch.Generator,
) -> Tensor:
    """Which blocks each block of queries sees: (n_blocks, s), ascending, −1 where it sees fewer.

    n_window counts the block itself and is odd unless causal, where all of it lies before.
    """
    if n_window < 1 or (n_window % 2 == 0 and not causal):
        raise ValueError(f"a window of {n_window} blocks; it must be odd and at least 1")
    if min(n_global, n_random) < 0:
        raise ValueError(f"{n_global} global and {n_random} random blocks; neither can be negative")
    most = n_global + n_window + n_random
    before = n_window - 1 if causal else n_window // 2
    after = 0 if causal else n_window // 2
    rows: list[list[int]] = []
    for block in range(n_blocks):
        reachable = range(block + 1 if causal else n_blocks)
        near = range(max(0, block - before), block + after + 1)
        seen = {j for j in reachable if j < n_global or j in near or n_blocks <= most}
        others = [j for j in reachable if j not in seen]
        order = torch.randperm(len(others), generator=generator)
        drawn = cast("list[int]", order[:n_random].tolist())
        rows.append(sorted(seen.union(others[i] for i in drawn)))
    width = max((len(row) for row in rows), default=0)
    return torch.tensor([row + [-1] * (width - len(row)) for row in rows]).view(n_blocks, width)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    blocks: Tensor,
    *,
    block_size: int,
    n_global: int = 1,
    causal: bool = False,
    padding: Tensor | None = None,
) -> Tensor:
    """Output (B, H, L, d) in the value's dtype; `blocks` by draw_blocks with the same n_global."""
    check(query, key, blocks, block_size, padding)
    n_blocks, n_tokens = len(blocks), key.shape[2]
    blocks = blocks.to(key.device)
    queries, keys, values = (in_blocks(x, n_blocks, block_size) for x in (query, key, value))
    index = blocks.clamp(min=0)
    seen_keys, seen_values = (x[:, :, index].flatten(3, 4) for x in (keys, values))
    hidden = hidden_in_blocks(blocks, block_size, n_tokens, causal=causal, padding=padding)
    shown = softmax.shown_weights(softmax.scores(queries, seen_keys), hidden)
    output = (shown.to(value.dtype) @ seen_values).flatten(2, 3)[:, :, :n_tokens]
    rows = min(n_global * block_size, n_tokens)
    if causal or rows == 0:
        return output
    columns = None if padding is None else padding[:, None, None, :]
    whole, _ = softmax.attend(query[:, :, :rows], key, value, hidden=columns)
    return torch.cat([whole, output[:, :, rows:]], dim=2)


def in_blocks(x: Tensor, n_blocks: int, block_size: int) -> Tensor:
    """(B, H, L, d) to (B, H, n_blocks, b, d), filled up with zeros."""
    filled = torch.cat(
        [x, x.new_zeros(*x.shape[:2], n_blocks * block_size - x.shape[2], x.shape[3])], dim=2
    )
    return torch.unflatten(filled, 2, (n_blocks, block_size))


def weights(
    query: Tensor,
    key: Tensor,
    blocks: Tensor,
    *,
    block_size: int,
    n_global: int = 1,
    causal: bool = False,
    padding: Tensor | None = None,
) -> Tensor:
    """Weights (B, H, L, L), exactly 0 for the pairs that are left out."""
    check(query, key, blocks, block_size, padding)
    hidden = ~seen_pairs(blocks, block_size, key.shape[2], n_global=n_global, causal=causal)
    also = hidden_pairs(query, key, causal=causal, padding=padding)
    return softmax.shown_weights(
        softmax.scores(query, key), hidden if also is None else hidden | also
    )


def seen_pairs(
    blocks: Tensor, block_size: int, n_tokens: int, *, n_global: int, causal: bool
) -> Tensor:
    """(L, L), True where the blocks of two tokens see each other; causal or not by its blocks."""
    n_blocks = len(blocks)
    seen = torch.zeros(n_blocks, n_blocks + 1, dtype=torch.bool, device=blocks.device)
    seen.scatter_(1, blocks % (n_blocks + 1), value=True)  # −1 goes to a column that is cut off
    seen = seen[:, :-1]
    if not causal:
        seen[:n_global] = True
    tokens = seen.repeat_interleave(block_size, 0).repeat_interleave(block_size, 1)
    return tokens[:n_tokens, :n_tokens]


def hidden_in_blocks(
    blocks: Tensor, block_size: int, n_tokens: int, *, causal: bool, padding: Tensor | None
) -> Tensor:
    """(B or 1, 1, n_blocks, b or 1, s·b), True where a gathered key is not to be seen."""
    offsets = torch.arange(block_size, device=blocks.device)
    keys = (blocks[..., None] * block_size + offsets).flatten(1)  # (n_blocks, s·b)
    hidden = (keys < 0) | (keys >= n_tokens)
    hidden = hidden[None, None, :, None, :]
    if causal:
        rows = torch.arange(len(blocks), device=blocks.device)[:, None] * block_size + offsets
        hidden = hidden | (keys[:, None, :] > rows[..., None])
    if padding is None:
        return hidden
    padded = padding[:, keys.clamp(0, max(n_tokens - 1, 0))]  # (B, n_blocks, s·b)
    return hidden | padded[:, None, :, None, :]


def check(
    query: Tensor, key: Tensor, blocks: Tensor, block_size: int, padding: Tensor | None
) -> None:
    """Raise ValueError unless blocks and padding fit the tokens."""
    check_padding(padding, key)
    n_tokens = key.shape[2]
    if query.shape[2] != n_tokens:
        raise ValueError(
            f"{query.shape[2]} queries and {n_tokens} keys: BigBird needs the same tokens for both"
        )
    needed = -(-n_tokens // block_size)
    if len(blocks) != needed:
        raise ValueError(
            f"{len(blocks)} rows of blocks; {needed} are needed for "
            f"{n_tokens} tokens in blocks of {block_size}"
        )
