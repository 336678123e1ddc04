"""The law of the share: the issue's numbers, and each formula against another derivation."""

from typing import Any

import numpy as np
import pytest

from core.theory.independent import weight_moments
from core.theory.output_law import OutputLaw, output_law
from core.theory.quadrature import integrate
from core.theory.radial import RadialLaw

A, B = np.eye(6)[0], np.eye(6)[1]
QUERIES = {"one": [A + B], "two": [A, B], "two-equal": [A + B, A + B]}


def law(heads: str, beta: float, **changes: Any) -> OutputLaw:
    settings: dict[str, Any] = {
        "queries": beta * np.array(QUERIES[heads]),
        "key_norms": np.ones(6),
        "radial_variances": [0.5, 0, 0, 0, 0, 0],
        "noise_variance": 0.0,
        "value_gram": np.eye(6),
    }
    return output_law(**{**settings, **changes})


def radial(heads: str, beta: float, **changes: Any) -> RadialLaw:
    found = law(heads, beta, **changes).radial
    assert found is not None
    return found


def value(estimate: Any) -> float:
    assert estimate is not None
    assert estimate.error < 1e-9
    return estimate.value


@pytest.mark.parametrize(
    ("beta", "off_center", "one", "two"),
    [(5, 0.534, 0.1490, 0.0219), (10, 0.756, 0.1953, 0.0203), (50, 0.950, 0.2387, 0.0185)],
)
def test_the_numbers_of_the_issue(beta: float, off_center: float, one: float, two: float):
    assert round(value(law("one", beta).p_off_center(0.4)), 3) == off_center
    assert round(value(law("one", beta).variance_share_a), 4) == one
    assert round(value(law("two", beta).variance_share_a), 4) == two


@pytest.mark.parametrize(("beta", "fails"), [(5, 0.169), (10, 0.118), (50, 0.086)])
def test_the_head_on_the_long_key_fails(beta: float, fails: float):
    assert round(value(law("two", beta).p_head_fails), 3) == fails


def test_two_equal_heads_help_nothing():
    assert law("two-equal", 10).variance_share_a == law("one", 10).variance_share_a


def test_draws_with_a_negative_score_are_those_beyond_the_origin():
    assert round(value(law("one", 10).p_ignored), 4) == 0.0786


def test_leaving_them_out_keeps_the_part_that_the_density_covers():
    kept = radial("two", 10, ignore_negative=True)
    low, high = kept.range
    np.testing.assert_allclose(kept.cdf([low - 1e-9, high]), [0, 1])
    found, _ = integrate(lambda x: kept.density(x)[:, None], [0.2, 0.3, 0.4], tolerance=1e-9)
    assert found[0] == pytest.approx(np.diff(kept.cdf([0.2, 0.4]))[0], abs=1e-8)
    whole, cut = law("two", 10), law("two", 10, ignore_negative=True)
    assert value(cut.variance_share_a) < value(whole.variance_share_a) / 3


def test_the_density_is_the_slope_of_the_distribution():
    one = radial("one", 3)
    x = np.array([0.05, 0.3, 0.5, 0.8, 0.97])
    step = 1e-5
    slope = (one.cdf(x + step) - one.cdf(x - step)) / (2 * step)
    np.testing.assert_allclose(one.density(x), slope, rtol=1e-5)


@pytest.mark.parametrize("heads", ["one", "two"])
def test_quantiles_undo_the_distribution(heads: str):
    found = radial(heads, 5)
    p = np.array([0.05, 0.3, 0.5, 0.9])
    np.testing.assert_allclose(found.cdf(found.quantile(p)), p, atol=1e-9)


def test_a_share_that_falls_with_the_length_has_the_mirrored_law():
    long_b = radial("one", 5, radial_variances=[0, 0.5, 0, 0, 0, 0])
    assert not long_b.rising
    p = np.array([0.1, 0.5, 0.8])
    np.testing.assert_allclose(long_b.cdf(long_b.quantile(p)), p, atol=1e-9)


def test_outside_its_range_a_share_has_no_mass():
    two = radial("two", 5)
    assert two.density([0.7]).tolist() == [0]
    assert two.cdf([-0.1, 0.7]).tolist() == [0, 1]


def test_a_fixed_share_has_no_density():
    still = law("one", 5, radial_variances=np.zeros(6))
    assert value(still.variance_share_a) == 0
    assert still.radial is not None
    with pytest.raises(ValueError, match="fixed"):
        still.radial.density([0.5])


def test_two_derivations_of_the_moments_agree():
    """Integration over ε, and the Laplace transform made for many random scores."""
    found = weight_moments(np.array([5.0, 5, 0, 0, 0, 0]), np.array([5 * 0.5**0.5, 0, 0, 0, 0, 0]))
    assert found is not None
    one = law("one", 5)
    assert found.mean[0] == pytest.approx(value(one.mean_share_a), abs=1e-12)
    assert found.covariance[0, 0] == pytest.approx(value(one.variance_share_a), abs=1e-12)
    assert np.trace(found.covariance) == pytest.approx(value(one.total_variance_c), abs=1e-12)


def test_little_noise_changes_little():
    noisy, still = law("two", 10, noise_variance=1e-10), law("two", 10)
    assert noisy.radial is None
    assert value(noisy.mean_share_a) == pytest.approx(value(still.mean_share_a), abs=1e-8)
    assert value(noisy.variance_share_a) == pytest.approx(value(still.variance_share_a), abs=1e-8)


def test_weights_with_noise_still_sum_to_one():
    noisy = law("one", 7, noise_variance=0.3).mean_weights
    assert noisy is not None
    assert noisy.sum() == pytest.approx(1.0, abs=1e-12)


def test_what_no_quadrature_reaches_is_left_to_the_sample():
    noisy = law("one", 5, noise_variance=0.1)
    assert noisy.p_off_center() is None
    assert "sample only" in noisy.method
    crossed = np.array([A + B, A])
    assert law("one", 5, noise_variance=0.1, queries=crossed).variance_share_a is None
    assert law("one", 5, noise_variance=0.1, ignore_negative=True).method == "sample only"


def test_a_huge_scale_neither_overflows_nor_hangs():
    huge = law("one", 1e6)
    assert huge.mean_share_a is not None
    assert huge.mean_share_a.value == pytest.approx(0.5, abs=1e-6)
    assert value(huge.p_off_center()) == pytest.approx(1.0, abs=1e-5)
