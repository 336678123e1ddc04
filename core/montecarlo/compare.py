"""Theory beside the sample, row by row, with what may be said of their agreement.

While theory is right, some row disagrees in at most `FALSE_VERDICTS` of all samples, whatever the
number of draws: counts are held against the binomial law, means and mean squared distances from
theory's mean against bounds for numbers of bounded range. Where no sample could disagree, and for a
single draw, there is no verdict.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.bounds import count_bounds, estimated_room, mean_room
from core.montecarlo.result import Measured, Sample
from core.montecarlo.spec import PerturbationSpec
from core.theory.output_law import OutputLaw, output_law
from core.theory.quadrature import Estimate
from core.theory.reach import weight_reach

Array = NDArray[np.float64]
Verdict = Literal["agrees", "disagrees", "too few draws", "sample only"]
THRESHOLD = 0.4
FALSE_VERDICTS = 0.01
N_ROWS = 6
LEVEL = FALSE_VERDICTS / (2 * N_ROWS)  # of a side of a row
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One quantity; theory is None where only the sample knows it.

    sample is None where the draws have no such number. standard_error is that of the sample: by
    theory if theory tells it, else by the draws, None where these do not. From low to high the
    sample may lie while theory is right; None without theory and where every sample would.
    """

    quantity: str
    theory: float | None
    theory_error: float
    sample: float | None
    standard_error: float | None
    low: float | None = None
    high: float | None = None

    @property
    def agrees(self) -> bool | None:
        """The sample lies from low to high; None where that cannot be said."""
        if self.sample is None or self.low is None or self.high is None:
            return None
        return self.low <= self.sample <= self.high

    @property
    def verdict(self) -> Verdict:
        """Agreement in words."""
        if self.theory is None:
            return "sample only"
        if self.agrees is None:
            return "too few draws"
        return "agrees" if self.agrees else "disagrees"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def law_of(spec: PerturbationSpec) -> OutputLaw:
    """What theory knows of a spec."""
    values = spec.value_rows
    return output_law(
        queries=spec.queries,
        key_norms=spec.norms,
        radial_variances=spec.radial_variances,
        noise_variance=spec.noise_variance,
        value_gram=values @ values.T,
        ignore_negative=spec.ignore_negative,
    )


def compare(sample: Sample, law: OutputLaw | None = None) -> tuple[Row, ...]:
    """Rows for all quantities; the sample must have counted t = 0.4."""
    law = law_of(sample.spec) if law is None else law
    n, n_drawn = sample.n_kept, sample.spec.n_draws
    off_center = law.p_off_center(THRESHOLD), sample.p_off_center(THRESHOLD)
    return (
        _mean_row(sample, law),
        _share_spread_row(sample, law),
        _chance_row("p_off_center", *off_center, n),
        _chance_row("p_head_fails", law.p_head_fails, sample.p_head_fails, n),
        _output_spread_row(sample, law),
        _chance_row("p_ignored", law.p_ignored, sample.p_ignored, n_drawn),
    )


def spread_against_beta(spec: PerturbationSpec, betas: Sequence[float]) -> Array:
    """Standard deviation of the share on a for each β, by theory; nan where only a sample knows.

    Quadrature may give −1e-18 for no variance at all: the root is 0 then, no complex number.
    """
    found = [law_of(replace(spec, beta=float(beta))).variance_share_a for beta in betas]
    return np.array([np.nan if one is None else max(one.value, 0.0) ** 0.5 for one in found])


def variance_slip(sample: Sample) -> tuple[float, float]:
    """(right, slip): ‖v_a − v_b‖² Var t and ‖v_a + v_b‖² Var t, for c = t v_a + (1 − t) v_b.

    The slip takes the variance of t v_a + (1 − t) v_b term by term, as if t and 1 − t were alike.
    """
    a, b = sample.spec.value_rows[:2]
    variance = sample.variance_share_a.value
    return float(((a - b) ** 2).sum()) * variance, float(((a + b) ** 2).sum()) * variance


def variance_along(sample: Sample) -> tuple[float, float]:
    """Variances of c along the unit vectors of v_a − v_b and of v_a + v_b."""
    values = sample.spec.value_rows
    found: list[float] = []
    for direction in (values[0] - values[1], values[0] + values[1]):
        length = float(np.linalg.norm(direction)) or 1.0
        parts = values @ direction / length
        found.append(max(float(parts @ sample.covariance_weights @ parts), 0.0))
    return found[0], found[1]


def _mean_row(sample: Sample, law: OutputLaw) -> Row:
    """The mean share: its variance by theory, or by the sample where theory is silent."""
    theory, measured, n = law.mean_share_a, sample.mean_share_a, sample.n_kept
    row = _row("mean_share_a", theory, measured)
    if theory is None or n < 2:
        return row
    low, high = _share_reach(law)
    below, above = max(theory.value - low, 0.0), max(high - theory.value, 0.0)
    known = law.variance_share_a
    if known is None:
        variance = 0.0 if measured.standard_error is None else n * measured.standard_error**2
        down = up = estimated_room(variance, high - low, n, LEVEL)
    else:
        row = replace(row, standard_error=sqrt(known.value / n))
        variance = known.value + known.error
        down, up = (mean_room(variance, reach, n, LEVEL) for reach in (below, above))
    if high - low > ROUNDING and down >= below and up >= above:
        return row
    slack = theory.error + ROUNDING
    return replace(row, low=theory.value - down - slack, high=theory.value + up + slack)


def _share_spread_row(sample: Sample, law: OutputLaw) -> Row:
    """The variance of the share, through its mean squared distance from theory's mean."""
    row = _row("variance_share_a", law.variance_share_a, sample.variance_share_a)
    if law.variance_share_a is None or law.mean_share_a is None:
        return row
    mean = law.mean_share_a.value
    low, high = _share_reach(law)
    away = abs(sample.mean_share_a.value - mean)
    along = away * sqrt(max(float(sample.covariance_weights[0, 0]), 0.0))
    most = max(mean - low, high - mean, 0.0) ** 2
    return _spread_row(row, sample, away**2, along, most)


def _output_spread_row(sample: Sample, law: OutputLaw) -> Row:
    """The total variance of c, through its mean squared distance from theory's mean."""
    row = _row("total_variance_c", law.total_variance_c, sample.total_variance_c)
    if law.total_variance_c is None or law.mean_weights is None:
        return row
    values = sample.spec.value_rows
    mean = law.mean_weights @ values
    away = (sample.mean_weights - law.mean_weights) @ values
    parts = values @ away
    along = sqrt(max(float(parts @ sample.covariance_weights @ parts), 0.0))
    # Weights sum to 1, so c − mean = Σ (w_i − mean w_i)(v_i − mean).
    lengths = np.linalg.norm(values - mean, axis=1)
    low, high = weight_reach(*law.scores[:3])
    swings = np.maximum(high - law.mean_weights, law.mean_weights - low)
    most = min(float(lengths.max()), max(float(swings @ lengths), 0.0)) ** 2
    return _spread_row(row, sample, float(away @ away), along, most)


def _spread_row(row: Row, sample: Sample, away: float, along: float, most: float) -> Row:
    """Bounds of a variance whose squared distances from theory's mean are at most `most`.

    away: the squared distance of the two means; along: the standard deviation in that direction
    times the distance. Of squared distances from theory's mean the deviation is at most that of
    those from the sample's mean plus 2 `along`; their mean is the variance (over n) plus `away`.
    """
    n, theory = sample.n_kept, row.theory
    if theory is None or n < 2:
        return row
    if theory == 0:
        row = replace(row, standard_error=0.0)
    deviation = sqrt(n) * (row.standard_error or 0.0) + 2 * along
    room = estimated_room(deviation**2 * n / (n - 1), most, n, LEVEL) + row.theory_error
    if most > ROUNDING and room >= theory and room >= most - theory:
        return row
    low, high = ((theory + side - away) * n / (n - 1) for side in (-room, room))
    return replace(row, low=low - ROUNDING, high=high + ROUNDING)


def _chance_row(quantity: str, theory: Estimate | None, measured: Measured, n: int) -> Row:
    """A share of n draws, held against the binomial law."""
    row = _row(quantity, theory, measured)
    if theory is None or n < 2:
        return row
    low, high = (min(max(theory.value + e, 0.0), 1.0) for e in (-theory.error, theory.error))
    least, greatest = count_bounds(n, low, LEVEL)[0], count_bounds(n, high, LEVEL)[1]
    chance = min(max(theory.value, 0.0), 1.0)
    row = replace(row, standard_error=sqrt(chance * (1 - chance) / n))
    if (least, greatest) == (0, n):
        return row
    return replace(row, low=least / n - ROUNDING, high=greatest / n + ROUNDING)


def _share_reach(law: OutputLaw) -> tuple[float, float]:
    """The least and the greatest share on a that draws may have."""
    low, high = weight_reach(*law.scores[:3])
    return float(low[0]), float(high[0])


def _row(quantity: str, theory: Estimate | None, measured: Measured) -> Row:
    return Row(
        quantity=quantity,
        theory=None if theory is None else theory.value,
        theory_error=0.0 if theory is None else theory.error,
        sample=None if isnan(measured.value) else measured.value,
        standard_error=measured.standard_error,
    )
