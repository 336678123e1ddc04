"""Fused softmax attention: the same formula without keeping the weights.

Cost: L²·d time, L·d numbers. Which kernel runs is torch's choice.
"""

import torch.nn.functional as F
from torch import Tensor

from core.attention.masks import blind_rows, hidden_pairs
from core.attention.softmax import future


def attend(query: Tensor, key: Tensor, value: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Causal output (B, H, L_q, d); rows and columns are the positions of queries and keys.

    The same tensor for both says that the tokens look at themselves, which torch does fastest.
    """
    if rows is columns:
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)
    visible = ~future(rows, columns)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=visible)


def attend_all(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    causal: bool = False,
    padding: Tensor | None = None,
) -> Tensor:
    """Output (B, H, L_q, d) over all keys that are not padding; a row that sees none gets 0."""
    hidden = hidden_pairs(query, key, causal=causal, padding=padding)
    if padding is None or hidden is None:
        return F.scaled_dot_product_attention(query, key, value, is_causal=causal)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=~hidden)
    blind = blind_rows(padding, query.shape[2], causal=causal)
    return output.masked_fill(blind[:, None, :, None], 0.0)
