"""Planes in squares: what is counted, what is left out, what keeps its shape and its marks."""

import json

import numpy as np
import pytest

from core.figures.palette import KEY, VALUE
from core.figures.planes import key_cloud, output_plane, reach_map
from core.figures.template import Figure


def rows_of(chart: Figure) -> list[list[dict]]:
    return list(chart.to_dict()["datasets"].values())


def largest(chart: Figure) -> list[dict]:
    return max(rows_of(chart), key=len)


@pytest.fixture
def counts() -> np.ndarray:
    drawn = np.zeros((4, 4), dtype=np.int64)
    drawn[3, 0], drawn[0, 3], drawn[1, 2] = 30, 50, 20
    return drawn


def test_the_plane_sends_only_cells_that_were_hit(counts: np.ndarray):
    cells = largest(output_plane(counts, (0.4, 0.5), title="c"))
    assert sorted((cell["a"], cell["b"], cell["part"]) for cell in cells) == [
        (0.0, 0.75, 0.5),
        (0.25, 0.5, 0.2),
        (0.75, 0.0, 0.3),
    ]


def test_the_plane_marks_mean_and_midpoint_and_the_segment(counts: np.ndarray):
    chart = output_plane(counts, (0.4, 0.5), title="c")
    points = next(rows for rows in rows_of(chart) if "name" in rows[0])
    assert [(p["name"], p["a"], p["b"]) for p in points] == [
        ("mean of c", 0.4, 0.5),
        ("ideal midpoint", 0.5, 0.5),
    ]
    assert {"a": 1, "b": 0} in [row for rows in rows_of(chart) for row in rows]
    assert chart.to_dict()["layer"][1]["mark"]["color"] == VALUE


def test_a_full_plane_is_small():
    full = output_plane(np.ones((40, 40), dtype=np.int64), (0.5, 0.5), title="")
    assert len(json.dumps(full.to_dict())) < 135_000


def test_a_cloud_is_sent_in_cells_and_keeps_its_shape():
    points = np.random.default_rng(0).standard_normal((50_000, 2)) * [0.7, 0.1] + [1, 0]
    chart = key_cloud(points, (1.0, 1.0), title="cloud")
    cells = largest(chart)
    assert len(cells) < 60 * 60
    assert sum(cell["part"] for cell in cells) == pytest.approx(1.0, abs=1e-3)
    spec = chart.to_dict()
    spans = [np.ptp(spec["layer"][0]["encoding"][axis]["scale"]["domain"]) for axis in ("x", "y")]
    assert spec["width"] / spec["height"] == pytest.approx(spans[0] / spans[1], rel=0.01)
    assert spec["layer"][0]["mark"]["color"] == KEY


def test_a_cloud_without_noise_is_a_line():
    points = np.column_stack([np.linspace(-1, 3, 500), np.zeros(500)])
    assert {cell["low"] for cell in largest(key_cloud(points, (1.0, 2.0), title=""))} == {0}


def reach(here: tuple[float, float]) -> Figure:
    grid = np.linspace(-1, 1, 5)
    distance = np.hypot(grid[:, None], grid) + 1
    return reach_map(grid, distance, here, (0.0, 0.5), title="Reach")


def test_the_map_has_s_along_its_rows_and_marks_both_points():
    cells, points = sorted(rows_of(reach((1.0, -1.0))), key=len, reverse=True)
    assert len(cells) == 25
    assert {"s": -1, "t": 0.5, "distance": round(1 + float(np.hypot(1, 0.5)), 4)} in cells
    assert [(p["name"], p["left"], p["low"]) for p in points] == [
        ("here", 1, -1),
        ("nearest", 0, 0.5),
    ]


def test_a_point_outside_the_map_is_left_out():
    points = min(rows_of(reach((5.0, 0.0))), key=len)
    assert [point["name"] for point in points] == ["nearest"]
