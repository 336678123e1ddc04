"""Figures over answers: how well a signal separates, how well probabilities say what is right.

numpy only. AUROC is the share of pairs (one read, one never read) in which the one that was read
has the higher value, ties counted half. Its interval is DeLong's (1988), formed on the logit scale
so that it stays between 0 and 1. Where his variance is 0 (all pairs in order, or all tied), that of
a share of as many trials as the smaller group has names takes its place (Wilson).
"""

from collections.abc import Sequence
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from core.intervals import wilson_interval
from core.knowledge.record import Auroc, Bin

N_BINS = 15
_Z = 1.96
Numbers = NDArray[np.float64]


def auroc(read: Numbers, never: Numbers, note: str = "") -> Auroc | None:
    """From the values of both, without those that are no number; None for fewer than two of one.

    Cost: a sort.
    """
    read, never = read[~np.isnan(read)], never[~np.isnan(never)]
    if min(len(read), len(never)) < 2:
        return None
    below = _below(read, never)
    above = 1 - _below(never, read)
    value = float(below.mean())
    variance = float(below.var(ddof=1) / len(read) + above.var(ddof=1) / len(never))
    low, high = _interval(value, variance, min(len(read), len(never)))
    return Auroc(value=value, low=min(low, value), high=max(high, value), note=note)


def best_head(
    read: Numbers, never: Numbers, *, seed: int = 0
) -> tuple[tuple[int, int], Auroc] | None:
    """Which head's weight on the name separates best, from (n, n_layers, n_heads) each.

    The head, and whether more or less weight means read, is chosen on one half of the names, drawn
    by the seed, and measured on the other: the best of many would look good by chance on the names
    that it was chosen on. None where no head can be measured.
    """
    generator = np.random.default_rng(seed)
    halves = [generator.permutation(len(values)) % 2 == 0 for values in (read, never)]
    found: list[tuple[float, tuple[int, int], float]] = []
    for at in np.ndindex(read.shape[1:]):
        chosen = auroc(read[halves[0]][:, *at], never[halves[1]][:, *at])
        if chosen is not None:
            sign = 1.0 if chosen.value >= 0.5 else -1.0
            found.append((abs(chosen.value - 0.5), (at[0], at[1]), sign))
    if not found:
        return None
    _, at, sign = max(found, key=lambda entry: entry[0])
    note = "" if sign > 0 else "less weight means read"
    measured = auroc(sign * read[~halves[0]][:, *at], sign * never[~halves[1]][:, *at], note)
    return None if measured is None else (at, measured)


def calibration(
    probabilities: Sequence[float], right: Sequence[bool], *, n_bins: int = N_BINS
) -> tuple[tuple[Bin, ...], float]:
    """Bins of equal width and their expected calibration error, Σ n/N · |right/n − confidence|.

    A bin holds its lower edge, the last one both; an empty one has confidence 0. No answers have
    error 0.
    """
    values, is_right = np.array(probabilities, dtype=np.float64), np.array(right, dtype=np.bool_)
    index = np.minimum((values * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(index, minlength=n_bins)
    hits = np.bincount(index[is_right], minlength=n_bins)
    confidence = np.bincount(index, weights=values, minlength=n_bins) / np.maximum(n, 1)
    error = float(np.abs(hits - n * confidence).sum() / max(len(values), 1))
    bins = tuple(
        Bin(
            low=i / n_bins,
            high=(i + 1) / n_bins,
            n=int(n[i]),
            confidence=float(confidence[i]),
            right=int(hits[i]),
        )
        for i in range(n_bins)
    )
    return bins, error


def _below(ones: Numbers, others: Numbers) -> Numbers:
    """Of each one the share of others below it, ties half."""
    ordered = np.sort(others)
    left, right = (np.searchsorted(ordered, ones, side=side) for side in ("left", "right"))
    return (left + right) / (2 * len(others))


def _interval(value: float, variance: float, n: int) -> tuple[float, float]:
    if variance == 0 or value in (0, 1):
        return wilson_interval(round(value * n), n)
    half = _Z * variance**0.5 / (value * (1 - value))
    middle = log(value / (1 - value))
    return _logistic(middle - half), _logistic(middle + half)


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > -500 else 0.0
