"""Curves over ε and β agree with the law, the sample and the exercise's limits."""

import numpy as np
import pytest

from core.montecarlo.compare import law_of, variance_along
from core.montecarlo.curves import (
    density_curve,
    epsilon_curves,
    limit_variance,
    quantile_curves,
    quantiles_of,
    spread_curves,
)
from core.montecarlo.sample import sample
from core.montecarlo.spec import PerturbationSpec

NOISY = PerturbationSpec(noise_variance=0.05, n_draws=4000)


def test_the_density_encloses_the_whole_law_where_one_length_varies():
    curve = density_curve(law_of(PerturbationSpec(beta=2.0)))
    assert curve is not None
    at, density = curve
    assert np.trapezoid(density, at) == pytest.approx(1.0, abs=0.01)
    assert density_curve(law_of(NOISY)) is None


def test_the_textbook_curve_crosses_one_half_at_length_one():
    found = epsilon_curves(PerturbationSpec(), law_of(PerturbationSpec()))
    assert found is not None
    epsilon, shares, _, long_key = found
    names = [name for name, _ in shares]
    assert names == ["exact", "without the other keys"]
    assert np.interp(1.0, epsilon, shares[1][1]) == pytest.approx(0.5, abs=1e-9)
    assert long_key == 0
    assert epsilon_curves(NOISY, law_of(NOISY)) is None


def test_spread_and_quantiles_meet_the_sample_at_its_beta():
    drawn = sample(PerturbationSpec(n_draws=200_000))
    betas, lines = spread_curves(drawn.spec)
    assert [name for name, _ in lines] == ["one head", "two heads", "8 heads"]
    spread = np.interp(np.log(10.0), np.log(betas), lines[0][1])
    assert spread == pytest.approx(drawn.variance_share_a.value**0.5, abs=0.005)
    betas, quantiles, known = quantile_curves(drawn.spec, law_of(drawn.spec))
    assert known
    median = np.interp(np.log(10.0), np.log(betas), quantiles[2])
    assert median == pytest.approx(quantiles_of(drawn)[2], abs=0.02)
    assert not quantile_curves(NOISY, law_of(NOISY))[2]


def test_the_limits_are_a_coin_flip_for_one_head_and_small_for_two():
    spec = PerturbationSpec()
    assert limit_variance(spec, "one") == pytest.approx(0.25)
    fails = 0.07865
    assert limit_variance(spec, "two") == pytest.approx(fails * (1 - fails) / 4, rel=1e-3)
    assert limit_variance(NOISY, "one") is None


def test_c_varies_along_the_difference_of_the_values_alone():
    along, across = variance_along(sample(PerturbationSpec(n_draws=20_000)))
    assert along == pytest.approx(0.39, abs=0.01)
    assert across < 1e-6
