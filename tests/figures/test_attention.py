"""Every chart is valid, keeps every row and column, and says what its axes are."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.figures import attention as figures
from core.figures import attention_row as row_figures
from core.figures import overview
from core.figures.attention import Matrix
from core.figures.palette import KEY, MASKED, QUERY, VALUE, WEIGHT
from core.figures.score_parts import score_parts

Causal = Callable[[int], Matrix]


def rows_of(spec: dict[str, Any], part: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of data that one layer or one chart draws."""
    return spec["datasets"][(part if "data" in part else spec)["data"]["name"]]


def tick_texts(channel: dict[str, Any]) -> list[str]:
    """The list of labels inside an axis' label expression."""
    expression = channel["axis"]["labelExpr"]
    assert expression.endswith("[datum.value]")
    return json.loads(expression.removesuffix("[datum.value]"))


@pytest.fixture
def map_spec(causal: Causal, labels: list[str]) -> dict[str, Any]:
    weights, n = causal(len(labels)), len(labels)
    scores = np.where(np.tri(n, dtype=bool), weights * 3 - 1, -np.inf).astype(np.float32)
    return figures.attention_map(
        weights, weights * 2, labels, 6, title="what is seen", scores=scores
    ).to_dict()


def test_a_map_keeps_every_cell_of_repeated_tokens(
    map_spec: dict[str, Any], causal: Causal, labels: list[str]
):
    n, weights = len(labels), causal(len(labels))
    cells = {(c["q"], c["k"]): c for c in rows_of(map_spec, map_spec["layer"][1])}
    assert set(cells) == {(q, k) for q in range(n) for k in range(q + 1)}
    for (q, k), cell in cells.items():
        assert cell["weight"] == pytest.approx(weights[q, k], abs=1e-5)
        assert cell["contribution"] == pytest.approx(2 * weights[q, k], abs=1e-5)
        assert cell["score"] == pytest.approx(3 * weights[q, k] - 1, abs=1e-4)


def test_a_map_names_both_axes_and_has_one_tick_a_token(
    map_spec: dict[str, Any], labels: list[str]
):
    for layer in map_spec["layer"]:
        x, y = layer["encoding"]["x"], layer["encoding"]["y"]
        assert (x["title"], y["title"]) == ("key (looked at)", "query (looks)")
        for channel in (x, y):
            assert tick_texts(channel) == labels
            assert channel["axis"]["values"] == list(range(len(labels)))
            assert channel["type"] == "quantitative"
        assert y["scale"]["reverse"] is True  # row 0 is at the top
    assert map_spec["title"]["text"] == "what is seen"


def test_the_masked_cells_of_a_map_are_drawn_in_grey(map_spec: dict[str, Any], labels: list[str]):
    masked = map_spec["layer"][0]
    assert masked["mark"]["color"] == MASKED
    n, covered = len(labels), set()
    for stripe in rows_of(map_spec, masked):
        for q in np.arange(stripe["low"] + 0.5, stripe["high"]):
            covered |= {(int(q), int(k)) for k in np.arange(stripe["left"] + 0.5, stripe["right"])}
    assert covered == {(q, k) for q in range(n) for k in range(q + 1, n)}


def test_the_chosen_row_is_framed_up_to_its_own_column(map_spec: dict[str, Any]):
    frame = map_spec["layer"][2]
    assert frame["mark"]["stroke"] == QUERY
    edges = {"left": -0.5, "right": 6.5, "low": 5.5, "high": 6.5}
    assert rows_of(map_spec, frame) == [edges | {"q": 6}]  # a click on the frame names its row


def test_a_click_on_a_map_returns_query_and_key(map_spec: dict[str, Any]):
    (selection,) = map_spec["params"]
    assert selection["name"] == figures.ROW_SELECTION == "cell"
    assert (selection["select"]["type"], selection["select"]["fields"]) == ("point", ["q", "k"])


def test_weights_are_drawn_from_0_to_1_unless_another_top_is_asked_for(
    causal: Causal, labels: list[str]
):
    weights = causal(len(labels))
    usual = figures.attention_map(weights, weights, labels, 0)
    stretched = figures.attention_map(weights, weights, labels, 0, top=0.25)
    for chart, top in ((usual, 1.0), (stretched, 0.25)):
        spec = chart.to_dict()
        scale = spec["layer"][1]["encoding"]["opacity"]["scale"]
        assert (scale["domain"], scale["clamp"]) == ([0, top], True)
        assert spec["layer"][1]["mark"]["color"] == WEIGHT


def test_hovering_shows_a_score_only_where_there_is_one(
    map_spec: dict[str, Any], causal: Causal, labels: list[str]
):
    weights = causal(len(labels))
    folded = figures.attention_map(weights, weights, labels, 0).to_dict()
    shown = [
        [field["field"] for field in spec["layer"][1]["encoding"]["tooltip"]]
        for spec in (map_spec, folded)
    ]
    assert shown == [
        ["query", "key", "score", "weight", "contribution"],
        ["query", "key", "weight", "contribution"],
    ]


@pytest.mark.parametrize("view", ["map", "bars", "arcs", "parts"])
@pytest.mark.parametrize("n", [11, 30, 60, 128])
def test_no_token_loses_its_name_without_a_word(causal: Causal, view: str, n: int):
    names, weights = [f"t{i}" for i in range(n)], causal(n)
    spec = {
        "map": lambda: figures.attention_map(weights, weights, names, n - 1),
        "bars": lambda: row_figures.row_bars(weights[-1], weights[-1], names, n - 1),
        "arcs": lambda: row_figures.arcs(weights, names, n - 1),
        "parts": lambda: score_parts(weights[0, :4], weights[:, :4], names, n - 1),
    }[view]().to_dict()
    channels = [part["encoding"][side] for part in spec.get("layer", [spec]) for side in "xy"]
    named = [channel for channel in channels if "labelExpr" in (channel.get("axis") or {})]
    assert named
    for channel in named:
        shown = [text for text in tick_texts(channel) if text]
        assert channel["axis"]["labelOverlap"] is False
        assert (n, len(shown)) in {(n, n), (60, 30), (128, 64), (128, 43), (128, 32), (128, 129)}
        assert ("is named" in channel["title"]) == (len(shown) < n)


def test_a_map_of_one_token_has_one_cell_and_nothing_masked():
    one = np.ones((1, 1), dtype=np.float32)
    spec = figures.attention_map(one, one, ["a"], 0).to_dict()
    assert len(rows_of(spec, spec["layer"][1])) == 1
    assert rows_of(spec, spec["layer"][0]) == []


def test_a_row_of_bars_keeps_every_key_and_shows_weight_beside_contribution(
    causal: Causal, labels: list[str]
):
    weights = causal(len(labels))[9]
    spec = row_figures.row_bars(weights, weights * 2, labels, 9, title="row 9").to_dict()
    assert spec["layer"][0]["encoding"]["y"]["axis"]["labelFlush"] is False
    assert [part["mark"]["color"] for part in spec["layer"]] == [WEIGHT, VALUE]
    for part, field, factor in zip(spec["layer"], ("weight", "contribution"), (1, 2), strict=True):
        assert part["encoding"]["x"]["title"] == field
        drawn = {row["k"]: row[field] for row in rows_of(spec, part)}
        assert drawn == pytest.approx({k: factor * weights[k] for k in range(10)}, rel=1e-5)
    tokens = spec["layer"][0]["encoding"]["y"]
    assert tokens["title"] == "key"
    assert tick_texts(tokens) == labels
    assert spec["width"] == "container"


def halves(spec: dict[str, Any]) -> list[tuple[list[float], list[float]]]:
    """Domain and ticks of the weights' scale and of the contributions'."""
    scales = [part["encoding"]["x"] for part in spec["layer"]]
    assert spec["resolve"] == {"scale": {"x": "independent"}}
    return [(scale["scale"]["domain"], scale["axis"]["values"]) for scale in scales]


def test_the_two_sets_of_bars_share_a_plot_and_never_meet(labels: list[str]):
    weights = np.linspace(0, 0.3, len(labels), dtype=np.float32)
    looks, brings = halves(row_figures.row_bars(weights, 9 * weights, labels, 9).to_dict())
    top = float(9 * weights[9])
    assert (looks[1], brings[1]) == ([0, 0.5, 1], [0, 1])
    ends = (1 - looks[0][0]) / (looks[0][1] - looks[0][0])  # where on the plot a weight of 1 ends
    starts = -brings[0][0] / (brings[0][1] - brings[0][0])  # where a contribution of 0 begins
    assert brings[0][1] == pytest.approx(top)
    assert 0.4 < ends < 0.45
    assert 0.55 < starts < 0.6


def test_effective_weights_beyond_0_and_1_stay_in_their_half(labels: list[str]):
    weights = np.array([-0.5, 1.5, *[0.0] * (len(labels) - 2)], dtype=np.float32)
    (domain, ticks), _ = halves(row_figures.row_bars(weights, weights**2, labels, 9).to_dict())
    assert ticks == [-0.5, 0.5, 1.5]
    assert domain[0] == -0.5
    assert (1.5 + 0.5) / (domain[1] - domain[0]) < 0.45


def test_the_parts_of_a_score_sum_to_it_and_are_drawn_around_zero(labels: list[str]):
    generator = np.random.default_rng(2)
    query = generator.normal(size=4).astype(np.float32)
    key = generator.normal(size=(len(labels), 4)).astype(np.float32)
    spec = score_parts(query, key, labels, 7).to_dict()
    parts: dict[int, float] = dict.fromkeys(range(8), 0.0)
    for cell in rows_of(spec, spec):
        parts[cell["k"]] += cell["part"]
    assert parts == pytest.approx({k: float(key[k] @ query) / 2 for k in range(8)}, abs=1e-3)
    low, high = spec["encoding"]["color"]["scale"]["domain"]
    assert low == -high < 0
    titles = [spec["encoding"][axis]["title"] for axis in ("x", "y")]
    assert titles == ["dimension of the head", "key"]


def test_parts_that_are_all_zero_still_have_a_scale(labels: list[str]):
    spec = score_parts(np.zeros(2, np.float32), np.ones((3, 2), np.float32), labels, 2).to_dict()
    assert spec["encoding"]["color"]["scale"]["domain"] == [-1, 1]


def test_arcs_lead_from_each_query_to_its_keys_and_the_chosen_row_stands_out(labels: list[str]):
    weights = np.eye(len(labels), dtype=np.float32)
    weights[5, [2, 5]] = 0.3, 0.7
    weights[9, [5, 8, 9]] = 0.04, 0.5, 0.46
    spec = row_figures.arcs(weights, labels, 9).to_dict()
    ends: dict[int, set[float]] = {}
    for point in rows_of(spec, spec["layer"][0]):
        if abs(point["y"]) < 1e-9:
            ends.setdefault(point["arc"], set()).add(round(point["x"], 6))
        assert point["chosen"] == (point["arc"] == 1)
    assert ends == {0: {5, 2}, 1: {9, 8}}  # 0.04 is too little, a token's own weight is no arc
    axis = spec["layer"][0]["encoding"]["x"]
    assert (axis["title"], tick_texts(axis)) == ("token", labels)


def test_a_head_without_arcs_still_shows_its_tokens(labels: list[str]):
    spec = row_figures.arcs(np.eye(len(labels), dtype=np.float32), labels, 3).to_dict()
    assert rows_of(spec, spec["layer"][0]) == []
    assert tick_texts(spec["layer"][0]["encoding"]["x"]) == labels


def test_the_grid_shows_each_heads_picture_score_and_name_once():
    images = [["data:a", "data:b", "data:c"], ["data:d", "data:e", "data:f"]]
    scores = np.arange(6).reshape(2, 3) / 10
    chart = overview.heads_grid(images, scores, (1, 0), score_name="distance")
    spec = chart.to_dict()
    heads = rows_of(spec, spec["layer"][0])
    assert [(h["name"], h["image"], h["score"]) for h in heads[2:4]] == [
        ("L0·H2", "data:c", 0.2),
        ("L1·H0", "data:d", 0.3),
    ]
    assert [h["name"] for h in heads if h["selected"]] == ["L1·H0"]
    (selection,) = spec["params"]
    assert selection["name"] == overview.HEAD_SELECTION == "head"
    assert selection["select"]["fields"] == ["layer", "head"]
    assert spec["layer"][0]["encoding"]["stroke"]["condition"]["value"] == KEY
    assert spec["layer"][0]["encoding"]["x"]["axis"]["labelExpr"] == "'L' + datum.value"


def test_a_head_that_is_off_says_so_in_the_place_of_its_score():
    images = [["data:a", "data:b"]]
    scores = np.array([[0.25, 0.5]])
    chart = overview.heads_grid(images, scores, (0, 0), score_name="distance", off=[(0, 1)])
    spec = chart.to_dict()
    assert [h["shown"] for h in rows_of(spec, spec["layer"][0])] == ["0.25", "off"]


@pytest.mark.parametrize(("brought", "top"), [(0.0, 1.0), (0.5, 0.05)])
def test_bars_of_a_head_that_brings_nothing_have_a_scale_all_the_same(
    labels: list[str], brought: float, top: float
):
    weights = np.full(len(labels), 0.1, dtype=np.float32)
    spec = row_figures.row_bars(weights, weights * brought, labels, 9).to_dict()
    assert halves(spec)[1][0][1] == pytest.approx(top)


STAIRS = np.array([[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0]], dtype=bool)


@pytest.fixture
def stairs_spec() -> dict[str, Any]:
    """A map whose latents z0 and z1 stand at positions 0 and 2, and are looked at from there on."""
    weights = np.where(STAIRS, 0.5, 0).astype(np.float32)
    return figures.attention_map(
        weights,
        weights,
        ["z0", "", "z1", ""],
        2,
        visible=STAIRS,
        rows=list("abcd"),
        sides=("looks", "looked at"),
    ).to_dict()


def test_every_cell_is_either_drawn_or_grey_whatever_the_shape(stairs_spec: dict[str, Any]):
    masked, cells = stairs_spec["layer"][:2]
    grey: list[tuple[int, int]] = []
    for stripe in rows_of(stairs_spec, masked):
        assert stripe["high"] - stripe["low"] == 1
        row, left, right = (round(stripe[edge] + 0.5) for edge in ("low", "left", "right"))
        grey += [(row, k) for k in range(left, right)]
    seen = [(cell["q"], cell["k"]) for cell in rows_of(stairs_spec, cells)]
    assert sorted(seen) == [tuple(cell) for cell in np.argwhere(STAIRS).tolist()]
    assert sorted(grey) == [tuple(cell) for cell in np.argwhere(~STAIRS).tolist()]


def test_rows_and_columns_may_have_other_names_and_titles(stairs_spec: dict[str, Any]):
    for layer in stairs_spec["layer"]:
        x, y = layer["encoding"]["x"], layer["encoding"]["y"]
        assert (x["title"], y["title"]) == ("looked at", "looks")
        assert (tick_texts(x), tick_texts(y)) == (["z0", "", "z1", ""], list("abcd"))
    names = {t["as"]: t["calculate"] for t in stairs_spec["layer"][1]["transform"]}
    assert '"2 c"' in names["query"]
    assert '"2 z1"' in names["key"]


def test_the_frame_of_a_row_ends_at_the_last_key_that_it_sees(stairs_spec: dict[str, Any]):
    (frame,) = rows_of(stairs_spec, stairs_spec["layer"][2])
    assert (frame["low"], frame["left"], frame["right"]) == (1.5, -0.5, 2.5)
    empty = np.zeros((2, 2), dtype=np.float32)
    nothing = np.zeros((2, 2), dtype=bool)
    spec = figures.attention_map(empty, empty, ["a", "b"], 1, visible=nothing).to_dict()
    assert rows_of(spec, spec["layer"][1]) == []


@pytest.mark.parametrize("seen", [[0, 3, 6], [2]])
def test_bars_and_parts_show_only_the_keys_that_a_row_sees(
    causal: Causal, labels: list[str], seen: list[int]
):
    weights = causal(len(labels))[9]
    bars = row_figures.row_bars(weights, weights, labels, 9, seen=seen).to_dict()
    for part in bars["layer"]:
        assert [row["k"] for row in rows_of(bars, part)] == seen
        assert [row["token"] for row in rows_of(bars, part)] == [f"{k} {labels[k]}" for k in seen]
    key = np.random.default_rng(0).normal(size=(len(labels), 4)).astype(np.float32)
    parts = score_parts(key[9], key, labels, 9, seen=seen).to_dict()
    cells = rows_of(parts, parts)
    assert {cell["k"] for cell in cells} == set(seen)
    total = sum(cell["part"] for cell in cells if cell["k"] == seen[-1])
    assert total == pytest.approx(float(key[9] @ key[seen[-1]]) / 2, abs=1e-3)


def test_a_score_that_means_nothing_is_a_dash_and_not_zero():
    scores = np.array([[0.25], [np.nan]])
    spec = overview.heads_grid([["data:a"], ["data:b"]], scores, (0, 0), score_name="x").to_dict()
    heads = rows_of(spec, spec["layer"][0])
    assert [(head["shown"], head["exact"]) for head in heads] == [("0.25", "0.250"), ("–", "–")]
    assert spec["layer"][2]["encoding"]["text"]["field"] == "shown"
    assert spec["layer"][0]["encoding"]["tooltip"][1]["field"] == "exact"


@pytest.mark.parametrize(("n", "side", "width"), [(3, 64, 3 * 64 + 110), (8, 37.5, None)])
def test_a_map_fills_its_room_and_few_tokens_have_cells_of_64_pixels(
    n: int, side: float, width: int | None
):
    zeros, names = np.zeros((n, n), np.float32), [str(i) for i in range(n)]
    spec = figures.attention_map(zeros, zeros, names, 0).to_dict()
    assert (spec["height"] - figures.ROOM_FOR_AXIS) / n == side
    assert figures.map_width(n) == width
