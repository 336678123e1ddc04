"""The map of places that can be reached: its axes and its marked points."""

import numpy as np

from core.figures.reach import reach_map


def rows_of(spec: dict) -> list[list[dict]]:
    return list(spec["datasets"].values())


def reach(here: tuple[float, float]) -> dict:
    grid = np.linspace(-1, 1, 5)
    distance = np.hypot(grid[:, None], grid) + 1
    return reach_map(grid, distance, here, (0.0, 0.5), title="Reach").to_dict()


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
