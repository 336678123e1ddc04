"""Drawing scores against theory, against whole keys in d dimensions, and against itself."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.montecarlo.compare import compare
from core.montecarlo.full import draw_full, key_cloud
from core.montecarlo.moments import RunningMoments
from core.montecarlo.result import Measured, Sample
from core.montecarlo.sample import sample
from core.montecarlo.scores import make_plan
from core.montecarlo.spec import PerturbationSpec

LONG_BOTH = (0.5, 0.3, 0, 0, 0, 0)
FREE = ((1.0, 1, 0.5, 0, 0, 0), (1.0, -1, 0, 0, 0, 0.5), (2.0, 0, 0.5, 0, 0, 0.5))
SETTINGS: list[dict[str, Any]] = [
    {"heads": "one"},
    {"heads": "two", "beta": 3.0},
    {"heads": 5, "beta": 4.0, "noise_variance": 0.05},
    {"heads": "two-equal", "noise_variance": 0.3, "values": "random"},
    {"heads": "two", "noise_variance": 0.02, "radial_variance": LONG_BOTH},
    {"heads": "one", "beta": 5.0, "radial_variance": LONG_BOTH},
    {"heads": "one-balanced", "key_norms": (2.0, 0.5, 1, 1, 1, 1), "noise_variance": 0.01},
    {"heads": FREE, "beta": 2.0, "noise_variance": 0.05, "values": "random"},
    {"heads": ((1.0, 1, 0, 0, 0, 0), (2.0, 2, 0, 0, 0, 0)), "beta": 2.0, "noise_variance": 0.1},
    {"heads": FREE, "beta": 400.0, "noise_variance": 0.05},
    {"n_keys": 2, "noise_variance": 0.1, "beta": 2.0},
    {"heads": "two", "ignore_negative": True},
]


@pytest.mark.parametrize("beta", [5.0, 10.0, 50.0])
@pytest.mark.parametrize("heads", ["one", "two", "two-equal", 5])
def test_a_million_draws_agree_with_theory(heads: Any, beta: float):
    rows = compare(sample(PerturbationSpec(heads=heads, beta=beta)))
    assert [row.quantity for row in rows if row.agrees is not True] == []


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_theory_knows_agrees_with_the_sample(settings: dict[str, Any]):
    rows = compare(sample(PerturbationSpec(**settings, n_draws=100_000, seed=1)))
    assert [row.quantity for row in rows if row.agrees is False] == []


@pytest.mark.parametrize("settings", SETTINGS)
def test_scores_alone_give_what_whole_keys_give(settings: dict[str, Any]):
    spec = PerturbationSpec(**settings, dimension=12, n_draws=60_000)
    fast, slow = sample(spec), draw_full(spec, 20_000, seed=9)
    kept = ~(slow.scores[:, spec.queries[:, 0] > 0, 0] < 0).any(axis=1)
    close(fast.p_ignored.value, (~kept).astype(float), fast.p_ignored.standard_error)
    if not spec.ignore_negative:
        kept = np.ones_like(kept)
    share, outputs = slow.share[kept], slow.outputs[kept]
    squares = ((outputs - outputs.mean(axis=0)) ** 2).sum(axis=1)
    close(fast.mean_share_a.value, share, fast.mean_share_a.standard_error)
    spread = (share - share.mean()) ** 2
    close(fast.variance_share_a.value, spread, fast.variance_share_a.standard_error)
    close(fast.total_variance_c.value, squares, fast.total_variance_c.standard_error)
    off = (np.abs(share - 0.5) > 0.4).astype(float)
    close(fast.p_off_center().value, off, fast.p_off_center().standard_error)
    error = outputs.std(axis=0) / len(outputs) ** 0.5 + 1e-12
    assert (np.abs(outputs.mean(axis=0) - fast.mean_output) < 6 * error).all()


def test_failures_are_counted_for_every_distinct_head():
    spec = PerturbationSpec(heads=FREE, beta=2.0, noise_variance=0.05, n_draws=60_000)
    fast, slow = sample(spec), draw_full(spec, 20_000)
    order = np.lexsort(spec.coefficients.T[::-1])
    for position, head in enumerate(order):
        asked = spec.coefficients[head] > 0
        failed = (slow.weights[:, head][:, asked].sum(axis=1) < 0.5).astype(float)
        close(fast.head_failures[position] / fast.n_kept, failed, failed.std() / 60_000**0.5)


def test_the_same_seed_gives_the_same_numbers():
    spec = PerturbationSpec(heads="two", noise_variance=0.1, n_draws=20_000)
    one, again, other = sample(spec), sample(spec), sample(replace(spec, seed=1))
    assert one.mean_share_a == again.mean_share_a
    assert (one.share_counts == again.share_counts).all()
    assert one.mean_share_a != other.mean_share_a


def test_only_what_moves_is_drawn():
    def normals(**changes: Any) -> int:
        return make_plan(PerturbationSpec(**changes)).n_normals

    assert normals(heads="two") == 1
    assert normals(heads="two", radial_variance=LONG_BOTH) == 2
    assert normals(heads="one", noise_variance=0.1) == 6
    assert normals(heads="two", noise_variance=0.1) == 12
    assert normals(heads="two-equal", noise_variance=0.1) == 6
    assert normals(heads=100, noise_variance=0.1) == 12


@pytest.mark.parametrize("heads", ["one", "two", FREE])
def test_a_huge_scale_never_overflows(heads: Any):
    drawn = sample(PerturbationSpec(heads=heads, beta=1e6, noise_variance=0.5, n_draws=5000))
    assert np.isfinite(drawn.covariance_weights).all()
    assert drawn.mean_weights.sum() == pytest.approx(1.0)


def test_a_share_that_stands_still_has_no_spread():
    drawn = sample(PerturbationSpec(radial_variance=0.0, n_draws=5000))
    assert drawn.variance_share_a.value < 1e-30
    assert drawn.mean_share_a.value == pytest.approx(1 / (2 + 4 * np.exp(-10.0)), abs=1e-14)


def test_histograms_hold_every_draw():
    drawn = sample(PerturbationSpec(n_draws=30_000), n_bins=200, plane_bins=50)
    assert drawn.share_counts.sum() == 30_000
    assert drawn.plane_counts is not None
    assert drawn.plane_counts.sum() == 30_000
    marginal = drawn.coarse_counts(50)
    np.testing.assert_array_equal(drawn.plane_counts.sum(axis=1), marginal)
    with pytest.raises(ValueError, match="30 bins do not divide 200"):
        drawn.coarse_counts(30)


def test_quantiles_come_with_their_error():
    drawn = sample(PerturbationSpec(beta=5, heads="one", n_draws=100_000))
    median = drawn.quantile(0.5)
    assert median.standard_error is not None
    assert abs(median.value - 0.5) < 4 * median.standard_error + 0.01
    with pytest.raises(ValueError, match="quantile 1: use a number between 0 and 1"):
        drawn.quantile(1)


def test_a_quantile_beyond_which_hardly_a_draw_lies_has_no_error():
    few = sample(PerturbationSpec(n_draws=10))
    assert few.quantile(0.05).standard_error is None
    assert few.quantile(0.5).standard_error is not None
    assert sample(PerturbationSpec(n_draws=1)).quantile(0.5).standard_error is None


def test_two_heaps_are_called_two_heaps():
    assert two_heaps(heads="one", beta=10.0)
    assert not two_heaps(heads="one", beta=10.0, radial_variance=0.0, noise_variance=1e-4)


def test_progress_is_told_a_hundred_times_at_most():
    told: list[int] = []
    sample(PerturbationSpec(n_draws=400_000), progress=lambda done, total: told.append(done))
    assert told == sorted(told)
    assert told[-1] == 400_000
    assert 2 < len(told) <= 100


def test_memory_does_not_grow_with_the_draws():
    def peak(n_draws: int) -> int:
        tracemalloc.start()
        sample(PerturbationSpec(heads="two", noise_variance=0.1, n_draws=n_draws))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(400_000) < 1.2 * peak(40_000) < 10_000_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "0 bins for the share"),
        ({"plane_bins": 1000}, "1000 bins a side of the plane"),
        ({"thresholds": (0.5,)}, "threshold t = 0.5: use a number between 0 and 0.5"),
    ],
)
def test_bad_bins_are_refused(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        sample(PerturbationSpec(n_draws=10), **options)


def test_a_threshold_that_was_not_counted_is_named():
    drawn = sample(PerturbationSpec(n_draws=10), thresholds=(0.1,))
    with pytest.raises(ValueError, match="t = 0.4 was not counted"):
        drawn.p_off_center(0.4)


def test_nothing_is_averaged_when_no_draw_is_kept():
    query = ((1.0, 0, 0, 0, 0, 0), (-1.0, 1, 0, 0, 0, 0))
    spec = PerturbationSpec(heads=query, n_draws=1, ignore_negative=True, radial_variance=1e4)
    seeds = [seed for seed in range(20) if draws_nothing(replace(spec, seed=seed))]
    assert 4 < len(seeds) < 16


def test_the_full_path_refuses_what_would_fill_the_memory():
    with pytest.raises(ValueError, match="the full path takes 1 to"):
        draw_full(PerturbationSpec(), 10**7)


def test_the_cloud_of_a_key_is_long_along_its_mean():
    cloud = key_cloud(PerturbationSpec(noise_variance=0.01, radial_variance=0.5), 20_000)
    np.testing.assert_allclose(cloud.mean(axis=0), [1, 0], atol=0.03)
    np.testing.assert_allclose(cloud.var(axis=0), [0.51, 0.01], rtol=0.06)
    with pytest.raises(ValueError, match="0 points"):
        key_cloud(PerturbationSpec(), 0)


@pytest.mark.parametrize("n_features", [1, 3])
def test_running_moments_are_those_of_all_draws_at_once(n_features: int):
    generator = np.random.default_rng(2)
    row, gram = np.eye(n_features)[0] * 0.7, np.diag(np.arange(1.0, n_features + 1))
    draws = generator.gamma(2.0, size=(n_features, 5000)) + 100
    running = RunningMoments(row, gram)
    for block in np.split(draws, 10, axis=1):
        running.add(block, np.empty((n_features + 3, 500)))
    share = row @ draws
    spread = (share - share.mean()) ** 2
    away = draws - draws.mean(axis=1, keepdims=True)
    squares = np.einsum("fm,fg,gm->m", away, gram, away)
    found = running.variance_share(), running.total_variance()
    mean = running.mean_share(1.0)
    assert mean.value == pytest.approx(share.mean() + 1)
    assert mean.standard_error == pytest.approx((share.var(ddof=1) / 5000) ** 0.5, rel=1e-9)
    assert found[0].value == pytest.approx(share.var(ddof=1), rel=1e-9)
    # Var S = Var[‖x − mean‖²] / n + 2 tr Σ² / n(n − 1)
    own = (spread.var() + 2 * share.var() ** 2 / 4999) / 5000
    assert found[0].standard_error == pytest.approx(own**0.5, rel=1e-9)
    assert found[1].value == pytest.approx(squares.mean() * 5000 / 4999, rel=1e-9)
    turned = np.atleast_2d(np.cov(draws, ddof=0)) @ gram
    own = (squares.var() + 2 * np.trace(turned @ turned) / 4999) / 5000
    assert found[1].standard_error == pytest.approx(own**0.5, rel=1e-9)


@pytest.mark.parametrize("n", [2, 5, 50])
def test_the_error_of_a_variance_is_its_spread_over_many_samples(n: int):
    generator = np.random.default_rng(3)
    found = [sampled_variance(generator.random((1, n))) for _ in range(4000)]
    values = np.array([one.value for one in found])
    assert values.mean() == pytest.approx(1 / 12, rel=0.05)
    squares = [one.standard_error**2 for one in found if one.standard_error is not None]
    assert len(squares) == 4000
    assert 0.4 < np.mean(squares) / values.var() < 1.2


def test_one_draw_has_a_mean_but_no_variance_and_no_error():
    running = RunningMoments(np.ones(1), np.eye(1))
    running.add(np.array([[0.3]]), np.empty((4, 1)))
    mean, variance = running.mean_share(0.0), running.variance_share()
    assert (mean.value, mean.standard_error) == (pytest.approx(0.3), None)
    assert np.isnan(variance.value)
    assert variance.standard_error is None


def sampled_variance(draws: np.ndarray) -> Measured:
    """Of one feature, drawn in one block."""
    running = RunningMoments(np.ones(1), np.eye(1))
    running.add(draws, np.empty((4, draws.shape[1])))
    return running.variance_share()


def close(fast: float, draws: np.ndarray, error: float | None) -> None:
    """Both within four of their joint standard errors."""
    assert error is not None
    joint = (error**2 + float(draws.var()) / len(draws) + 1.0 / len(draws) ** 2) ** 0.5
    assert abs(fast - float(draws.mean())) < 4 * joint


def two_heaps(**changes: Any) -> bool:
    drawn: Sample = sample(PerturbationSpec(**changes, n_draws=20_000))
    return drawn.is_bimodal


def draws_nothing(spec: PerturbationSpec) -> bool:
    try:
        sample(spec)
    except ValueError as error:
        return "no draw was kept" in str(error)
    return False
