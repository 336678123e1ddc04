"""What a sweep says, on figures that are made up."""

import numpy as np
import pytest

from core.evaluation.picture_figures import (
    accuracy_by_shift,
    best_rate,
    does_pooling_help,
    epoch_means,
    mean_of,
    network_figure,
    network_figures,
    one_network,
    pooling_at,
    pooling_by_rate,
)
from core.pictures.sweep_spec import Case
from tests.pictures.sweeps import made_up


def helped(case: Case) -> int | None:
    """Pooling gets 6, 8, 10 more right than strides; the rate of 0.1 diverges once for it."""
    if case == Case("pooling", 0.1, 1):
        return None
    more = {"pooling": 6 + 2 * case.seed}.get(case.network, 0)
    return 150 + 10 * case.seed + more - (20 if case.rate == 0.1 else 0)


def test_the_interval_of_a_mean_is_student_s():
    found = mean_of([0.90, 0.92, 0.94, 0.96, 0.98])
    half = 2.776 * np.std([0.90, 0.92, 0.94, 0.96, 0.98], ddof=1) / 5**0.5
    assert (found.mean, found.n) == (pytest.approx(0.94), 5)
    assert (found.low, found.high) == (pytest.approx(0.94 - half), pytest.approx(0.94 + half))
    assert mean_of([0.5]).low is None


def test_a_network_is_shown_at_the_rate_that_is_best_on_validation():
    sweep = made_up(helped)
    assert [best_rate(sweep, name) for name in ("pooling", "strides", "patches")] == [
        0.01,
        0.01,
        0.002,
    ]
    pooling, strides, patches = network_figures(sweep)
    assert pooling.accuracy == pytest.approx(np.mean([156, 168, 180]) / 200)
    assert pooling.low is not None
    assert pooling.high is not None
    assert pooling.low < pooling.accuracy < pooling.high
    assert (pooling.seeds, pooling.diverged, pooling.n_test, pooling.classes) == (3, 0, 200, 10)
    assert (strides.rate, patches.interval) == (0.01, "Student's t over seeds")
    at_the_high_rate = network_figure(sweep, "pooling", 0.1)
    assert (at_the_high_rate.seeds, at_the_high_rate.diverged) == (2, 1)


def test_differences_are_paired_by_seed_so_that_what_seeds_share_drops_out():
    found = does_pooling_help(made_up(helped))
    assert found.rates == (0.01, 0.01)
    assert found.difference is not None
    assert found.difference.mean == pytest.approx(0.04)
    half = 4.303 * np.std([0.03, 0.04, 0.05], ddof=1) / 3**0.5
    assert found.difference.low == pytest.approx(0.04 - half)
    assert found.verdict == "helps"
    high, low = pooling_by_rate(made_up(helped))
    assert (low, high.diverged, high.rates) == (found, 1, (0.1, 0.1))
    assert high.difference is not None
    assert high.difference.n == 2


def test_what_hurts_and_what_stays_open_is_said():
    hurt = made_up(lambda case: 100 + case.seed - 30 * (case.network == "pooling"))
    assert does_pooling_help(hurt).verdict == "hurts"
    noise = {0: 10, 1: -10, 2: 1}
    open_ = made_up(lambda case: 100 + noise[case.seed] * (case.network == "pooling"))
    assert does_pooling_help(open_).verdict == "open"
    one_seed = made_up(lambda case: 100 + 50 * (case.network == "pooling"), seeds=1)
    assert does_pooling_help(one_seed).verdict == "open"
    none = pooling_at(made_up(lambda _: None), 0.1, 0.1)
    assert (none.difference, none.diverged, none.verdict) == (None, 3, "open")


def test_accuracy_by_shift_is_the_mean_over_seeds():
    found = accuracy_by_shift(made_up(lambda _: 100), "strides")
    assert [round(mean.mean, 4) for mean in found] == [0.5, 0.5, 0.25, 0.125, 0]
    assert accuracy_by_shift(made_up(lambda _: None), "strides") == []


def test_curves_are_means_over_the_seeds_that_did_not_diverge():
    curve = epoch_means(made_up(helped), "pooling", 0.1, "validation_accuracy")
    assert [mean.n for mean in curve] == [2, 2]
    assert curve[1].mean == pytest.approx((136 + 160) / 400)
    assert curve[0].mean == pytest.approx(curve[1].mean / 2)


def test_a_network_whose_trainings_all_diverged_counts_as_knowing_nothing():
    (only,) = network_figures(made_up(lambda _: None, networks=("strides",)))
    assert (only.accuracy, only.low, only.seeds, only.diverged) == (0, None, 0, 3)


def test_a_network_without_a_run_has_no_rate():
    sweep = made_up(lambda _: 100, n_runs=1)
    assert [row.name for row in network_figures(sweep)] == ["pooling"]
    with pytest.raises(ValueError, match="the sweep has no run of 'strides'"):
        best_rate(sweep, "strides")


def test_one_network_has_the_interval_of_its_test_pictures():
    found = one_network("pooling", classes=10, parameters=5, rate=0.1, correct=90, n_test=100)
    assert (found.accuracy, found.seeds, found.interval) == (0.9, 1, "Wilson over pictures")
    assert found.low == pytest.approx(0.8256, abs=1e-3)
