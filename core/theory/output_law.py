"""The law of the share on key a and of the output c, without a single draw.

Keys k_i ~ N(μ_i, αI + ρ_i μ_i μ_iᵀ) with orthogonal means μ_i = m_i u_i, and queries
q_h = Σ_i Q_hi u_i; share = mean over the heads of softmax(K q_h) at key a = 0, and
c = Σ_i weight_i v_i.

Scores are normal: k_i·q_h has mean Q_hi m_i, and k_i·q_g, k_i·q_h have the covariance
α q_g·q_h + ρ_i m_i² Q_gi Q_hi; different keys are independent.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.theory.independent import WeightMoments, p_weight_below, weight_moments
from core.theory.normal import cdf
from core.theory.quadrature import Estimate
from core.theory.radial import RadialLaw, radial_law

Array = NDArray[np.float64]
WHOLE = "closed form, moments by quadrature"
MOMENTS = "moments by quadrature, the rest sample only"
MEANS = "means by quadrature, the rest sample only"
NOTHING = "sample only"


class Scores(NamedTuple):
    """Distinct queries: means and deviations (H, n) of their scores; shares (H,) of the heads."""

    means: Array
    deviations: Array
    shares: Array
    independent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLaw:
    """What theory knows; None stands for "sample only".

    `radial` holds the whole law (density, quantiles, share at ε) where one key's length is all
    that varies. `scores` are those of the distinct queries.
    """

    method: str
    mean_share_a: Estimate | None = None
    variance_share_a: Estimate | None = None
    total_variance_c: Estimate | None = None
    p_head_fails: Estimate | None = None
    p_ignored: Estimate | None = None
    mean_weights: Array | None = None
    radial: RadialLaw | None = None
    scores: Scores
    ignore_negative: bool

    def p_off_center(self, t: float = 0.4) -> Estimate | None:
        """P(|share − ½| > t)."""
        if self.radial is not None:
            return self.radial.p_off_center(t)
        if len(self.scores.means) > 1 or self.ignore_negative:
            return None
        law = self.scores.means[0], self.scores.deviations[0]
        low, high = (p_weight_below(x, 0, *law) for x in (0.5 - t, 0.5 + t))
        if low is None or high is None:
            return None
        return Estimate(low.value + 1.0 - high.value, low.error + high.error)


def output_law(
    *,
    queries: Array,
    key_norms: Sequence[float] | Array,
    radial_variances: Sequence[float] | Array,
    noise_variance: float,
    value_gram: Array,
    ignore_negative: bool = False,
) -> OutputLaw:
    """The law for queries (H, n) given as coefficients on the unit directions, β included.

    value_gram (n, n) holds v_i·v_j. ignore_negative: given that k_a·q >= 0 for all heads with
    Q_ha > 0.
    """
    norms = np.asarray(key_norms, dtype=float)
    variances = np.asarray(radial_variances, dtype=float)
    distinct, counts = np.unique(queries, axis=0, return_counts=True)
    shares = counts / counts.sum()
    scores = _scores(distinct, norms, variances, noise_variance, shares)
    ignored = _p_ignored(distinct, scores, noise_variance)
    failing, asked = failing_head(distinct)
    if noise_variance == 0:
        radial = radial_law(scores.means, variances, shares, ignore_negative=ignore_negative)
        if radial is not None:
            mean_weights, mean, variance, total = radial.moments(value_gram)
            return OutputLaw(
                method=WHOLE,
                mean_share_a=mean,
                variance_share_a=variance,
                total_variance_c=total,
                p_head_fails=radial.p_weight_below_half(failing, asked),
                p_ignored=ignored,
                mean_weights=mean_weights,
                radial=radial,
                scores=scores,
                ignore_negative=ignore_negative,
            )
    if ignore_negative:
        return OutputLaw(
            method=NOTHING, p_ignored=ignored, scores=scores, ignore_negative=ignore_negative
        )
    return _law_of_moments(scores, value_gram, failing, asked, ignored)


def failing_head(queries: Array) -> tuple[int, NDArray[np.bool_]]:
    """(head, keys it asks for): of the heads that ask for a, the one that asks for fewest keys.

    A head asks for the keys with positive coefficients (for all keys if there is none); if no
    head asks for a, the first one is taken.
    """
    on_a = np.flatnonzero(queries[:, 0] > 0)
    fewest = [(int((queries[head] > 0).sum()), int(head)) for head in on_a]
    head = min(fewest)[1] if fewest else 0
    asked = queries[head] > 0
    return head, asked if asked.any() else np.ones_like(asked)


def _scores(
    queries: Array, norms: Array, variances: Array, noise_variance: float, shares: Array
) -> Scores:
    aligned = queries * norms
    own = noise_variance * (queries**2).sum(1, keepdims=True) + variances * aligned**2
    crossed = any(
        noise_variance * float(queries[g] @ queries[h]) != 0
        or bool((variances * aligned[g] * aligned[h]).any())
        for g in range(len(queries))
        for h in range(g)
    )
    return Scores(aligned, np.sqrt(own), shares, not crossed)


def _law_of_moments(
    scores: Scores,
    value_gram: Array,
    failing: int,
    asked: NDArray[np.bool_],
    ignored: Estimate | None,
) -> OutputLaw:
    """Means add up over the heads; covariances do where the heads are independent."""
    moments: list[WeightMoments] = []
    for means, deviations in zip(scores.means, scores.deviations, strict=True):
        found = weight_moments(means, deviations)
        if found is None:
            return OutputLaw(
                method=NOTHING, p_ignored=ignored, scores=scores, ignore_negative=False
            )
        moments.append(found)
    error = max(found.error for found in moments)
    mean_weights = np.add.reduce(
        [share * found.mean for share, found in zip(scores.shares, moments, strict=True)]
    )
    variance = total = None
    if scores.independent:
        covariance = np.add.reduce(
            [s * s * found.covariance for s, found in zip(scores.shares, moments, strict=True)]
        )
        variance = Estimate(float(covariance[0, 0]), error)
        spread = float(np.abs(value_gram).sum())
        total = Estimate(float((covariance * value_gram).sum()), error * spread)
    alone = np.flatnonzero(asked)
    fails = (
        p_weight_below(0.5, int(alone[0]), scores.means[failing], scores.deviations[failing])
        if len(alone) == 1
        else None
    )
    return OutputLaw(
        method=MOMENTS if scores.independent else MEANS,
        mean_share_a=Estimate(float(mean_weights[0]), error),
        variance_share_a=variance,
        total_variance_c=total,
        p_head_fails=fails,
        p_ignored=ignored,
        mean_weights=mean_weights,
        scores=scores,
        ignore_negative=False,
    )


def _p_ignored(queries: Array, scores: Scores, noise_variance: float) -> Estimate | None:
    """P(k_a·q < 0 for a head that asks for a): Φ(−mean/deviation) each."""
    asking = (queries[:, 0] > 0) & (scores.deviations[:, 0] > 0)
    each = cdf(-scores.means[asking, 0] / scores.deviations[asking, 0])
    if len(each) < 2 or scores.independent:
        return Estimate(1.0 - math.prod(1.0 - p for p in each.tolist()))
    # Without noise all these scores are multiples of one length ε: they fail together.
    return Estimate(float(each[0])) if noise_variance == 0 else None
