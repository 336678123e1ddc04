"""How far a sample may lie from theory while theory is right, whatever the number of draws.

Shares, weights and squared distances are bounded, so no normal law is waited for. Each bound is
broken in at most a part `level` of all samples on either side.
"""

import math

import numpy as np


def count_bounds(n: int, p: float, level: float) -> tuple[int, int]:
    """The least and the greatest count of n that is not too rare: exact, of the binomial law.

    P(K < least) <= level and P(K > greatest) <= level. Cost: about 24·√(n p (1 − p)) numbers.
    """
    if not 0 < p < 1:
        return (0, 0) if p <= 0 else (n, n)
    away = 12 * math.sqrt(n * p * (1 - p)) + 40  # what lies further is less than 1e-20
    low, high = max(0, math.floor(n * p - away)), min(n, math.ceil(n * p + away))
    k = np.arange(low + 1, high + 1)
    odds = math.log(p) - math.log1p(-p)
    steps = np.concatenate([[0.0], np.cumsum(np.log((n - k + 1) / k) + odds)])
    ways = math.lgamma(n + 1) - math.lgamma(low + 1) - math.lgamma(n - low + 1)
    chances = np.exp(ways + low * math.log(p) + (n - low) * math.log1p(-p) + steps)
    below, above = np.cumsum(chances), np.cumsum(chances[::-1])
    least = low + int(np.searchsorted(below, level, side="right"))
    return least, high - int(np.searchsorted(above, level, side="right"))


def mean_room(variance: float, reach: float, n: int, level: float) -> float:
    """By how much a mean of n may pass its expectation on a side that a draw passes by `reach`.

    √(2 v L / n) + reach · L / 3n with L = ln(1 / level): Bernstein's inequality, variance known.
    """
    rare = math.log(1 / level)
    return math.sqrt(2 * variance * rare / n) + reach * rare / (3 * n)


def estimated_room(variance: float, width: float, n: int, level: float) -> float:
    """The same on either side for n >= 2 draws of a range `width`, with the sample's variance.

    √(2 V L / n) + 7 width · L / 3(n − 1) with L = ln(2 / level): the empirical Bernstein bound of
    Maurer and Pontil, COLT 2009, theorem 4.
    """
    rare = math.log(2 / level)
    return math.sqrt(2 * variance * rare / n) + 7 * width * rare / (3 * (n - 1))
