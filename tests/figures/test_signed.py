"""Signed cells: a diverging scale around 0, labels may repeat, nothing where nothing is."""

from typing import Any

import numpy as np
import pytest

from core.figures.signed import Cell, grid_cells, signed_grid
from core.figures.template import to_svg

VALUES = np.array([[0.5, -2.0, 0.0], [np.nan, 1.0, 0.25]])


def grid(values: np.ndarray = VALUES, **changes: Any) -> Any:
    options: dict[str, Any] = {
        "reach": None,
        "sides": ("rows", "columns"),
        "name": "change",
        "title": "T",
        **changes,
    }
    labels = ["n"] * values.shape[1]
    return signed_grid(grid_cells(values), ["A", "A"], labels, **options)


def test_cells_are_those_of_the_matrix():
    assert grid_cells(VALUES)[1] == Cell(0, 1, -2.0)
    assert len(grid_cells(VALUES)) == 6


@pytest.mark.parametrize(("reach", "edge"), [(None, 2.0), (1.0, 1.0)])
def test_the_scale_is_symmetric_around_0(reach: float | None, edge: float):
    scale = grid(reach=reach).to_dict()["encoding"]["color"]["scale"]
    assert scale["domain"] == [-edge, edge]
    assert scale["domainMid"] == 0
    assert scale["clamp"]


def test_repeated_labels_keep_their_rows_and_columns():
    encoding = grid().to_dict()["encoding"]
    assert encoding["x"]["scale"]["domain"] == [0, 1, 2]
    assert encoding["y"]["scale"]["domain"] == [0, 1]
    assert encoding["x"]["axis"]["labelExpr"] == '["n", "n", "n"][datum.value]'
    assert (encoding["y"]["title"], encoding["x"]["title"]) == ("rows", "columns")


def test_a_cell_without_a_number_is_not_drawn():
    spec = grid().to_dict()
    ((rows),) = spec["datasets"].values()
    assert [(r["row"], r["column"]) for r in rows] == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)]
    assert rows[1]["at"] == "A, n"


@pytest.mark.parametrize("values", [np.zeros((2, 3)), np.full((2, 2), np.nan)])
def test_nothing_but_zeros_or_nothing_at_all_is_a_chart_too(values: np.ndarray):
    chart = grid(values)
    assert chart.to_dict()["encoding"]["color"]["scale"]["domain"] == [-1.0, 1.0]
    assert to_svg(chart).startswith(b"<svg")
