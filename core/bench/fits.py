"""What the times say: how fast they grow, and from which length on one method beats another.

Slope: least squares of log t on log L over the last three octaves, so that what a short call costs
anyway does not count; its standard error is that of the residuals, its interval Student's. Where
the lengths do not tell it there is a doubt, and it is not to be shown as a power. Crossover:
log(t_a / t_b) is interpolated to zero between two lengths, linearly in log L. Its interval is a
bootstrap: medians of times drawn again, 2.5 % to 97.5 % of the lengths where they cross; a drawing
that never crosses counts as the end of the range. Numpy only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.theory.student import student

Numbers = NDArray[np.float64]
# In words: `always` faster, `not in range`: never, `from` a length on, `up to` one, or `several`.
Verdict = Literal["always", "not in range", "from", "up to", "several"]
Doubt = Literal["too few lengths", "too short", "too uncertain"]
OCTAVES = 3
SHORTEST = 128  # below it the call itself is what takes the time
WIDEST = 0.5  # of half an interval: beyond it, it may hold the length as well as its square
N_DRAWS = 400
MOST_DRAWN = 200  # of a median's times: beyond it its spread is nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """t ∝ L^slope, exactly seconds = exp(intercept) · L^slope, over n_lengths from `shortest` on.

    The standard error is None with fewer than three lengths.
    """

    slope: float
    standard_error: float | None
    intercept: float
    shortest: int
    n_lengths: int

    @property
    def half_width(self) -> float | None:
        """Half of the 95 % interval of the slope."""
        if self.standard_error is None:
            return None
        return student(self.n_lengths - 2) * self.standard_error

    @property
    def doubt(self) -> Doubt | None:
        """Why the slope is no power of L; None if it may be shown as one, with its interval.

        Every mechanism reads all tokens: what surely grows more slowly than L is not yet the
        mechanism, but what a call costs at any length.
        """
        half = self.half_width
        too_slow = half is not None and round(self.slope + half, 2) < 1
        if half is not None and (self.shortest < SHORTEST or too_slow):
            return "too short"
        return self.doubt_of_step

    @property
    def doubt_of_step(self) -> Doubt | None:
        """The same of a step of generation, where not to grow with L is an answer."""
        half = self.half_width
        if half is None:
            return "too few lengths"
        return "too uncertain" if half >= WIDEST else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Median seconds by length, and quantiles of the times behind them."""

    lengths: tuple[int, ...]
    medians: tuple[float, ...]
    quantiles: tuple[tuple[float, ...], ...] = ()
    repeats: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossover:
    """Where a method begins to beat a baseline. Of several crossings `low` and `high` are the ends,
    and there is no one length; without any there is no interval.
    """

    verdict: Verdict
    seq_len: float | None = None
    low: float | None = None
    high: float | None = None


def fit(lengths: Sequence[int], seconds: Sequence[float]) -> Fit | None:
    """The slope of the last three octaves; None with fewer than two lengths there.

    Lengths under 128 count only where fewer than two others are there.
    """
    shortest = max(lengths, default=0) / 2**OCTAVES
    kept = [(n, t) for n, t in zip(lengths, seconds, strict=True) if n >= shortest]
    long = [(n, t) for n, t in kept if n >= SHORTEST]
    kept = long if len(long) > 1 else kept
    if len(kept) < 2:
        return None
    x, y = np.log(np.array(kept, dtype=np.float64)).T
    dx = x - x.mean()
    slope = float((dx * y).sum() / (dx**2).sum())
    intercept = float(y.mean() - slope * x.mean())
    error = None
    if len(kept) > 2:
        residuals = y - intercept - slope * x
        variance = float((residuals**2).sum()) / (len(kept) - 2)
        error = float(np.sqrt(variance / (dx**2).sum()))
    return Fit(
        slope=slope,
        standard_error=error,
        intercept=intercept,
        shortest=min(n for n, _ in kept),
        n_lengths=len(kept),
    )


def crossings(lengths: Sequence[int], log_ratio: Numbers) -> list[float]:
    """Every length at which log(t_a / t_b) changes its sign, interpolated in log L."""
    where, found = np.log(np.array(lengths, dtype=np.float64)), list[float]()
    for i in range(len(lengths) - 1):
        left, right = float(log_ratio[i]), float(log_ratio[i + 1])
        if (left < 0) != (right < 0):
            share = left / (left - right)
            found.append(float(np.exp(where[i] + share * (where[i + 1] - where[i]))))
    return found


def crossover(method: Times, baseline: Times, *, seed: int = 0) -> Crossover | None:
    """From where the method is faster; None if the two have no length in common."""
    lengths = sorted(set(method.lengths) & set(baseline.lengths))
    if not lengths:
        return None
    ours, theirs = _at(method, lengths), _at(baseline, lengths)
    log_ratio = np.log(np.array([a[0] for a in ours]) / np.array([b[0] for b in theirs]))
    found = crossings(lengths, log_ratio)
    if len(found) > 1:
        return Crossover(verdict="several", low=found[0], high=found[-1])
    faster_at_first = bool(log_ratio[0] < 0)
    if not found:
        return Crossover(verdict="always" if faster_at_first else "not in range")
    low, high = _interval(lengths, ours, theirs, found[0], seed)
    verdict: Verdict = "up to" if faster_at_first else "from"
    return Crossover(verdict=verdict, seq_len=found[0], low=low, high=high)


Spread = tuple[float, tuple[float, ...], int]  # median, quantiles, repeats


def _at(times: Times, lengths: Sequence[int]) -> list[Spread]:
    known: Mapping[int, Spread] = {
        length: (
            times.medians[i],
            times.quantiles[i] if times.quantiles else (),
            times.repeats[i] if times.repeats else 0,
        )
        for i, length in enumerate(times.lengths)
    }
    return [known[length] for length in lengths]


def _interval(
    lengths: Sequence[int],
    ours: Sequence[Spread],
    theirs: Sequence[Spread],
    estimate: float,
    seed: int,
) -> tuple[float, float]:
    """Of drawings that cross more than once, the crossing next to the estimate counts."""
    rng = np.random.default_rng(seed)
    ratios = np.stack(
        [np.log(_drawn(a, rng) / _drawn(b, rng)) for a, b in zip(ours, theirs, strict=True)]
    )
    faster_at_first = ours[0][0] < theirs[0][0]
    places: list[float] = []
    for draw in ratios.T:
        found = crossings(lengths, draw)
        if found:
            places.append(min(found, key=lambda place: abs(np.log(place / estimate))))
        else:
            early = (float(draw[0]) < 0) != faster_at_first
            places.append(float(lengths[0] if early else lengths[-1]))
    low, high = np.quantile(np.array(places), [0.025, 0.975])
    return float(low), float(high)


def _drawn(spread: Spread, rng: np.random.Generator) -> Numbers:
    """(N_DRAWS,) medians of times drawn anew; the median itself where no times are known."""
    median, quantiles, repeats = spread
    if not quantiles:
        return np.full(N_DRAWS, median)
    n = min(max(repeats, 1), MOST_DRAWN)
    return np.median(rng.choice(np.array(quantiles), size=(N_DRAWS, n)), axis=1)
