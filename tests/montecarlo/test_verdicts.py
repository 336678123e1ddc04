"""Verdicts on theory: seldom a denial while it is right, always one when it is clearly wrong."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.montecarlo.bounds import count_bounds, estimated_room, mean_room
from core.montecarlo.compare import FALSE_VERDICTS, Row, compare, law_of
from core.montecarlo.sample import sample
from core.montecarlo.spec import PerturbationSpec
from pages.monte_carlo.presets import PRESETS

SETTINGS: dict[str, PerturbationSpec] = {
    **PRESETS,
    "one head, noise": PerturbationSpec(noise_variance=0.01),
    "two heads, noise alone": PerturbationSpec(
        heads="two", noise_variance=0.05, radial_variance=0.0
    ),
    "two heads that seldom fail": PerturbationSpec(heads="two", beta=3.0, radial_variance=0.05),
    "two heads, draws left out": PerturbationSpec(heads="two", ignore_negative=True),
    "one head, a coin": PerturbationSpec(beta=1e4),
}


@pytest.mark.parametrize(("n_draws", "n_seeds"), [(10, 100), (40, 25), (200, 25)])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_right_theory_is_denied_in_one_sample_of_a_hundred_at_most(
    name: str, n_draws: int, n_seeds: int
):
    specs = [replace(SETTINGS[name], n_draws=n_draws, seed=seed) for seed in range(n_seeds)]
    laws = {spec.coefficients.tobytes(): law_of(spec) for spec in specs}
    denied = [
        spec.seed
        for spec in specs
        if any(
            row.agrees is False for row in compare(sample(spec), laws[spec.coefficients.tobytes()])
        )
    ]
    assert len(denied) <= FALSE_VERDICTS * n_seeds


@pytest.mark.parametrize("name", SETTINGS)
def test_many_draws_have_a_verdict_on_all_that_theory_knows(name: str):
    rows = rows_of(SETTINGS[name], n_draws=20_000)
    assert {row.verdict for row in rows} <= {"agrees", "sample only"}
    assert sum(row.verdict == "agrees" for row in rows) >= 4


@pytest.mark.parametrize("name", SETTINGS)
def test_one_draw_has_no_error_no_variance_and_no_verdict(name: str):
    rows = {row.quantity: row for row in rows_of(SETTINGS[name], n_draws=1)}
    assert {row.verdict for row in rows.values()} <= {"too few draws", "sample only"}
    assert {row.standard_error for row in rows.values()} == {None}
    assert rows["variance_share_a"].sample is rows["total_variance_c"].sample is None
    assert rows["mean_share_a"].sample is not None


def test_a_few_draws_have_a_verdict_only_where_some_sample_could_disagree():
    rows = {row.quantity: row for row in rows_of(PerturbationSpec(), n_draws=10)}
    assert rows["mean_share_a"].verdict == rows["variance_share_a"].verdict == "too few draws"
    assert rows["p_off_center"].verdict == "agrees"
    assert (rows["p_off_center"].low, rows["p_off_center"].high) == (
        pytest.approx(0.3),
        pytest.approx(1.0),
    )


def test_draws_that_are_all_alike_tell_no_error_of_their_own():
    spec = PerturbationSpec(beta=1e6, n_draws=3)
    alike = [replace(spec, seed=seed) for seed in range(30)]
    drawn = next(one for one in map(sample, alike) if one.variance_share_a.value == 0)
    assert drawn.mean_share_a.standard_error is drawn.variance_share_a.standard_error is None
    mean, variance, *_ = compare(drawn)
    assert mean.standard_error == pytest.approx((0.25 / 3) ** 0.5, rel=1e-3)
    assert variance.standard_error is None
    assert variance.verdict == "too few draws"


def test_what_stands_still_agrees_from_two_draws_on_without_any_error():
    rows = rows_of(PerturbationSpec(radial_variance=0.0), n_draws=2)
    assert {row.verdict for row in rows} == {"agrees"}
    assert {row.standard_error for row in rows} == {0.0}


WRONG: list[tuple[PerturbationSpec, dict[str, Any], set[str]]] = [
    (
        PerturbationSpec(),
        {"radial_variance": 0.55},
        {"variance_share_a", "p_off_center", "total_variance_c", "p_ignored"},
    ),
    (
        PerturbationSpec(heads="two"),
        {"radial_variance": 0.55},
        {"mean_share_a", "p_head_fails", "variance_share_a"},
    ),
    (PerturbationSpec(heads="two"), {"beta": 11.0}, {"mean_share_a", "p_head_fails"}),
    (
        PRESETS["One head, small noise"],
        {"noise_variance": 1.1e-4},
        {"variance_share_a", "total_variance_c"},
    ),
    (PerturbationSpec(noise_variance=0.01), {"noise_variance": 0.02}, {"variance_share_a"}),
    (PerturbationSpec(), {"radial_variance": 0.0}, {"mean_share_a", "variance_share_a"}),
]


@pytest.mark.parametrize(("spec", "wrong", "found"), WRONG)
def test_a_wrong_theory_is_found_with_many_draws(
    spec: PerturbationSpec, wrong: dict[str, Any], found: set[str]
):
    drawn = sample(replace(spec, n_draws=200_000))
    denied = {
        row.quantity
        for row in compare(drawn, law_of(replace(spec, **wrong)))
        if row.verdict == "disagrees"
    }
    assert found <= denied
    assert all(row.verdict != "disagrees" for row in compare(drawn))


def test_a_grossly_wrong_theory_is_found_with_a_hundred_draws():
    drawn = sample(PerturbationSpec(n_draws=100))
    wrong = law_of(PerturbationSpec(radial_variance=0.01))
    assert any(row.verdict == "disagrees" for row in compare(drawn, wrong))


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (10, 0.118), (30, 0.76), (200, 1e-4), (7, 1.0)])
def test_counts_beyond_the_bounds_are_rarer_than_the_level_and_those_at_them_are_not(
    n: int, p: float
):
    chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    for level in (0.1, 1e-3):
        least, greatest = count_bounds(n, p, level)
        assert sum(chances[:least]) <= level < sum(chances[: least + 1])
        assert sum(chances[greatest + 1 :]) <= level < sum(chances[greatest:])


def test_counts_of_a_thousand_million_draws_lie_where_the_normal_law_puts_them():
    least, greatest = count_bounds(10**9, 0.3, 0.02275)  # two deviations
    assert ((least - 3e8) / 2.1e8**0.5, (greatest - 3e8) / 2.1e8**0.5) == (
        pytest.approx(-2, abs=0.01),
        pytest.approx(2, abs=0.01),
    )
    assert count_bounds(10**9, 0.0, 0.01) == (0, 0)


@pytest.mark.parametrize("p", [0.5, 0.02])
@pytest.mark.parametrize("n", [5, 40, 1000])
def test_means_leave_their_room_as_seldom_as_is_said(p: float, n: int):
    level, n_samples = 0.02, 20_000
    means = np.random.default_rng(0).binomial(n, p, n_samples) / n
    up, down = (mean_room(p * (1 - p), reach, n, level) for reach in (1 - p, p))
    assert np.mean(means > p + up) <= level
    assert np.mean(means < p - down) <= level
    rooms = np.array(
        [estimated_room(m * (1 - m) * n / (n - 1), 1.0, n, level) for m in means.tolist()]
    )
    assert np.mean(means > p + rooms) <= level
    assert np.mean(means < p - rooms) <= level


def test_with_many_draws_the_rooms_are_a_few_standard_errors():
    error = (0.04 / 10**6) ** 0.5
    assert 3.5 < mean_room(0.04, 0.5, 10**6, 1e-3) / error < 4
    assert 3.5 < estimated_room(0.04, 1.0, 10**6, 1e-3) / error < 4.2


def rows_of(spec: PerturbationSpec, *, n_draws: int) -> tuple[Row, ...]:
    """Theory beside the sample."""
    return compare(sample(replace(spec, n_draws=n_draws)))
