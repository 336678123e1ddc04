"""Figures of attention under perturbed keys: by theory, and by a sample with its seed.

All are told one head or several, β, the number of keys, and the variances; a sample also its number
of draws and its seed.
"""

from collections.abc import Mapping

from core.lessons.computed.once import Once
from core.montecarlo.compare import Row, compare, law_of
from core.montecarlo.result import Sample
from core.montecarlo.sample import sample
from core.montecarlo.spec import PerturbationSpec, parse_heads

LEAST_DRAWS = 1000  # theory needs none, but stands beside a sample


def share_theory(
    once: Once,
    *,
    quantity: str,
    heads: str,
    beta: float,
    keys: int,
    radial_variance: float,
    noise_variance: float,
    ignore_negative: bool = False,
) -> float:
    """Raises ValueError where only a sample knows."""
    spec = _spec(
        heads, beta, keys, radial_variance, noise_variance, ignore_negative=ignore_negative
    )
    found = _row(once, spec, quantity).theory
    if found is None:
        raise ValueError(f"theory does not know {quantity} here")
    return found


def share_sample(
    once: Once,
    *,
    quantity: str,
    heads: str,
    beta: float,
    keys: int,
    radial_variance: float,
    noise_variance: float,
    draws: int,
    seed: int,
    ignore_negative: bool = False,
) -> float:
    """Raises ValueError where the draws have no such number."""
    spec = _spec(
        heads,
        beta,
        keys,
        radial_variance,
        noise_variance,
        draws=draws,
        seed=seed,
        ignore_negative=ignore_negative,
    )
    found = _row(once, spec, quantity).sample
    if found is None:
        raise ValueError(f"the draws do not tell {quantity}")
    return found


def near_midpoint(
    once: Once,
    *,
    heads: str,
    beta: float,
    keys: int,
    radial_variance: float,
    noise_variance: float,
    draws: int,
    seed: int,
    ignore_negative: bool = False,
) -> float:
    """Two tenths in the middle."""
    spec = _spec(
        heads,
        beta,
        keys,
        radial_variance,
        noise_variance,
        draws=draws,
        seed=seed,
        ignore_negative=ignore_negative,
    )
    return sum(_tenths(once, spec)[4:6])


def near_an_end(
    once: Once,
    *,
    heads: str,
    beta: float,
    keys: int,
    radial_variance: float,
    noise_variance: float,
    draws: int,
    seed: int,
    ignore_negative: bool = False,
) -> float:
    """The first tenth and the last."""
    spec = _spec(
        heads,
        beta,
        keys,
        radial_variance,
        noise_variance,
        draws=draws,
        seed=seed,
        ignore_negative=ignore_negative,
    )
    tenths = _tenths(once, spec)
    return tenths[0] + tenths[9]


def weight_on_others(
    _: Once,
    *,
    heads: str,
    beta: float,
    keys: int,
    radial_variance: float,
    noise_variance: float,
    ignore_negative: bool = False,
) -> float:
    """All but a and b. Raises ValueError where theory does not know."""
    law = law_of(
        _spec(heads, beta, keys, radial_variance, noise_variance, ignore_negative=ignore_negative)
    )
    if law.mean_weights is None:
        raise ValueError("theory does not know the mean weights here")
    return float(law.mean_weights[2:].sum())


def _spec(
    heads: str,
    beta: float,
    keys: int,
    radial_variance: float,
    noise_variance: float,
    *,
    ignore_negative: bool,
    draws: int = LEAST_DRAWS,
    seed: int = 0,
) -> PerturbationSpec:
    return PerturbationSpec(
        n_keys=keys,
        beta=beta,
        heads=parse_heads(heads),
        radial_variance=radial_variance,
        noise_variance=noise_variance,
        ignore_negative=ignore_negative,
        n_draws=draws,
        seed=seed,
    )


def _drawn(once: Once, spec: PerturbationSpec) -> Sample:
    return once.get(("sample", spec), lambda: sample(spec))


def _row(once: Once, spec: PerturbationSpec, quantity: str) -> Row:
    rows: Mapping[str, Row] = once.get(
        ("rows", spec),
        lambda: {row.quantity: row for row in compare(_drawn(once, spec))},
    )
    if quantity not in rows:
        raise ValueError(f"unknown quantity {quantity!r}; quantities: {', '.join(rows)}")
    return rows[quantity]


def _tenths(once: Once, spec: PerturbationSpec) -> list[float]:
    drawn = _drawn(once, spec)
    return [float(count) / drawn.n_kept for count in drawn.coarse_counts(10)]
