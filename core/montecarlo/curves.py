"""Curves over ε and over β: of the law where theory knows it, else of samples."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.compare import law_of, spread_against_beta
from core.montecarlo.result import Sample
from core.montecarlo.sample import sample
from core.montecarlo.spec import MOST_BETA, Heads, PerturbationSpec
from core.theory.limit import limit_law, textbook_share
from core.theory.output_law import OutputLaw
from core.theory.radial import RadialLaw

Array = NDArray[np.float64]
N_DRAWS_A_BETA = 20_000
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
REACH = 3.5  # standard deviations of ε


def moving_law(law: OutputLaw) -> RadialLaw | None:
    """The whole law, where exactly one key's length varies and a head looks at that key."""
    radial = law.radial
    if radial is None or radial.variance == 0 or not radial.slopes.any():
        return None
    return radial


def density_curve(law: OutputLaw) -> tuple[Array, Array] | None:
    """Points and exact density of the share on a: dense where the law is."""
    radial = moving_law(law)
    if radial is None:
        return None
    at = np.unique(np.concatenate([radial.share_at(_epsilons(radial)), np.linspace(0, 1, 101)]))
    return at, radial.density(at)


def epsilon_curves(
    spec: PerturbationSpec, law: OutputLaw
) -> tuple[Array, list[tuple[str, Array]], Array, int] | None:
    """ε, the shares at it (one head: also the textbook's), its density, and the long key."""
    radial = moving_law(law)
    if radial is None:
        return None
    epsilon = _epsilons(radial)
    shares = [("exact", radial.share_at(epsilon))]
    if spec.heads in ("one", "two-equal") and spec.key_norms is None and radial.long_key == 0:
        shares.append(("without the other keys", textbook_share(epsilon, beta=spec.beta)))
    return epsilon, shares, radial.epsilon_density(epsilon), radial.long_key


def spread_curves(spec: PerturbationSpec) -> tuple[Array, list[tuple[str, Array]]]:
    """β and the standard deviation of the share for one, two and h heads, and for typed queries."""
    betas = _betas(spec)
    h = spec.heads if isinstance(spec.heads, int) else 8
    kinds: dict[str, Heads] = {"one head": "one", "two heads": "two", f"{h} heads": h}
    if isinstance(spec.heads, tuple) or spec.heads == "one-balanced":
        kinds["these queries"] = spec.heads
    curves = [
        (name, spread_against_beta(replace(spec, heads=heads), betas.tolist()))
        for name, heads in kinds.items()
    ]
    return betas, curves


def quantile_curves(spec: PerturbationSpec, law: OutputLaw) -> tuple[Array, Array, bool]:
    """β, the quantiles (5, m) of the share, and whether theory knows them; else they are drawn."""
    betas = _betas(spec)
    if moving_law(law) is not None:
        laws = [law_of(replace(spec, beta=beta)).radial for beta in betas.tolist()]
        columns = [radial.quantile(QUANTILES) for radial in laws if radial is not None]
        return betas, np.stack(columns, axis=1), True
    drawn = [
        sample(replace(spec, beta=beta, n_draws=min(spec.n_draws, N_DRAWS_A_BETA)))
        for beta in betas.tolist()
    ]
    return betas, np.stack([quantiles_of(one) for one in drawn], axis=1), False


def quantiles_of(drawn: Sample) -> Array:
    """(5,): the quantiles of a sample."""
    return np.array([drawn.quantile(p).value for p in QUANTILES])


def limit_variance(spec: PerturbationSpec, heads: Heads) -> float | None:
    """Variance of the share for β → ∞; None where only a sample knows."""
    if spec.noise_variance > 0 or spec.ignore_negative:
        return None
    asked = replace(spec, heads=heads)
    found = limit_law(asked.coefficients, asked.norms, asked.radial_variances)
    return None if found is None else found.variance


def _epsilons(radial: RadialLaw) -> Array:
    """ε over its range; it starts where draws begin to be left out."""
    deviation = radial.variance**0.5
    return 1.0 + deviation * np.linspace(max(-REACH, radial.lowest), REACH, 241)


def _betas(spec: PerturbationSpec) -> Array:
    """From below 1 to above 100 with `beta` inside; fewer where each one is costly."""
    low, high = min(1.0, spec.beta / 2), min(max(100.0, 2 * spec.beta), MOST_BETA)
    return np.geomspace(low, high, 9 if spec.noise_variance > 0 else 17).clip(low, high)
