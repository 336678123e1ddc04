"""Charts of the small examples: what is drawn, what is left out, and that Vega-Lite accepts it."""

import numpy as np
import pytest

from core.figures import by_hand as figures
from core.figures.palette import QUERY, VALUE, WEIGHT

LABELS = ["key 1", "key 2", "key 3"]


def rows_of(spec: dict) -> list[list[dict]]:
    return list(spec["datasets"].values())


def test_missing_components_stay_empty_under_their_ticks():
    claimed = np.array([1.0, 2.0, 3.0])
    chart = figures.bar_panels(
        [("whole", claimed), ("short", np.array([5.0]))],
        ["1", "2", "3"],
        claimed,
        of_weights=False,
        axis="component",
    )
    spec = chart.to_dict()
    bars, names = sorted(rows_of(spec), key=len, reverse=True)
    short = [row for row in bars if row["at"].startswith("1|")]
    assert [row["found"] for row in short] == [5, None, None]
    assert [row["claimed"] for row in short] == [1, 2, 3]
    assert [(row["at"], row["name"]) for row in names] == [("0|1", "whole"), ("1|1", "short")]
    assert spec["layer"][0]["mark"]["color"] == VALUE


def test_panels_stand_in_order_with_a_gap_between_two():
    chart = figures.bar_panels(
        [("one", np.zeros(2)), ("two", np.zeros(2))],
        ["a", "b"],
        np.zeros(2),
        of_weights=True,
        axis="weight",
    )
    x = chart.to_dict()["layer"][0]["encoding"]["x"]
    assert x["scale"]["domain"] == ["0|a", "0|b", "0|", "1|a", "1|b"]


def test_weights_are_purple_on_a_scale_from_0_to_1():
    chart = figures.bar_panels(
        [("one", np.array([0.2, 0.8]))], ["a", "b"], np.zeros(2), of_weights=True, axis="weight"
    )
    bars = chart.to_dict()["layer"][0]
    assert bars["mark"]["color"] == WEIGHT
    assert bars["encoding"]["y"]["scale"]["domain"] == [0, 1]


@pytest.mark.parametrize(
    ("vector", "low", "high"), [([0.0, 0.0], 0, 0.08), ([-1.0, 1.0], -1.16, 1.16)]
)
def test_the_axis_always_holds_zero(vector: list[float], low: float, high: float):
    chart = figures.bar_panels(
        [("one", np.array(vector))], ["1", "2"], np.zeros(2), of_weights=False, axis="component"
    )
    domain = chart.to_dict()["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert domain == pytest.approx([low, high])


def test_curves_that_end_together_share_one_name():
    weights = np.array([[1 / 3, 1 / 3, 1 / 3], [0.98, 0.01, 0.01]])
    chart = figures.weight_curves(
        np.array([0.0, 8.0]), weights, LABELS, 4.0, chosen=0, title="Copying"
    )
    spec = chart.to_dict()
    names = next(rows for rows in rows_of(spec) if len(rows) == 2)
    assert [row["key"] for row in names] == ["key 1", "key 2, key 3"]
    assert spec["layer"][2]["mark"]["color"] == QUERY


def test_many_curves_that_end_together_are_named_by_the_first_and_last():
    labels = [f"key {i}" for i in range(1, 7)]
    chart = figures.weight_curves(
        np.array([0.0, 8.0]), np.full((2, 6), 1 / 6), labels, 0.0, chosen=0, title="Equal"
    )
    names = next(rows for rows in rows_of(chart.to_dict()) if len(rows) == 1 and "key" in rows[0])
    assert names[0]["key"] == "key 1 … key 6"


def test_errors_of_zero_are_left_off_the_logarithmic_axis():
    betas = np.array([1.0, 2.0, 3.0])
    chart = figures.error_curves(
        betas,
        [("c₁", np.array([0.1, 0.01, 0.0])), ("c₂", np.zeros(3))],
        2.0,
        title="Errors",
    )
    spec = chart.to_dict()
    lines = max(rows_of(spec), key=len)
    assert [row["error"] for row in lines] == [0.1, 0.01]
    assert spec["layer"][0]["encoding"]["y"]["scale"]["type"] == "log"
    assert spec["layer"][0]["encoding"]["strokeDash"]["scale"]["domain"] == ["c₁", "c₂"]
