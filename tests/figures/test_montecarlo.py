"""Charts of the draws and of their theory: what is binned, what is cut off, what is left out."""

import json

import numpy as np
import pytest

from core.figures import montecarlo as figures
from core.figures import montecarlo_curves as curves
from core.figures.palette import WEIGHT
from core.figures.template import Figure


def rows_of(chart: Figure) -> list[list[dict]]:
    return list(chart.to_dict()["datasets"].values())


def largest(chart: Figure) -> list[dict]:
    return max(rows_of(chart), key=len)


def test_bars_are_a_density_that_sums_to_1():
    chart = figures.share_histogram(np.array([3, 0, 1, 4]), 0.5, 0.2, title="share")
    bars = largest(chart)
    assert sum(bar["density"] for bar in bars) / 4 == pytest.approx(1.0)
    assert [bar["part"] for bar in bars] == [0.375, 0, 0.125, 0.5]
    assert len(chart.to_dict()["layer"]) == 3


def test_mean_and_spread_stay_on_the_axis():
    chart = figures.share_histogram(np.array([1, 1]), 0.5, 0.7, title="share")
    (spread,) = chart.to_dict()["datasets"]["spread"]
    assert (spread["left"], spread["right"]) == (0, 1)


def test_one_draw_has_a_mean_without_a_bar():
    chart = figures.share_histogram(np.array([1, 0]), 0.2, float("nan"), title="share")
    drawn = chart.to_dict()["datasets"]
    assert (len(drawn["mean"]), len(drawn["spread"])) == (1, 0)


def test_a_density_beyond_all_bounds_is_cut_off():
    density = np.array([0.0, np.inf, 1e9, 1.0])
    chart = figures.share_histogram(
        np.array([1, 1]), 0.5, 0.1, title="share", density=(np.linspace(0, 1, 4), density)
    )
    line = next(rows for rows in rows_of(chart) if set(rows[0]) == {"left", "density"})
    assert [row["density"] for row in line] == pytest.approx([0, 20 * figures.ROOM, 1.0], rel=1e-4)
    mark = chart.to_dict()["layer"][1]["mark"]
    assert mark["clip"] is True
    assert mark["color"] == WEIGHT


def test_the_share_stands_over_the_density_of_epsilon():
    epsilon = np.linspace(-1, 3, 9)
    chart = curves.share_against_epsilon(
        epsilon,
        [("exact", epsilon * 0 + 0.5), ("textbook", epsilon * 0)],
        epsilon * 0 + 0.25,
        key="key a",
        title="share",
    )
    spec = chart.to_dict()
    shares, density = sorted(spec["datasets"].values(), key=len, reverse=True)
    assert [row["name"] for row in shares] == ["exact"] * 9 + ["textbook"] * 9
    assert len(density) == 9
    domains = [part["encoding"]["x"]["scale"]["domain"] for part in spec["vconcat"]]
    assert domains[0] == domains[1] == [-1, 3]


@pytest.mark.parametrize(
    ("sampled", "drawn"),
    [((0.4, 0.01), (1, 1)), ((0.4, None), (1, 0)), ((float("nan"), None), (0, 0))],
)
def test_a_sampled_spread_has_a_bar_where_it_has_an_error(
    sampled: tuple[float, float | None], drawn: tuple[int, int]
):
    lines = [("one", np.array([0.1, 0.2]))]
    chart = curves.spread_against_beta(np.array([1.0, 10.0]), lines, 5.0, title="", sampled=sampled)
    tables = chart.to_dict()["datasets"]
    assert (len(tables["sample"]), len(tables["errors"])) == drawn


def test_spreads_that_theory_does_not_know_are_left_out():
    betas = np.array([1.0, 10.0])
    chart = curves.spread_against_beta(
        betas,
        [("one", np.array([0.1, np.nan])), ("two", np.array([0.2, 0.3]))],
        5.0,
        title="spread",
        sampled=(0.4, 0.01),
    )
    assert [(row["name"], row["spread"]) for row in largest(chart)] == [
        ("one", 0.1),
        ("two", 0.2),
        ("two", 0.3),
    ]
    point = next(rows for rows in rows_of(chart) if "low" in rows[0])[0]
    assert (point["low"], point["high"]) == pytest.approx((0.36, 0.44))
    alone = curves.spread_against_beta(betas, [("one", np.ones(2) / 4)], 5.0, title="spread")
    assert len(alone.to_dict()["layer"]) == 2


def test_bands_hold_five_quantiles_and_the_sampled_ones():
    betas, quantiles = np.array([1.0, 10.0, 100.0]), np.linspace(0, 1, 15).reshape(5, 3)
    chart = curves.quantile_bands(betas, quantiles, 10.0, quantiles[:, 1], title="bands")
    bands = next(rows for rows in rows_of(chart) if "q05" in rows[0])
    assert [row["q95"] for row in bands] == pytest.approx(quantiles[4], abs=1e-5)
    points = next(rows for rows in rows_of(chart) if len(rows) == 5)
    assert [row["share"] for row in points] == pytest.approx(quantiles[:, 1])
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"


def test_a_full_histogram_is_small():
    full = np.ones(50, dtype=np.int64)
    assert len(json.dumps(figures.share_histogram(full, 0.5, 0.1, title="").to_dict())) < 15_000
