"""Taylor features: the product of two rows is the Taylor polynomial of exp, with K terms.

    φ(q)·φ(k) = Σ_{n<K} sⁿ / n!,  s = q · k / √d;   φ(x) = [1, t, vec(t tᵀ)/√2, …], t = x d^-¼

Full, degree n has all dⁿ products of n coordinates, r = Σ_{n<K} dⁿ; symmetric, it has each product
once with the root of how often it occurs, r = C(d + K − 1, K − 1). Both give the same attention.
K = 1 is uniform attention; K = 2 and every even K has an odd highest power, so that weights can be
negative; odd K never gives a negative one. Like every polynomial it cannot be as sharp as exp.
Source: Keles et al. 2023, On the computational complexity of self-attention (its upper bound).

Shapes: x (…, d) to (…, r). Cost: L·r, and r grows as d^(K−1).
"""

import math
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from core.attention.feature_maps import FeatureMap, Features


class Degree(NamedTuple):
    """The products of one degree, in order of their last coordinate, from those of one less.

    factors (r, 1): 1 / √c where the last coordinate is in the product c times. Multiplied over
    the degrees they make 1 / √(c₁! c₂! …): its square is the share of the product in sⁿ / n!.
    """

    parents: Tensor
    last: Tensor
    factors: Tensor

    def on(self, x: Tensor) -> "Degree":
        """Where x is, the factors in its precision."""
        return Degree(self.parents.to(x.device), self.last.to(x.device), self.factors.to(x))


def feature_map(head_dim: int, n_terms: int, *, symmetric: bool = True) -> FeatureMap:
    """The map for heads of this size with n_terms = K terms."""
    if n_terms < 1:
        raise ValueError(f"{n_terms} terms of the Taylor series; at least 1 is needed")
    if not symmetric:
        return partial(full_features, n_terms=n_terms)
    return partial(symmetric_features, degrees=degree_tables(head_dim, n_terms))


def polynomial(scores: Tensor, n_terms: int) -> Tensor:
    """Σ_{n<K} sⁿ / n!, what the product of two rows of features is for s = q · k / √d."""
    total = torch.ones_like(scores)
    for n in range(n_terms - 1, 0, -1):
        total = total * scores / n + 1.0
    return total


def full_features(x: Tensor, n_terms: int) -> Features:
    """Degree n is the outer product of degree n − 1 with t / √n: (…, Σ dⁿ)."""
    return Features(cast("Tensor", Full.apply(x * x.shape[-1] ** -0.25, n_terms)))


def symmetric_features(x: Tensor, degrees: list[Degree]) -> Features:
    """Degree n is chosen products of degree n − 1 with one coordinate more, see `Degree`."""
    d = x.shape[-1]
    if [len(y.last) for y in degrees] != [math.comb(d + n, n + 1) for n in range(len(degrees))]:
        raise ValueError(f"these Taylor features were made for another head_dim than {d}")
    here = [degree.on(x) for degree in degrees]
    return Features(cast("Tensor", Symmetric.apply(x * d**-0.25, here)))


class Full(torch.autograd.Function):
    """t (…, d) to degrees 0 … K − 1 side by side, each written where it stands."""

    @staticmethod
    def forward(ctx: Any, t: Tensor, n_terms: int) -> Tensor:
        sizes = [t.shape[-1] ** n for n in range(n_terms)]
        values = t.new_empty(*t.shape[:-1], sum(sizes))
        degrees = torch.split(values, sizes, dim=-1)
        degrees[0].fill_(1.0)
        for n in range(1, n_terms):
            out = torch.unflatten(degrees[n], -1, (-1, t.shape[-1]))
            torch.mul(degrees[n - 1].unsqueeze(-1), (t / n**0.5).unsqueeze(-2), out=out)
        ctx.save_for_backward(t, values)
        ctx.n_terms = n_terms
        return values

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator's types
        ctx: Any, *grads: Tensor
    ) -> tuple[Tensor, None]:
        t, values = ctx.saved_tensors
        sizes = [t.shape[-1] ** n for n in range(ctx.n_terms)]
        lower, pulls = torch.split(values, sizes, dim=-1), torch.split(grads[0], sizes, dim=-1)
        to_t, pull = torch.zeros_like(t), pulls[-1]
        for n in range(ctx.n_terms - 1, 0, -1):
            pairs = torch.unflatten(pull, -1, (-1, t.shape[-1])) / n**0.5
            to_t += (pairs * lower[n - 1].unsqueeze(-1)).sum(-2)
            pull = pulls[n - 1] + (pairs * t.unsqueeze(-2)).sum(-1)
        return to_t, None


class Symmetric(torch.autograd.Function):
    """The same with each product once, worked on as (…, r, L): whole rows are copied quickly."""

    @staticmethod
    def forward(ctx: Any, t: Tensor, degrees: list[Degree]) -> Tensor:
        upright = t.mT.contiguous()
        sizes = [1, *(len(degree.last) for degree in degrees)]
        values = t.new_empty(*t.shape[:-2], sum(sizes), t.shape[-2])
        parts = torch.split(values, sizes, dim=-2)
        parts[0].fill_(1.0)
        for n, degree in enumerate(degrees, start=1):
            more = upright.index_select(-2, degree.last).mul_(degree.factors)
            torch.index_select(parts[n - 1], -2, degree.parents, out=parts[n]).mul_(more)
        ctx.save_for_backward(upright, values)
        ctx.degrees = degrees
        return values.mT

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator's types
        ctx: Any, *grads: Tensor
    ) -> tuple[Tensor, None]:
        upright, values = ctx.saved_tensors
        degrees: list[Degree] = ctx.degrees
        sizes = [1, *(len(degree.last) for degree in degrees)]
        parts = torch.split(values, sizes, dim=-2)
        pulls = torch.split(grads[0].mT.contiguous(), sizes, dim=-2)
        to_t, pull = torch.zeros_like(upright), pulls[-1]
        for n, degree in reversed(list(enumerate(degrees, start=1))):
            pull = pull * degree.factors
            below = parts[n - 1].index_select(-2, degree.parents).mul_(pull)
            to_t.index_add_(-2, degree.last, below)
            more = upright.index_select(-2, degree.last).mul_(pull)
            pull = pulls[n - 1].clone().index_add_(-2, degree.parents, more)
        return to_t.mT, None


def degree_tables(head_dim: int, n_terms: int) -> list[Degree]:
    """Degrees 1 … K − 1."""
    last, times = torch.full((1,), -1), torch.zeros(1, dtype=torch.float64)
    degrees: list[Degree] = []
    for n in range(1, n_terms):
        # Those of degree n − 1 without a later coordinate than j come before all others.
        cuts = [math.comb(j + n - 1, n - 1) for j in range(head_dim)]
        again = [torch.where(last[:cut] == j, times[:cut] + 1, 1.0) for j, cut in enumerate(cuts)]
        last = torch.repeat_interleave(torch.arange(head_dim), torch.tensor(cuts))
        times = torch.cat(again)
        parents = torch.cat([torch.arange(cut) for cut in cuts])
        degrees.append(Degree(parents, last, times.rsqrt()[:, None]))
    return degrees
