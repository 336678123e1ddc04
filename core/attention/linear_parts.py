"""What both forms of linear attention are made of: features with their way back, quotients."""

from typing import NamedTuple

import torch
from torch import Tensor

from core.attention.feature_maps import FeatureMap, Features, elu, elu_slope, of_keys
from core.attention.softmax import widened

# Bytes of the features that are worked on at a time: what a processor's cache holds, and what
# keeps a GPU busy.
CACHE, GPU = 2**20, 2**27
# Never fewer rows than this: the sums that every block adds to may be larger than the block.
FEWEST = 64
# Features of at most so many bytes are kept for the way back, larger ones are formed anew.
KEEP = 2**27


class Formed(NamedTuple):
    """Some rows and their features; with a way back if they were formed for a gradient.

    The slope of elu+1 is read off its values, which costs less than autograd's way back.
    """

    rows: Tensor
    features: Features
    is_elu: bool

    @property
    def values(self) -> Tensor:
        """Features without the way back."""
        return self.features.values.detach()

    def back(self, grad: Tensor) -> Tensor:
        """The gradient of the rows from that of the features, which it may change in place."""
        formed = self.features.values
        if self.is_elu:
            return grad.view_as(formed).mul_(elu_slope(formed))
        shaped = grad.view_as(formed)
        return torch.autograd.grad(formed, self.rows, shaped, retain_graph=True)[0]


class Pulled(NamedTuple):
    """The gradient of Σ … v (B, H, n, d), and that of the normaliser (B, H, n, 1)."""

    values: Tensor
    along: Tensor


def form(
    x: Tensor, feature_map: FeatureMap, *, padding: Tensor | None = None, back: bool
) -> Formed:
    """Features of rows (B, H, n, d), zero where padding (B, 1, n, 1) is True."""
    is_elu = feature_map is elu
    if is_elu or not back:
        rows = widened(x).detach()
        return Formed(rows, of_keys(rows, feature_map, padding), is_elu)
    with torch.enable_grad():
        rows = widened(x).detach().requires_grad_()
        return Formed(rows, of_keys(rows, feature_map, padding), is_elu)


def keeps(n_features: int, *rows: Tensor) -> bool:
    """Whether the features of all these rows (B, H, L, d) are few enough to be kept."""
    return sum(x.shape[2] * bytes_a_row(x, n_features) for x in rows) <= KEEP


def rows_at_once(x: Tensor, n_features: int) -> int:
    """How many positions' features are worked on at a time."""
    return max(FEWEST, (GPU if x.is_cuda else CACHE) // max(1, bytes_a_row(x, n_features)))


def bytes_a_row(x: Tensor, n_features: int) -> int:
    """Of the features at one position, in all heads."""
    return x.shape[0] * x.shape[1] * n_features * max(4, x.element_size())


def with_ones(value: Tensor, dtype: torch.dtype) -> Tensor:
    """(B, H, L, d + 1): the value and a column of ones, which sums up the normaliser."""
    columns = value.new_empty(*value.shape[:-1], value.shape[-1] + 1, dtype=dtype)
    columns[..., :-1] = value
    columns[..., -1] = 1.0
    return columns


def inverted(total: Tensor) -> Tensor:
    """1 / total, and 0 where nothing was summed: a row that sees no key gets no output."""
    return total.masked_fill(total == 0, torch.inf).reciprocal_()


def pull(grad: Tensor, output: Tensor, inverse: Tensor) -> Pulled:
    """The gradient of the sums, from that of their quotient."""
    wide = widened(grad)
    along = (wide * output).sum(-1, keepdim=True).mul_(inverse).neg_()
    return Pulled(wide * inverse, along)


def times(x: Tensor, factor: Tensor | None) -> Tensor:
    """No factor is a factor of 1."""
    return x if factor is None else x * factor


def rows_of(padding: Tensor | None, rows: slice) -> Tensor | None:
    """The same rows of a mask (B, 1, L, 1), if there is one."""
    return None if padding is None else padding[:, :, rows]
