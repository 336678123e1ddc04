"""Fused softmax attention: the same formula without keeping the weights.

Cost: L²·d time, L·d numbers. Which kernel runs is torch's choice.
"""

import torch.nn.functional as F
from torch import Tensor

from core.attention.softmax import future


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal output (B, H, L_q, d); with fewer queries than keys they are the last positions.

    torch's `is_causal` aligns the mask with the first key, so it only serves equal lengths.
    """
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    if n_queries == n_keys:
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)
    mask = None if n_queries == 1 else ~future(n_queries, n_keys, query.device)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
