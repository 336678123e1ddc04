"""Draw scores, not keys: exact, fast, and in bounded memory.

Cost: n · rank(Q) normals a draw, or one a key with ρ > 0 at α = 0, and as many exp. Memory: about
1 MiB of buffers, whatever the number of draws.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.block import Block, Drawn
from core.montecarlo.moments import RunningMoments
from core.montecarlo.result import Sample
from core.montecarlo.scores import Plan, make_plan
from core.montecarlo.spec import PerturbationSpec

Array = NDArray[np.float64]
MOST_BINS, MOST_PLANE_BINS = 100_000, 500
PERCENT = 100


def sample(
    spec: PerturbationSpec,
    *,
    n_bins: int = 1000,
    plane_bins: int = 0,
    thresholds: Sequence[float] = (0.4,),
    progress: Callable[[int, int], None] | None = None,
) -> Sample:
    """Draw spec.n_draws outputs and keep what `Sample` holds.

    plane_bins > 0 also bins (weight on a, weight on b). `progress(done, total)` is called at most
    about 100 times. The same spec gives the same numbers. Raises ValueError if no draw is kept.
    """
    _check(n_bins, plane_bins, thresholds)
    plan = make_plan(spec)
    block = Block(plan, spec.n_keys)
    tally = _Tally(spec, plan, block, n_bins, plane_bins, tuple(float(t) for t in thresholds))
    generator = np.random.default_rng(spec.seed)
    done = shown = 0
    while done < spec.n_draws:
        m = min(block.size, spec.n_draws - done)
        tally.add(block.draw(generator, m))
        done += m
        percent = done * PERCENT // spec.n_draws
        if progress is not None and percent > shown:
            shown = percent
            progress(done, spec.n_draws)
    return tally.result()


class _Tally:
    """Everything that is counted while blocks pass by."""

    def __init__(
        self,
        spec: PerturbationSpec,
        plan: Plan,
        block: Block,
        n_bins: int,
        plane_bins: int,
        thresholds: tuple[float, ...],
    ) -> None:
        self._spec, self._plan, self._block = spec, plan, block
        first = block.map[plan.moving[0]]
        self._is_plain = first[0] == 1.0 and np.count_nonzero(first) == 1
        self._thresholds = thresholds
        self._values = spec.value_rows
        outputs = self._values.T @ block.map  # (d_v, F)
        self._moments = RunningMoments(block.map[0], outputs.T @ outputs)
        self._shares = np.zeros(n_bins + 1, dtype=np.int64)
        self._plane_bins = plane_bins
        self._plane = np.zeros(plane_bins**2, dtype=np.int64)
        self._off_center = [0] * len(thresholds)
        self._failures = [0] * len(plan.heads)
        self._n_ignored = 0
        self._scratch = np.empty((block.n_features + 3, block.size))
        self._share, self._line = np.empty(block.size), np.empty(block.size)

    def add(self, drawn: Drawn) -> None:
        features, failed = drawn.features, drawn.failed
        if drawn.negative is not None:
            self._n_ignored += int(np.count_nonzero(drawn.negative))
            if self._spec.ignore_negative:
                kept = ~drawn.negative
                features = np.compress(kept, features, axis=1)
                failed = tuple(f if isinstance(f, bool) else f[kept] for f in failed)
        m = features.shape[1]
        if m == 0:
            return
        for head, flags in enumerate(failed):
            count = m * flags if isinstance(flags, bool) else np.count_nonzero(flags)
            self._failures[head] += int(count)
        self._moments.add(features, self._scratch)
        self._bin(features, self._share[:m], self._line[:m])

    def _bin(self, features: Array, share: Array, line: Array) -> None:
        self._weight(0, features, share)
        np.subtract(share, 0.5, out=line)
        np.abs(line, out=line)
        for index, t in enumerate(self._thresholds):
            self._off_center[index] += int(np.count_nonzero(line > t))
        n_bins = len(self._shares) - 1
        np.multiply(share, n_bins, out=line)
        self._shares += np.bincount(line.astype(np.intp), minlength=n_bins + 1)
        if self._plane_bins:
            self._bin_plane(features, share, line)

    def _bin_plane(self, features: Array, share: Array, line: Array) -> None:
        bins = self._plane_bins
        self._weight(1, features, line)
        cells = [np.clip(weight * bins, 0, bins - 1).astype(np.intp) for weight in (share, line)]
        self._plane += np.bincount(cells[0] * bins + cells[1], minlength=bins**2)

    def _weight(self, key: int, features: Array, out: Array) -> None:
        """The averaged weight of one key."""
        row, constant = self._block.map[key], self._block.constant[key]
        if key == self._plan.moving[0] and self._is_plain:
            np.add(features[0], constant, out=out)
        else:
            np.matmul(row, features, out=out)
            out += constant

    def result(self) -> Sample:
        moments, linear = self._moments, self._block.map
        counts = self._shares[:-1].copy()
        counts[-1] += self._shares[-1]
        return Sample(
            spec=self._spec,
            n_kept=moments.n,
            mean_weights=self._block.constant + linear @ moments.mean,
            covariance_weights=linear @ moments.covariance @ linear.T,
            mean_share_a=moments.mean_share(float(self._block.constant[0])),
            variance_share_a=moments.variance_share(),
            total_variance_c=moments.total_variance(),
            share_counts=counts,
            plane_counts=self._plane.reshape(self._plane_bins, -1) if self._plane_bins else None,
            off_center=tuple(zip(self._thresholds, self._off_center, strict=True)),
            head_failures=tuple(self._failures),
            head_counts=self._plan.head_counts,
            failing_head=self._plan.failing,
            n_ignored=self._n_ignored,
        )


def _check(n_bins: int, plane_bins: int, thresholds: Sequence[float]) -> None:
    if not 1 <= n_bins <= MOST_BINS:
        raise ValueError(f"{n_bins} bins for the share: use 1 to {MOST_BINS:,}")
    if not 0 <= plane_bins <= MOST_PLANE_BINS:
        raise ValueError(f"{plane_bins} bins a side of the plane: use 0 to {MOST_PLANE_BINS}")
    for t in thresholds:
        if not 0 < t < 0.5:
            raise ValueError(f"threshold t = {t:g}: use a number between 0 and 0.5")
