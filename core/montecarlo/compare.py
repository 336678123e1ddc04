"""Theory beside the sample, row by row."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.result import Measured, Sample
from core.montecarlo.spec import PerturbationSpec
from core.theory.output_law import OutputLaw, output_law
from core.theory.quadrature import Estimate

Array = NDArray[np.float64]
THRESHOLD = 0.4
ERRORS = 4.0
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One quantity; theory is None where only the sample knows it."""

    quantity: str
    theory: float | None
    theory_error: float
    sample: float
    standard_error: float

    @property
    def agrees(self) -> bool | None:
        """Within four standard errors (and the error of the theory itself); None without theory."""
        if self.theory is None:
            return None
        room = ERRORS * self.standard_error + self.theory_error + ROUNDING
        return abs(self.theory - self.sample) <= room

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


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
    return (
        _row("mean_share_a", law.mean_share_a, sample.mean_share_a),
        _row("variance_share_a", law.variance_share_a, sample.variance_share_a),
        _row("p_off_center", law.p_off_center(THRESHOLD), sample.p_off_center(THRESHOLD)),
        _row("p_head_fails", law.p_head_fails, sample.p_head_fails),
        _row("total_variance_c", law.total_variance_c, sample.total_variance_c),
        _row("p_ignored", law.p_ignored, sample.p_ignored),
    )


def spread_against_beta(spec: PerturbationSpec, betas: Sequence[float]) -> Array:
    """Standard deviation of the share on a for each β, by theory; nan where only a sample knows."""
    found = [law_of(replace(spec, beta=float(beta))).variance_share_a for beta in betas]
    return np.array([np.nan if one is None else one.value**0.5 for one in found])


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


def _row(quantity: str, theory: Estimate | None, measured: Measured) -> Row:
    return Row(
        quantity=quantity,
        theory=None if theory is None else theory.value,
        theory_error=0.0 if theory is None else theory.error,
        sample=measured.value,
        standard_error=measured.standard_error,
    )
