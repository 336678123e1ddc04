"""Softmax in float64, and how far an output is from it: ‖output − softmax‖ / ‖softmax‖.

Over some rows only, evenly spread, in all heads: softmax of all L² pairs would be slower than
anything that is measured.
"""

import torch
from torch import Tensor

from core.attention import softmax

MOST_ROWS = 128


def chosen_rows(seq_len: int) -> Tensor:
    """At most MOST_ROWS positions, the first and the last among them."""
    return torch.linspace(0, seq_len - 1, min(seq_len, MOST_ROWS)).round().long()


@torch.no_grad()
def reference(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    """Softmax output (B, H, rows, d) of the chosen rows, in float64 on the processor."""
    rows = chosen_rows(query.shape[2])
    query, key, value = (x.cpu().double() for x in (query, key, value))
    hidden = softmax.future(rows, torch.arange(key.shape[2])) if causal else None
    return softmax.attend(query[:, :, rows], key, value, hidden=hidden)[0]


def last_row(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The same (B, H, 1, d) of the last token, which sees all."""
    return reference(query[:, :, -1:], key, value, causal=False)


def relative_error(output: Tensor, exact: Tensor) -> float:
    """Of an output (B, H, L, d), on the rows of the reference."""
    rows = chosen_rows(output.shape[2])
    return distance(output[:, :, rows.to(output.device)], exact)


def distance(output: Tensor, exact: Tensor) -> float:
    """‖output − exact‖ / ‖exact‖."""
    found, exact = output.cpu().double(), exact.cpu().double()
    return float((found - exact).square().sum().sqrt() / exact.square().sum().sqrt())
