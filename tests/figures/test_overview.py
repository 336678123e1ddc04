"""All heads of any number of layers: numbers of layers stay, shared keys and values are marked."""

import json
from typing import Any

import numpy as np
import pytest

from core.figures.overview import head_matrix, heads_grid
from core.figures.palette import KEY


def rows_of(spec: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    part = spec["layer"][layer]
    return spec["datasets"][(part if "data" in part else spec)["data"]["name"]]


def texts(axis: dict[str, Any]) -> list[str]:
    return json.loads(axis["labelExpr"].removesuffix("[datum.value]"))


def matrix(scores: np.ndarray, **options: Any) -> dict[str, Any]:
    layers = options.pop("layers", range(len(scores)))
    return head_matrix(scores, (1, 2), score_name="distance", layers=layers, **options).to_dict()


def test_a_matrix_has_one_cell_a_head_and_frames_the_chosen_one():
    scores = np.arange(12.0).reshape(3, 4)
    spec = matrix(scores)
    cells = rows_of(spec, 0)
    assert {(c["layer"], c["head"]): c["score"] for c in cells} == {
        at: float(score) for at, score in np.ndenumerate(scores)
    }
    assert [c["name"] for c in cells if c["selected"]] == ["L1·H2"]
    assert spec["layer"][1]["mark"]["stroke"] == KEY
    assert spec["layer"][0]["encoding"]["opacity"]["scale"]["domain"] == [0, 11]
    (selection,) = spec["params"]
    assert selection["select"]["fields"] == ["layer", "head"]


def test_layers_of_a_part_keep_their_numbers_in_both_pictures():
    scores, layers = np.zeros((8, 2)), [5, 7]
    spec = matrix(scores, layers=layers)
    assert texts(spec["layer"][0]["encoding"]["y"]["axis"]) == ["L5", "L7"]
    assert [(c["layer"], c["row"]) for c in rows_of(spec, 0)] == [(5, 0), (5, 0), (7, 1), (7, 1)]
    grid = heads_grid(
        [["a", "b"], ["c", "d"]], scores, (7, 0), score_name="x", layers=layers, wide=True
    ).to_dict()
    assert [(h["name"], h["image"]) for h in rows_of(grid, 0)] == [
        ("L5·H0", "a"),
        ("L5·H1", "b"),
        ("L7·H0", "c"),
        ("L7·H1", "d"),
    ]
    assert texts(grid["layer"][0]["encoding"]["y"]["axis"]) == ["L5", "L7"]


def test_lines_stand_between_groups_that_share_keys_and_values():
    spec = matrix(np.ones((3, 9)), group=3)
    assert rows_of(spec, 2) == [{"edge": 2.5}, {"edge": 5.5}]
    assert rows_of(spec, 0)[4]["name"] == "L0·H4 kv1"
    assert rows_of(matrix(np.ones((3, 9))), 2) == []
    grid = heads_grid(
        [["a"] * 4], np.ones((1, 4)), (0, 0), score_name="x", group=2, wide=True
    ).to_dict()
    columns = texts(grid["layer"][0]["encoding"]["x"]["axis"])
    assert columns == ["H0 kv0", "H1 kv0", "H2 kv1", "H3 kv1"]


def test_a_layer_of_32_heads_takes_two_lines_and_no_picture_is_lost():
    scores = np.zeros((1, 32))
    images = [[f"data:{head}" for head in range(32)]]
    grid = heads_grid(images, scores, (0, 0), score_name="x", wide=True).to_dict()
    places = {(h["line"], h["column"]): h["image"] for h in rows_of(grid, 0)}
    assert len(places) == 32
    assert (places[0, 15], places[1, 0]) == ("data:15", "data:16")
    assert texts(grid["layer"][0]["encoding"]["y"]["axis"]) == ["L0 H0…", "L0 H16…"]


@pytest.mark.parametrize("n_layers", [1, 30, 48])
def test_a_matrix_of_48_layers_fits_and_names_every_layer_or_says_so(n_layers: int):
    spec = matrix(np.ones((n_layers, 32)), layers=range(n_layers))
    assert spec["height"] <= 420
    y = spec["layer"][0]["encoding"]["y"]
    assert all(texts(y["axis"])) or "is named" in y["title"]


def test_scores_that_are_no_numbers_leave_a_scale():
    spec = matrix(np.full((2, 3), np.nan))
    assert spec["layer"][0]["encoding"]["opacity"]["scale"]["domain"] == [0, 1]
    assert {c["shown"] for c in rows_of(spec, 0)} == {"–"}


def test_a_score_stands_under_its_picture_or_beside_it_and_the_grid_takes_its_places_width():
    under, beside = (
        heads_grid([["a"]], np.zeros((1, 1)), (0, 0), score_name="x", beside=beside).to_dict()
        for beside in (False, True)
    )
    assert under["layer"][1]["mark"]["yOffset"] < 0 < under["layer"][2]["mark"]["dy"]
    assert beside["layer"][1]["mark"]["xOffset"] < 0 < beside["layer"][2]["mark"]["dx"]
    assert beside["height"]["step"] < under["height"]["step"]
    assert under["width"] == beside["width"] == "container"
