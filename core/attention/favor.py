"""FAVOR+: random features whose product is, on average, exp(q · k / √d).

With x scaled by d^-¼, rows w of the projection W (m, d) drawn from N(0, I):

    positive        φ(x) = m^-½ exp(−‖x‖²/2) exp(W x)                        r = m
    hyperbolic      φ(x) = (2m)^-½ exp(−‖x‖²/2) [exp(W x), exp(−W x)]        r = 2m
    trigonometric   φ(x) = m^-½ exp(‖x‖²/2) [cos(W x), sin(W x)]             r = 2m

(Choromanski et al. 2021, equation 5 and lemma 1.) Orthogonal rows keep the mean and lower the
variance (theorem 2 there). Positive features never give a negative weight; trigonometric ones do,
and their normaliser may be 0 or less: their error grows where the kernel goes to 0, and that of the
positive ones vanishes there.

Shapes: x (…, d) to (…, r). Cost: L·d·m. Every row has its own logarithmic scale, its largest
exponent; no number depends on another token.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, cast, get_args

import torch
from torch import Tensor

from core.attention.feature_maps import LOG2_E, FeatureMap, Features

Kind = Literal["positive", "hyperbolic", "trigonometric"]
# Features are at least 2^FLOOR of their row's largest: a product of two rows is never 0.
FLOOR = -86.0


def draw_projection(
    n_features: int, head_dim: int, *, generator: torch.Generator, orthogonal: bool = True
) -> Tensor:
    """W (n_features, head_dim) in float64, rows N(0, I); orthogonal within blocks of head_dim rows.

    Orthogonal rows are directions uniform on the sphere, with lengths of independent normal rows.
    """
    if n_features < 1:
        raise ValueError(f"{n_features} features; at least 1 is needed")
    rows = _normal(n_features, head_dim, generator)
    if not orthogonal:
        return rows
    n_blocks = -(-n_features // head_dim)
    blocks = [_directions(head_dim, generator) for _ in range(n_blocks)]
    return torch.cat(blocks)[:n_features] * rows.square().sum(-1, keepdim=True).sqrt()


def feature_map(projection: Tensor, kind: Kind = "positive") -> FeatureMap:
    """The map with these rows; it is the same at every call, drawing anew is up to the caller."""
    if kind not in get_args(Kind):
        raise ValueError(f"unknown kind of features {kind!r}; kinds: {', '.join(get_args(Kind))}")
    maps: dict[Kind, Callable[..., Features]] = {
        "positive": positive,
        "hyperbolic": hyperbolic,
        "trigonometric": trigonometric,
    }
    return partial(maps[kind], projection=projection)


def positive(x: Tensor, projection: Tensor) -> Features:
    """One exponential a row of W."""
    projected, half = project(x, projection, unit=LOG2_E)
    return raised(projected, half)


def hyperbolic(x: Tensor, projection: Tensor) -> Features:
    """Two exponentials a row of W, one on either side."""
    projected, half = project(x, projection, unit=LOG2_E)
    return raised(torch.cat([projected, -projected], dim=-1), half)


def trigonometric(x: Tensor, projection: Tensor) -> Features:
    """Cosine and sine a row of W; the scale is ‖x‖²/2 itself."""
    projected, half = project(x, projection)
    angles = torch.cat([projected.cos(), projected.sin()], dim=-1)
    scale = half.detach()
    root = 0.5 * math.log2(len(projection))
    return Features(angles * (half - scale).exp(), scale * LOG2_E - root)


def project(x: Tensor, projection: Tensor, *, unit: float = 1.0) -> tuple[Tensor, Tensor]:
    """W x (…, m) and ‖x‖²/2 (…, 1), x scaled by d^-¼; both times `unit`."""
    n_columns, d = projection.shape[1], x.shape[-1]
    if n_columns != d:
        raise ValueError(f"a projection of {n_columns} columns does not fit a head_dim of {d}")
    scaled = (projection * (unit * d**-0.25)).to(x)
    return x @ scaled.T, x.square().sum(-1, keepdim=True) * (0.5 * unit * d**-0.5)


def raised(exponent: Tensor, half: Tensor) -> Features:
    """2^(exponent − half) / √r, the values held against the row's largest exponent."""
    top = exponent.detach().amax(dim=-1, keepdim=True)
    fixed = half.detach()
    values = cast("Tensor", FlooredPower.apply(exponent, top + (half - fixed)))
    return Features(values, top - fixed - 0.5 * math.log2(exponent.shape[-1]))


class FlooredPower(torch.autograd.Function):
    """2^max(x − shift, FLOOR), taken for its own derivative but for the factor ln 2."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, shift: Tensor) -> Tensor:
        values = (x - shift).clamp_(min=FLOOR).exp2_()
        ctx.save_for_backward(values)
        return values

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        (values,) = ctx.saved_tensors
        to_x = (grads[0] * values).mul_(math.log(2))
        return to_x, -to_x.sum(-1, keepdim=True)


def _directions(n: int, generator: torch.Generator) -> Tensor:
    """Orthogonal directions, uniform: the signs of R undo the convention of the QR routine."""
    q, r = cast("tuple[Tensor, Tensor]", torch.linalg.qr(_normal(n, n, generator)))
    return (q * r.diagonal().sign()).T


def _normal(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    return torch.randn(rows, columns, generator=generator, dtype=torch.float64)
