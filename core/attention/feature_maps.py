"""Feature maps φ: what linear attention puts in the place of exp(q · k / √d).

A map is a function of (…, d) that gives φ(x) = values · 2^log2_scale. The scale is one number a
row: in the output a query's cancels, and a key's is held against the largest one seen so far, so
that no power overflows and no row needs to know a later one. To autograd it is a constant. Powers
are of 2 throughout: on a processor torch raises 2 about three times as fast as e.

    elu+1   φ(x) = elu(x) + 1, r = d                     (Katharopoulos et al. 2020, equation 7)

Others: core.attention.favor, core.attention.taylor. Cost: L·d.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

# The scale of keys that do not count: below every other, yet finite, so that differences are
# numbers.
NOTHING = -1e30
LOG2_E = math.log2(math.e)


class Features(NamedTuple):
    """Values (…, r) and their scale (…, 1), as a power of 2; none is a scale of 1."""

    values: Tensor
    log2_scale: Tensor | None = None


FeatureMap = Callable[[Tensor], Features]


def elu(x: Tensor) -> Features:
    """Elu of x, plus 1."""
    if not x.requires_grad:
        return Features(elu_plus_one(x))
    return Features(cast("Tensor", EluPlusOne.apply(x)))


def elu_plus_one(x: Tensor) -> Tensor:
    """Above 0 it is x + 1; below it is exp(x) itself, which elu(x) + 1 would round to 0 far out."""
    above = x.relu()
    return (x - above).mul_(LOG2_E).exp2_().add_(above)


def of_keys(key: Tensor, feature_map: FeatureMap, padding: Tensor | None) -> Features:
    """Features of keys (B, H, L, d), zero where padding (B, 1, L, 1) is True.

    Zeroed after the map: elu+1 of a zero key is 1, and would count.
    """
    values, scale = feature_map(key)
    if padding is None:
        return Features(values, scale)
    shown = None if scale is None else scale.masked_fill(padding, NOTHING)
    return Features(values.masked_fill(padding, 0.0), shown)


def elu_slope(values: Tensor) -> Tensor:
    """The derivative where these are the values: the smaller of the value and 1."""
    return values.clamp(max=1.0)


class EluPlusOne(torch.autograd.Function):
    """Elu of x, plus 1, for autograd."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        values = elu_plus_one(x)
        ctx.save_for_backward(values)
        return values

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (values,) = ctx.saved_tensors
        return grads[0] * elu_slope(values)
