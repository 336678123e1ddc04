"""What leaves the sampler: counts, moments and their errors; never the draws themselves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.spec import PerturbationSpec

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Measured:
    """A sampled number and its standard error, None where the draws do not tell it.

    The value is nan where there is none: the variance of a single draw.
    """

    value: float
    standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """All that is kept of the draws.

    n_kept: draws left after `ignore_negative` (else all). mean_weights (n,), covariance_weights
    (n, n): of the weights averaged over the heads. share_counts: histogram of the share on a in
    equal bins on [0, 1]. plane_counts (bins, bins) or None: weights on (a, b). head_failures: one
    count a distinct query, with its number of heads in `head_counts`.
    """

    spec: PerturbationSpec
    n_kept: int
    mean_weights: Array
    covariance_weights: Array
    mean_share_a: Measured
    variance_share_a: Measured
    total_variance_c: Measured
    share_counts: Counts
    plane_counts: Counts | None
    off_center: tuple[tuple[float, int], ...]
    head_failures: tuple[int, ...]
    head_counts: tuple[int, ...]
    failing_head: int
    n_ignored: int

    @property
    def edges(self) -> Array:
        """The edges of the bins of `share_counts`."""
        return np.linspace(0.0, 1.0, len(self.share_counts) + 1)

    @property
    def mean_output(self) -> Array:
        """(d_v,): the mean of c."""
        return self.mean_weights @ self.spec.value_rows

    @property
    def deviation_share_a(self) -> Measured:
        """Standard deviation of the share on a; its error is that of the variance, over 2 sd."""
        variance = self.variance_share_a
        deviation = variance.value**0.5
        error = variance.standard_error
        return Measured(deviation, None if error is None else error / (2 * deviation))

    @property
    def p_ignored(self) -> Measured:
        """Share of the draws in which k_a·q < 0 for a head that asks for a."""
        return _probability(self.n_ignored, self.spec.n_draws)

    @property
    def p_head_fails(self) -> Measured:
        """P(less than half of the weight lies on the keys asked for), for the head that asks for a.

        If no head asks for a, the first head.
        """
        return _probability(self.head_failures[self.failing_head], self.n_kept)

    def p_off_center(self, t: float = 0.4) -> Measured:
        """P(|share − ½| > t). Raises ValueError for a t that was not counted."""
        for counted, count in self.off_center:
            if counted == t:
                return _probability(count, self.n_kept)
        raise ValueError(f"t = {t:g} was not counted; counted: {[c for c, _ in self.off_center]}")

    def quantile(self, p: float) -> Measured:
        """The p-quantile of the share on a from the histogram; the error includes half a bin.

        There is no error where it would reach beyond the least or the greatest draw.
        """
        if not 0 < p < 1:
            raise ValueError(f"quantile {p:g}: use a number between 0 and 1")
        value, spread = self._at(p), (p * (1 - p) / self.n_kept) ** 0.5
        if not spread < min(p, 1 - p):
            return Measured(value, None)
        low, high = self._at(p - spread), self._at(p + spread)
        return Measured(value, (high - low) / 2 + 0.5 / len(self.share_counts))

    def coarse_counts(self, n_bins: int) -> Counts:
        """The histogram in fewer bins. Raises ValueError unless n_bins divides theirs."""
        if n_bins < 1 or len(self.share_counts) % n_bins:
            raise ValueError(f"{n_bins} bins do not divide {len(self.share_counts)}")
        return self.share_counts.reshape(n_bins, -1).sum(1)

    @property
    def is_bimodal(self) -> bool:
        """Two heaps, each with at least 5 % of the draws, and a valley half as low between them."""
        heights = self.coarse_counts(20) / self.n_kept
        peak = int(np.argmax(heights))
        for other in range(20):
            between = heights[min(peak, other) + 1 : max(peak, other)]
            if heights[other] >= 0.05 and len(between) and between.min() < heights[other] / 2:
                return True
        return False

    def _at(self, p: float) -> float:
        cumulated = np.concatenate([[0], np.cumsum(self.share_counts)]) / self.n_kept
        return float(np.interp(p, cumulated, self.edges))


def _probability(count: int, total: int) -> Measured:
    """A share; its error is that of (count + 1) / (total + 2), so that it is never 0.

    One draw has none.
    """
    if total < 2:
        return Measured(count / total, None)
    smooth = (count + 1) / (total + 2)
    return Measured(count / total, (smooth * (1 - smooth) / total) ** 0.5)
