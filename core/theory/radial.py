"""The whole law when nothing but the length of one key varies: k_j = ε μ_j, ε ~ N(1, ρ).

Head h then gives key j the weight p_h(ε) = σ(s_h ε − r_h) with slope s_h = q_h·μ_j and
r_h = ln Σ_{i≠j} exp(q_h·μ_i); the other keys divide 1 − p_h in fixed parts.
Every share is monotone in ε as long as the slopes have one sign, so its law follows by
change of variables: density(x) = φ(z)/(√ρ |dx/dε|) at the ε with share(ε) = x.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.theory.normal import FARTHEST, cdf, log_sum_exp, sigmoid
from core.theory.normal import density as normal_density
from core.theory.quadrature import Estimate, integrate

Array = NDArray[np.float64]
REACH = 10.0  # Φ(−10) = 8e-24: what the moments leave out
HALVINGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RadialLaw:
    """slopes, rests (H,); parts (H, n): of 1 − p_h, 0 for the long key itself.

    head_shares (H,): in what parts the heads are averaged; sums to 1.
    lowest: the least z = (ε − 1)/√ρ that is kept, minus infinity unless draws are left out.
    """

    slopes: Array
    rests: Array
    parts: Array
    head_shares: Array
    long_key: int
    variance: float
    lowest: float = -math.inf

    def weights_at(self, epsilon: ArrayLike) -> Array:
        """(m, n): weights averaged over the heads."""
        return self._weights(np.atleast_1d(np.asarray(epsilon, dtype=float)))

    def share_at(self, epsilon: ArrayLike) -> Array:
        """(m,): the share on key a."""
        return self.weights_at(epsilon)[:, 0]

    def epsilon_density(self, epsilon: ArrayLike) -> Array:
        """Density of ε, of the kept draws. Raises ValueError for ρ = 0, where there is none."""
        z = self._z(np.asarray(epsilon, dtype=float))
        return np.where(z >= self.lowest, normal_density(z), 0.0) / (self._deviation * self.kept)

    @property
    def kept(self) -> float:
        """Probability of a draw that is not left out."""
        return 1.0 - float(cdf(self.lowest))

    @property
    def range(self) -> tuple[float, float]:
        """The least and greatest share that can occur."""
        z = np.array([max(self.lowest, -FARTHEST), FARTHEST])
        ends = self.share_at(1.0 + math.sqrt(self.variance) * z)
        return float(ends.min()), float(ends.max())

    @property
    def rising(self) -> bool:
        """The share on a grows with ε."""
        return bool((self.slopes > 0).any()) == (self.long_key == 0)

    def cdf(self, x: ArrayLike) -> Array:
        """P(share <= x); for ρ = 0 a step at the one share that occurs."""
        x = np.atleast_1d(np.asarray(x, dtype=float))
        if self.variance == 0 or not self.slopes.any():
            return (self.share_at(1.0)[0] <= x).astype(float)
        low, high = self.range
        below = self._mass_below(self._z_of(x))
        inside = below if self.rising else 1.0 - below
        return np.where(x < low, 0.0, np.where(x >= high, 1.0, inside))

    def density(self, x: ArrayLike) -> Array:
        """Density of the share, 0 outside its range. Raises ValueError where the share is fixed."""
        x = np.atleast_1d(np.asarray(x, dtype=float))
        if not self.slopes.any():
            raise ValueError("no head looks at the long key: the share is fixed, without density")
        z = self._z_of(x)
        slope = np.abs(self._share_slope(1.0 + self._deviation * z)) * self._deviation
        low, high = self.range
        inside = (x > low) & (x < high) & (z >= self.lowest) & (slope > 0)
        return np.where(inside, normal_density(z) / np.where(inside, slope, 1.0), 0.0) / self.kept

    def quantile(self, p: ArrayLike) -> Array:
        """The share below which a part p of the draws lies."""
        p = np.atleast_1d(np.asarray(p, dtype=float))
        part = p if self.rising else 1.0 - p
        low = np.full(p.shape, max(self.lowest, -FARTHEST))
        z = _bisect(lambda z: self._mass_below(z) < part, low, np.full(p.shape, FARTHEST))
        return self.share_at(1.0 + math.sqrt(self.variance) * z)

    def moments(self, value_gram: Array) -> tuple[Array, Estimate, Estimate, Estimate]:
        """Mean weights (n,); mean and variance of the share on a; total variance of c."""
        typical = self._weights(np.ones(1))[0]
        if self.variance == 0:
            return typical, Estimate(float(typical[0])), Estimate(0.0), Estimate(0.0)

        def integrand(z: Array) -> Array:
            # About the weights at ε = 1, so that small variances do not cancel.
            away = self._weights(1.0 + self._deviation * z) - typical
            squares = np.einsum("mi,ij,mj->m", away, value_gram, away)
            columns = np.column_stack([away, away[:, 0] ** 2, squares])
            return columns * normal_density(z)[:, None]

        found, errors = integrate(integrand, self._panels())
        found, errors = found / self.kept, errors / self.kept
        away, variance = found[:-2], found[-2] - found[0] ** 2
        total = found[-1] - float(away @ value_gram @ away)
        slack = float(np.abs(value_gram).sum()) * float(errors[:-2].max())
        return (
            typical + away,
            Estimate(float(typical[0] + away[0]), float(errors[0])),
            Estimate(max(float(variance), 0.0), float(errors[-2] + 2 * errors[0])),
            Estimate(max(float(total), 0.0), float(errors[-1]) + 2 * slack),
        )

    def p_off_center(self, t: float) -> Estimate:
        """P(|share − ½| > t)."""
        low, high = self.cdf([0.5 - t, 0.5 + t])
        return Estimate(float(low + 1.0 - high))

    def p_weight_below_half(self, head: int, keys: NDArray[np.bool_]) -> Estimate:
        """P(head h puts less than ½ on the keys marked True).

        With R its part of the rest, the weight is p + (1 − p) R if the long key is among them,
        else (1 − p) R: a bound on p, which is a bound on ε.
        """
        part = float(self.parts[head][keys].sum())
        if keys[self.long_key]:
            bound, falls_short_below = (0.5 - part) / (1.0 - part) if part < 0.5 else 0.0, True
        else:
            bound, falls_short_below = 1.0 - 0.5 / part if part > 0.5 else 0.0, False
        below = self._p_below(head, bound)
        return Estimate(below if falls_short_below else 1.0 - below)

    def _p_below(self, head: int, bound: float) -> float:
        """P(p_h < bound)."""
        if bound <= 0:
            return 0.0
        slope, rest = float(self.slopes[head]), float(self.rests[head])
        logit = math.log(bound) - math.log1p(-bound) + rest
        if slope == 0 or self.variance == 0:
            return float(slope < logit)
        below = float(self._mass_below(self._z(np.array([logit / slope])))[0])
        return below if slope > 0 else 1.0 - below

    @property
    def _deviation(self) -> float:
        if self.variance == 0:
            raise ValueError("radial variance ρ is 0: the share is fixed and has no density")
        return math.sqrt(self.variance)

    def _z(self, epsilon: Array) -> Array:
        return (epsilon - 1.0) / self._deviation

    def _weights(self, epsilon: Array) -> Array:
        own = sigmoid(epsilon[:, None] * self.slopes - self.rests)  # (m, H)
        left = sigmoid(self.rests - epsilon[:, None] * self.slopes)
        weights = left * self.head_shares @ self.parts
        weights[:, self.long_key] = own @ self.head_shares
        return weights

    def _share_slope(self, epsilon: Array) -> Array:
        x = epsilon[:, None] * self.slopes - self.rests
        steep = sigmoid(x) * sigmoid(-x) * self.slopes
        return (steep if self.long_key == 0 else -steep * self.parts[:, 0]) @ self.head_shares

    def _mass_below(self, z: Array) -> Array:
        """Probability of z' < z among the kept draws."""
        return np.clip((cdf(z) - cdf(self.lowest)) / self.kept, 0.0, 1.0)

    def _z_of(self, x: Array) -> Array:
        deviation = self._deviation

        def short(z: Array) -> NDArray[np.bool_]:
            below = self.share_at(1.0 + deviation * z) < x
            return below if self.rising else ~below

        return _bisect(short, np.full(x.shape, -FARTHEST), np.full(x.shape, FARTHEST))

    def _panels(self) -> list[float]:
        """Edges at the turning point p_h = ½ of each head, and around it at its own width."""
        low = max(self.lowest, -REACH)
        edges = {low, REACH, *np.linspace(low, REACH, 9).tolist()}
        for slope, rest in {*zip(self.slopes.tolist(), self.rests.tolist(), strict=True)}:
            if slope:
                middle = (rest / slope - 1.0) / self._deviation
                width = 1 / abs(slope * self._deviation)
                edges.update(
                    edge
                    for step in (-32, -8, -2, 0, 2, 8, 32)
                    if low < (edge := middle + step * width) < REACH
                )
        return sorted(edges)


def radial_law(
    means: Array, variances: Array, head_shares: Array, *, ignore_negative: bool = False
) -> RadialLaw | None:
    """The law for mean scores (H, n), radial variances (n,) and shares of the heads (H,), or None.

    None where more than one long key is looked at, or heads want opposite things of it.
    """
    seen = np.flatnonzero((variances > 0) & means.any(0))
    if len(seen) > 1:
        return None
    long_key = int(seen[0]) if len(seen) else 0
    slopes = means[:, long_key].copy()
    if slopes.min() < 0 < slopes.max():
        return None
    others = np.delete(means, long_key, axis=1)
    rests = log_sum_exp(others)
    parts = np.insert(np.exp(others - rests[:, None]), long_key, 0.0, axis=1)
    variance = float(variances[long_key]) if len(seen) else 0.0
    cut = ignore_negative and len(seen) and long_key == 0 and bool((slopes > 0).any())
    return RadialLaw(
        slopes=slopes,
        rests=rests,
        parts=parts,
        head_shares=head_shares,
        long_key=long_key,
        variance=variance,
        lowest=-1 / math.sqrt(variance) if cut else -math.inf,
    )


def _bisect(short: Callable[[Array], NDArray[np.bool_]], low: Array, high: Array) -> Array:
    """Where `short` turns from True to False between low and high."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = short(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
