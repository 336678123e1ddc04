"""How sure one is of a share or a rate: Wilson's interval, and one by drawing groups again."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

DRAWS = 2000


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
