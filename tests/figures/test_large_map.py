"""Maps of many tokens: small enough to travel, nothing lost, masked cells grey."""

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plotly.graph_objects import Figure

from core.figures import large_map as maps
from core.figures.large_map import is_large, large_map, large_side
from core.figures.palette import KEY, MASKED, QUERY
from core.figures.plot import Plot, tinted, typed

TYPES = {"f4": np.float32, "u1": np.uint8, "i1": np.int8}
MOST_BYTES = 400_000


def sent(plot: Plot) -> str:
    """What travels, as Plotly itself writes it after its own checks."""
    return str(Figure(plot.to_dict()).to_json())


def cells_of(plot: Plot) -> np.ndarray:
    array = plot.data[0]["z"]
    shape = [int(n) for n in array["shape"].split(",")]
    values = np.frombuffer(base64.b64decode(array["bdata"]), TYPES[array["dtype"]])
    return values.reshape(shape)


def names(n: int) -> list[str]:
    return ["·the", "<b>", "é", "&"] * (n // 4 + 1)


def drawn(weights: np.ndarray, visible: np.ndarray, **options: Any) -> Plot:
    return large_map(weights, names(len(weights))[: len(weights)], 1, visible=visible, **options)


@pytest.mark.parametrize(("n", "exact"), [(61, True), (228, True), (229, False), (512, False)])
def test_a_map_of_512_tokens_stays_under_400_kilobytes(
    causal: Callable[[int], np.ndarray], n: int, exact: bool
):
    plot = drawn(causal(n), np.tri(n, dtype=bool))
    assert len(sent(plot)) < MOST_BYTES
    assert plot.data[0]["z"]["dtype"] == ("f4" if exact else "u1")
    assert ("steps of 1 %" in plot.note) is not exact


@pytest.mark.parametrize("n", [61, 300])
def test_every_cell_has_its_weight_and_masked_ones_have_none(
    causal: Callable[[int], np.ndarray], n: int
):
    weights, visible = causal(n), np.tri(n, dtype=bool)
    visible[5, 2] = False
    cells = cells_of(drawn(weights, visible))
    if cells.dtype == np.float32:
        np.testing.assert_array_equal(np.isnan(cells), ~visible)
        np.testing.assert_array_equal(cells[visible], weights[visible])
    else:
        np.testing.assert_array_equal(cells == 101, ~visible)
        np.testing.assert_allclose(cells[visible] / 100, weights[visible], atol=0.00501)


def test_steps_are_of_the_full_colour_and_what_is_above_it_has_it(
    causal: Callable[[int], np.ndarray],
):
    weights, visible = causal(300), np.tri(300, dtype=bool)
    plot = drawn(weights, visible, top=0.1)
    expected = np.round(np.clip(weights / 0.1, 0, 1) * 100)
    np.testing.assert_array_equal(cells_of(plot)[visible], expected[visible])
    assert "% of 0.1" in plot.data[0]["hovertemplate"]
    top = [shade for place, shade in plot.data[0]["colorscale"] if place == 1]
    assert top == [tinted(MASKED, 0)]  # a masked cell has no colour of its own


def inside(path: str) -> set[tuple[int, int]]:
    """The cells that a path of rectangles covers."""
    covered: set[tuple[int, int]] = set()
    for piece in path.removesuffix("Z").split("Z"):
        start, rest = piece.removeprefix("M").split("H", 1)
        left, top = (float(number) for number in start.split(","))
        right = float(rest.split("V")[0])
        row = round(top + 0.5)
        covered |= {(row, column) for column in range(round(left + 0.5), round(right + 0.5))}
    return covered


def test_exactly_the_masked_cells_are_grey_and_lie_below_the_others():
    visible = np.random.default_rng(0).random((70, 70)) < 0.6
    plot = drawn(np.full((70, 70), 0.1), visible)
    grey, frame = plot.layout["shapes"]
    assert (grey["fillcolor"], grey["layer"]) == (tinted(MASKED, 0.22), "below")
    assert inside(grey["path"]) == {tuple(cell) for cell in np.argwhere(~visible).tolist()}
    assert (frame["y0"], frame["y1"], frame["line"]["color"]) == (0.5, 1.5, QUERY)
    whole = drawn(np.full((70, 70), 0.1), np.ones((70, 70), dtype=bool))
    assert len(whole.layout["shapes"]) == 1


def test_names_never_repeat_and_are_no_markup(causal: Callable[[int], np.ndarray]):
    plot = drawn(causal(64), np.tri(64, dtype=bool))
    for side in "xy":
        assert len(set(plot.data[0][side])) == 64
        assert plot.data[0][side][1:4] == ["1 &lt;b&gt;", "2 é", "3 &amp;"]
    assert plot.layout["xaxis"]["title"]["text"] == "key (looked at)"
    assert plot.layout["yaxis"]["range"] == [63.5, -0.5]  # row 0 is at the top


def test_a_mark_for_each_row_can_be_clicked_and_the_chosen_one_is_larger(
    causal: Callable[[int], np.ndarray],
):
    marks = drawn(causal(64), np.tri(64, dtype=bool)).data[1]
    assert len(marks["y"]) == 64
    sizes = np.frombuffer(base64.b64decode(marks["marker"]["size"]["bdata"]), np.uint8)
    assert np.flatnonzero(sizes > sizes.min()).tolist() == [1]


def test_a_map_of_two_texts_has_the_rows_of_one_and_the_columns_of_the_other():
    n, source = 100, 64
    weights = np.random.default_rng(1).random((n, n))
    plot = large_map(
        weights,
        [f"t{i}" for i in range(n)],
        70,
        visible=np.ones((n, n), dtype=bool),
        within=(range(source, n), range(source)),
        sides=("target (looks)", "source (looked at)"),
    )
    np.testing.assert_allclose(cells_of(plot), weights[source:, :source], rtol=1e-6)
    assert (plot.data[0]["y"][0], plot.data[0]["x"][-1]) == ("64 t64", "63 t63")
    assert plot.layout["shapes"][0]["y0"] == 5.5
    assert plot.layout["yaxis"]["title"]["text"] == "target (looks)"


@pytest.mark.parametrize("n", [100, 300, 512, 700])
def test_three_maps_beside_one_another_stay_under_600_kilobytes(n: int):
    random = np.random.default_rng(n)
    values = random.random((n, n)).astype(np.float32) - 0.5
    visible = np.tri(n, dtype=bool)
    plot = large_side(
        values, names(n)[:n], visible, quantity="weight", top=0.5, signed=True, name="B less A"
    )
    assert 3 * len(sent(plot)) < 600_000
    assert plot.data[0]["zmin"] in (-0.5, -100)
    assert [shade for _, shade in plot.data[0]["colorscale"]][:3:2] == [QUERY, KEY]
    assert ("largest of" in plot.note) == (n > maps.MOST_BESIDE)


def test_squares_show_what_is_furthest_from_zero_and_are_masked_only_as_a_whole():
    n = 400
    values, visible = np.zeros((n, n)), np.tri(n, dtype=bool)
    values[10, 3], values[20, 4], values[20, 5] = -0.5, 0.25, -0.1
    plot = large_side(
        values, [f"t{i}" for i in range(n)], visible, quantity="x", top=0.5, signed=True
    )
    cells = cells_of(plot)
    assert cells.shape == (200, 200)
    assert (cells[5, 1], cells[10, 2]) == (-100, 50)
    np.testing.assert_array_equal(cells == 101, ~np.tri(200, dtype=bool))
    assert plot.data[0]["x"][1] == "2 t2"


def test_a_typed_array_is_read_back_by_plotly_and_other_types_are_refused():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    figure = Figure({"data": [{"type": "heatmap", "z": typed(values)}]})
    assert json.loads(str(figure.to_json()))["data"][0]["z"]["shape"] == "2, 3"
    with pytest.raises(KeyError, match="complex64"):
        typed(np.zeros(2, dtype=np.complex64))


def test_sixty_tokens_are_a_small_map_and_one_more_is_a_large_one():
    assert [is_large(60, 60), is_large(61, 3), is_large(3, 61)] == [False, True, True]
