"""How sure one is of a share or a rate: Wilson's interval, and one by drawing groups again; of a
mean over a few repetitions, and of the difference of two: Student's t.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, variance

import numpy as np

DRAWS = 2000
HALVINGS = 60  # of the range of t: more than a float can tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share or a rate with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson_interval(correct: int, total: int, *, z: float = 1.96) -> tuple[float, float]:
    """Wilson score interval of a share (95 % by default); sound near 0 and 1."""
    if not 0 <= correct <= total or total < 1:
        raise ValueError(f"{correct} of {total}: needs 0 <= correct <= total and total >= 1")
    share, n = correct / total, total
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    # Where none or all are right the bound is the share itself, which rounding may miss.
    return (center - half if correct else 0.0), (center + half if correct < total else 1.0)


def grouped_rate(
    parts: Sequence[float], wholes: Sequence[float], groups: Sequence[Hashable], *, seed: int
) -> Rate:
    """Σ parts / Σ wholes; the interval holds the middle 95 % of DRAWS draws of whole groups.

    What is measured of one group (a person asked about in several voices) stands or falls together,
    so groups are drawn with replacement, as many as there are. Raises ValueError for fewer than
    two groups. Cost: DRAWS · groups numbers.
    """
    names = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    if len(names) < 2:
        raise ValueError(f"{len(names)} groups; an interval needs at least 2")
    of = np.array([names[name] for name in groups])
    part = np.bincount(of, weights=np.asarray(parts, float))
    whole = np.bincount(of, weights=np.asarray(wholes, float))
    times = np.random.default_rng(seed).multinomial(
        len(names), np.full(len(names), 1 / len(names)), size=DRAWS
    )
    low, high = np.quantile((times @ part) / (times @ whole), (0.025, 0.975))
    return Rate(value=float(part.sum() / whole.sum()), low=float(low), high=float(high))


def mean_interval(values: Sequence[float]) -> Rate:
    """Of n repetitions with the standard deviation s: mean ± t·s/√n, t of n − 1 degrees of freedom.

    Exact for normal values. Raises ValueError for fewer than two, of which nothing is known.
    """
    if (n := len(values)) < 2:
        raise ValueError(f"{n} values; an interval needs at least 2")
    middle, half = fmean(values), t_bound(n - 1) * math.sqrt(variance(values) / n)
    return Rate(value=middle, low=middle - half, high=middle + half)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Rate):
    """How much larger one mean is than another, with its 95 % interval; `n_pairs` is 0 where the
    two have no repetitions in common and their spreads are added.
    """

    n_pairs: int

    @property
    def may_be_noise(self) -> bool:
        """The interval holds 0, or has no width: then all repetitions happened to be alike."""
        return self.low <= 0 <= self.high or self.low == self.high


def mean_difference(one: Mapping[int, float], other: Mapping[int, float]) -> Difference | None:
    """mean(one) − mean(other), values by the seed that they come from.

    Where two seeds or more are shared the differences of each count, and nothing else: what a seed
    brings to both is gone. Else it is Welch's interval, its degrees of freedom rounded down. None
    where either has fewer than two values.
    """
    shared = [seed for seed in one if seed in other]
    if len(shared) > 1:
        found = mean_interval([one[seed] - other[seed] for seed in shared])
        return Difference(value=found.value, low=found.low, high=found.high, n_pairs=len(shared))
    if min(len(one), len(other)) < 2:
        return None
    parts = [variance(group.values()) / len(group) for group in (one, other)]
    half = t_bound(_welch(parts, [len(one), len(other)])) * math.sqrt(sum(parts))
    middle = fmean(one.values()) - fmean(other.values())
    return Difference(value=middle, low=middle - half, high=middle + half, n_pairs=0)


def _welch(parts: Sequence[float], counts: Sequence[int]) -> int:
    """(Σ vᵢ)² / Σ vᵢ²/(nᵢ − 1) with vᵢ = sᵢ²/nᵢ; without any spread that of the smaller group."""
    below = sum(part**2 / (n - 1) for part, n in zip(parts, counts, strict=True))
    return max(1, int(sum(parts) ** 2 / below)) if below else min(counts) - 1


@lru_cache(maxsize=256)
def t_bound(freedom: int) -> float:
    """The t that 95 % of Student's distribution lie within, on both sides of 0.

    By halving; P(|T| ≤ t) is a finite sum for whole degrees of freedom ν (Abramowitz and Stegun,
    Handbook of Mathematical Functions, 26.7.3 and 26.7.4). Raises ValueError for ν < 1.
    """
    if freedom < 1:
        raise ValueError(f"{freedom} degrees of freedom; at least 1 is needed")
    low, high = 0.0, math.pi / 2  # of θ = arctan(t / √ν)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 0.95 else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """P(|T| ≤ √ν·tan θ): for even ν sin θ · (1 + ½cos²θ + 1·3/(2·4)·cos⁴θ + …), for odd ν
    (2/π) · (θ + sin θ · (cos θ + ⅔cos³θ + …)); the last power of the cosine is ν − 2.
    """
    odd = freedom % 2
    total, term = 0.0, math.cos(angle) ** odd
    for k in range(odd, freedom - 1, 2):
        total += term
        term *= (k + 1) / (k + 2) * math.cos(angle) ** 2
    summed = math.sin(angle) * total
    return 2 / math.pi * (angle + summed) if odd else summed
