"""From a spec to the numbers that a draw needs: only random scores are drawn.

The output depends on key i only through its scores k_i·q_h, which are normal with mean Q_hi m_i
and covariance α QQᵀ + ρ_i m_i² Q_i Q_iᵀ (H, H) over the heads; different keys are independent.
A factor L_i (H, r) of that covariance turns r = rank(Q) normals into the scores of key i, or a
single one at α = 0. Keys whose scores stand still are gathered in groups with equal scores.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.spec import PerturbationSpec
from core.theory.output_law import failing_head

Array = NDArray[np.float64]
Index = NDArray[np.intp]
SAFE = 600.0  # exp of it is finite, and exp of minus it is not 0
FARTHEST = 14.0  # deviations: beyond it lies less than 1e-43
ILL = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadPlan:
    """One distinct query: scores of the R moving keys are means + factors · normals.

    share: its part of the average. means (R,), factors (R, r). still (G,): ln of the summed exp
    of each still group. shift: what is taken from all scores before exp, or None where each draw
    needs its own. asked: the keys the query asks for.
    """

    share: float
    means: Array
    factors: Array
    still: Array
    shift: float | None
    asked: tuple[int, ...]
    asks_for_a: bool

    @property
    def weights(self) -> tuple[Array, Array]:
        """Weights of the moving keys (R,) and of the still groups (G,) at the mean scores."""
        scores = np.concatenate([self.means, self.still])
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        return shares[: len(self.means)], shares[len(self.means) :]

    @property
    def parts(self) -> Array:
        """(G,): how the still groups divide what the moving keys leave."""
        if not len(self.still):
            return self.still
        shares = np.exp(self.still - self.still.max())
        return shares / shares.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All heads; moving (R,): keys that are drawn; groups: the still keys, in lists."""

    heads: tuple[HeadPlan, ...]
    moving: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    rank: int
    failing: int
    head_counts: tuple[int, ...]

    @property
    def n_normals(self) -> int:
        """R · r, the normals of one draw."""
        return len(self.moving) * self.rank


def make_plan(spec: PerturbationSpec) -> Plan:
    """Factorise once; if nothing moves, key a is drawn with deviation 0. Cost: n · H³."""
    queries, counts = np.unique(spec.queries, axis=0, return_counts=True)
    means = queries * spec.norms
    factors = _factors(queries, spec)
    moving = np.flatnonzero(factors.any(axis=(1, 2)))
    if not len(moving):
        moving = np.zeros(1, dtype=np.intp)
    groups = _groups(means, np.setdiff1d(np.arange(spec.n_keys), moving))
    heads = tuple(
        _head(queries[h], count / int(counts.sum()), means[h], factors[:, h], moving, groups)
        for h, count in enumerate(counts.tolist())
    )
    return Plan(
        heads=heads,
        moving=tuple(moving.tolist()),
        groups=tuple(tuple(group.tolist()) for group in groups),
        rank=factors.shape[2],
        failing=failing_head(queries)[0],
        head_counts=tuple(counts.tolist()),
    )


def _factors(queries: Array, spec: PerturbationSpec) -> Array:
    """(n, H, r) with L_i L_iᵀ the covariance of the scores of key i; r = 1 without noise."""
    aligned = (queries * spec.norms * np.sqrt(spec.radial_variances)).T  # (n, H)
    if spec.noise_variance == 0:
        return aligned[:, :, None]
    left, sizes, basis = np.linalg.svd(queries, full_matrices=False)
    if sizes[-1] > ILL * sizes[0]:
        shared = spec.noise_variance * (queries @ queries.T)
        covariance = shared + aligned[:, :, None] * aligned[:, None, :]
        return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    # Q = B C with orthonormal rows in C (r, n): the scores are B (C k_i).
    rank = int((sizes > ILL * sizes[0]).sum()) or 1
    spread, basis = left[:, :rank] * sizes[:rank], basis[:rank]
    along = basis.T * (spec.norms * np.sqrt(spec.radial_variances))[:, None]
    inner = spec.noise_variance * np.eye(rank) + along[:, :, None] * along[:, None, :]
    return np.asarray(spread @ np.linalg.cholesky(inner), dtype=np.float64)


def _groups(means: Array, still: Index) -> list[Index]:
    """The still keys, those with equal scores in all heads together."""
    if not len(still):
        return []
    _, which = np.unique(means[:, still], axis=1, return_inverse=True)
    which = which.ravel()
    return [still[which == group] for group in range(int(which.max()) + 1)]


def _head(
    query: Array, share: float, means: Array, factors: Array, moving: Index, groups: list[Index]
) -> HeadPlan:
    still = np.array([means[group[0]] + np.log(len(group)) for group in groups])
    reach = FARTHEST * np.linalg.norm(factors[moving], axis=1)
    highest = np.concatenate([means[moving] + reach, still]).max()
    lowest = np.concatenate([means[moving] - reach, still]).max()
    shift = float(np.concatenate([means[moving], still]).max())
    safe = highest - shift < SAFE and lowest - shift > -SAFE
    asked = query > 0
    return HeadPlan(
        share=share,
        means=means[moving],
        factors=factors[moving],
        still=still,
        shift=shift if safe else None,
        asked=tuple(np.flatnonzero(asked if asked.any() else ~asked).tolist()),
        asks_for_a=bool(query[0] > 0),
    )
