"""Points in three dimensions: every token once, its kind by colour and mark, axes with shares."""

import base64

import numpy as np
import pytest
from plotly.graph_objects import Figure

from core.figures.cloud import SYMBOLS, Cloud, cloud
from core.figures.palette import TOKENS

KINDS = ("special", "word", "digit")


@pytest.fixture
def two() -> list[Cloud]:
    points = np.random.default_rng(0).normal(size=(4, 3))
    labels = ["<s>", "a", "7", "b"]
    kinds = ["special", "word", "digit", "word"]
    return [
        Cloud("queries", points[1:], [1, 2, 3], labels, kinds[1:]),
        Cloud("keys", points, [0, 1, 2, 3], labels, kinds),
    ]


def test_every_token_is_a_point_with_its_name_in_the_scene_of_its_set(two: list[Cloud]):
    plot = cloud(two, [0.5, 0.25, 0.125], KINDS, chosen=2)
    Figure(plot.to_dict())  # Plotly's own checks
    for scene, one in zip(("scene", "scene2"), two, strict=True):
        traces = [trace for trace in plot.data if trace["scene"] == scene]
        texts = sorted(text for trace in traces for text in trace["text"])
        assert texts == sorted(
            f"{i} {one.labels[i].replace('<', '&lt;').replace('>', '&gt;')}" for i in one.positions
        )
        words = next(trace for trace in traces if trace["name"] == "word")
        x = np.frombuffer(base64.b64decode(words["x"]["bdata"]), np.float32)
        at = [i for i, kind in enumerate(one.kinds) if kind == "word"]
        np.testing.assert_allclose(x, one.points[at, 0], rtol=1e-6)


def test_a_kind_is_a_colour_and_a_mark_and_stands_in_the_legend_once(two: list[Cloud]):
    plot = cloud(two, [0.5, 0.25, 0.125], KINDS)
    looks = {t["name"]: (t["marker"]["color"], t["marker"]["symbol"]) for t in plot.data}
    assert looks == {kind: (TOKENS[i], SYMBOLS[i]) for i, kind in enumerate(KINDS)}
    assert len(set(SYMBOLS)) == len(SYMBOLS) == len(TOKENS)
    legend = [trace["name"] for trace in plot.data if trace["showlegend"]]
    assert sorted(legend) == sorted(KINDS)  # special is a key only, and named all the same


def test_the_axes_name_their_shares_and_the_chosen_position_is_larger(two: list[Cloud]):
    plot = cloud(two, [0.5, 0.25, 0.125], KINDS, chosen=2)
    for scene in ("scene", "scene2"):
        texts = [note["text"] for note in plot.layout[scene]["annotations"]]
        assert texts == ["1: 50%", "2: 25%", "3: 12%"]
    assert plot.layout["scene"]["xaxis"]["range"] == plot.layout["scene2"]["xaxis"]["range"]
    sizes = {
        (t["scene"], text): size
        for t in plot.data
        for text, size in zip(
            t["text"],
            np.frombuffer(base64.b64decode(t["marker"]["size"]["bdata"]), np.uint8),
            strict=True,
        )
    }
    largest = {at for at, size in sizes.items() if size == max(sizes.values())}
    assert largest == {("scene", "2 7"), ("scene2", "2 7")}


def test_one_set_of_any_vectors_has_the_whole_width():
    one = Cloud("residual stream", np.zeros((2, 3)), [0, 1], ["a", "b"], ["word", "word"])
    plot = cloud([one], [0, 0, 0], KINDS)
    assert plot.layout["scene"]["domain"]["x"] == [0, 1]
    assert [note["text"] for note in plot.layout["annotations"]] == ["residual stream"]
