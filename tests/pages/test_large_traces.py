"""Traces of many heads, many tokens and two texts on the attention page, without any model."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from core.inspection.traced import AttentionTrace
from pages.attention.downloads import TABLES_KEY
from pages.attention.overview import TABLE_KEY
from tests.fake_trace import fake_trace
from tests.pages.sent import MOST_BYTES, bytes_of

BOTH = ("encoder", "encoder", "decoder", "cross", "decoder", "cross")
Shown = Callable[[AppTest], str]


def page(trace) -> None:  # AppTest runs its text alone
    from pages.attention.controls import choose_display
    from pages.attention.heads import show_heads
    from pages.shared import link

    link.open_page("attention")
    show_heads(trace, choose_display(trace), trace)


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    st.cache_data.clear()
    yield
    st.cache_data.clear()


def opened(trace: AttentionTrace, **query: Any) -> AppTest:
    """By pieces unless told."""
    app = AppTest.from_function(page, kwargs={"trace": trace}, default_timeout=60)
    app.query_params.update({"fold": "false"} | query)
    app.run()
    assert not app.exception, app.exception[0].value
    return app


def chosen(app: AppTest, **values: str) -> AppTest:
    for key, value in values.items():
        app.selectbox(key=key).set_value(value)
    app.run()
    assert not app.exception, app.exception[0].value
    return app


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def plot(app: AppTest) -> dict[str, Any]:
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)


def rows_of(app: AppTest, index: int, layer: int = 0) -> list[dict[str, Any]]:
    """The rows of data that a layer of a chart draws."""
    proto = app.get("vega_lite_chart")[index].proto
    spec = json.loads(proto.spec)
    part = spec["layer"][layer]
    name = (part if "data" in part else spec)["data"]["name"]
    data = next(table.data.data for table in proto.datasets if table.name == name)
    return convert_arrow_bytes_to_pandas_df(data).to_dict("records")


@pytest.mark.parametrize(
    ("n_layers", "n_heads", "n_kv", "n_tokens"),
    [(30, 9, 3, 128), (48, 32, 8, 20), (6, 4, 0, 512)],
)
def test_a_page_of_many_heads_or_tokens_stays_under_700_kilobytes(
    n_layers: int, n_heads: int, n_kv: int, n_tokens: int
):
    app = opened(fake_trace(n_layers, n_heads, n_tokens, n_kv_heads=n_kv))
    assert 50_000 < bytes_of(app._tree) < MOST_BYTES


def test_every_head_is_a_cell_and_the_layers_around_the_chosen_one_have_pictures():
    app = opened(fake_trace(30, 9, 12, n_kv_heads=3), head="L14·H2")
    cells = rows_of(app, 0)
    assert len(cells) == 270
    assert [cell["name"] for cell in cells if cell["selected"]] == ["L14·H2 kv0"]
    pictures = rows_of(app, 3)
    assert {picture["layer"] for picture in pictures} == set(range(10, 20))
    assert all(picture["image"].startswith("data:image/png") for picture in pictures)
    assert app.select_slider(key="layers").value == ("L10", "L19")


def test_the_range_follows_the_head_until_it_is_chosen(address: Callable):
    app = opened(fake_trace(30, 9, 12))
    chosen(app, head="L29·H0")
    assert app.select_slider(key="layers").value == ("L20", "L29")
    assert "layers" not in address(app)
    app.select_slider(key="layers").set_value(("L3", "L4")).run()
    chosen(app, head="L12·H0")
    assert {picture["layer"] for picture in rows_of(app, 3)} == {3, 4}
    assert address(app)["layers"] == ["L3", "L4"]
    linked = opened(fake_trace(30, 9, 12), layers=["L3", "L4"])
    assert {picture["layer"] for picture in rows_of(linked, 3)} == {3, 4}


def test_a_range_of_too_many_heads_is_cut_and_says_so(shown: Shown):
    app = opened(fake_trace(48, 32, 6))
    app.select_slider(key="layers").set_value(("L2", "L47")).run()
    assert len(rows_of(app, 3)) == 288
    assert "Pictures are drawn of up to 288 heads: here those of L2 to L10." in shown(app)
    assert bytes_of(app._tree) < MOST_BYTES


def test_a_click_on_a_cell_or_a_picture_chooses_its_head(click: Callable):
    app = opened(fake_trace(30, 9, 12))
    now = app.selectbox(key="head").value
    click(app, f"matrix-chart-{now}", "head", layer=7, head=3)
    assert app.selectbox(key="head").value == "L7·H3"
    click(app, "heads-chart-L7·H3", "head", layer=8, head=1)
    assert app.selectbox(key="head").value == "L8·H1"


def test_the_table_has_every_score_and_those_with_most_come_first():
    app = opened(fake_trace(30, 9, 12, n_kv_heads=3), score="distance")
    assert not app.dataframe
    app.session_state[TABLE_KEY] = True
    table = app.run().dataframe[0].value
    assert len(table) == 270
    assert table["distance"].is_monotonic_decreasing
    assert {"head", "keys and values", "previous token", "first token", "entropy"} <= {*table}
    cells = {cell["name"].split(" ")[0]: cell["score"] for cell in rows_of(app, 0)}
    assert dict(zip(table["head"], table["distance"], strict=True)) == pytest.approx(cells)


def test_heads_that_share_keys_and_values_are_named(shown: Shown):
    app = opened(fake_trace(4, 8, 10, n_kv_heads=2), head="L1·H5")
    assert "L1·H5 shares keys and values with H4, H6, H7." in shown(app)
    spec = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert (
        "' kv' + floor(datum.value / 4)" in spec["layer"][0]["encoding"]["y"]["axis"]["labelExpr"]
    )
    alone = opened(fake_trace(4, 8, 10), head="L1·H5")
    assert "shares keys" not in shown(alone)


def test_a_small_map_is_altairs_and_one_of_61_tokens_is_plotlys():
    small, large = opened(fake_trace(2, 2, 60)), opened(fake_trace(2, 2, 61))
    assert (len(small.get("vega_lite_chart")), len(small.get("plotly_chart"))) == (3, 0)
    assert (len(large.get("vega_lite_chart")), len(large.get("plotly_chart"))) == (2, 1)
    assert plot(large)["data"][0]["z"]["shape"] == "61, 61"


def test_a_click_on_the_mark_of_a_row_chooses_it_and_what_takes_no_click_is_told(shown: Shown):
    app = opened(fake_trace(2, 2, 70))
    assert "the cells themselves take no click" in shown(app)
    (chart,) = app.get("plotly_chart")
    for points, row in (
        ([{"point_index": 17}], "17"),
        ([], "17"),
        ([{"point_index": -3}], "17"),
        ([{"x": "a"}], "17"),
    ):
        states = app._tree.get_widget_states()
        value = json.dumps({"selection": {"points": points, "box": [], "lasso": []}})
        states.widgets.append(
            WidgetState(id=app.get("plotly_chart")[0].proto.id, string_value=value)
        )
        app._run(states)
        assert not app.exception
        assert app.selectbox(key="row").value == row
    assert chart.proto.id != app.get("plotly_chart")[0].proto.id  # the click is forgotten


def test_of_512_keys_forty_have_a_bar_and_the_rest_is_one(shown: Shown):
    app = opened(fake_trace(1, 1, 512))
    bars = rows_of(app, 1)
    assert len(bars) == 41
    assert bars[-1]["token"] == "the rest (471)"
    assert sum(bar["weight"] for bar in bars) == pytest.approx(1, abs=1e-5)
    assert "Of 511 keys the 40 of most weight have a bar" in shown(app)


def test_queries_and_keys_are_points_and_their_shares_are_named(shown: Shown):
    app = opened(fake_trace(2, 2, 12, n_steps=1), view="3D")
    figure = plot(app)
    assert {trace["type"] for trace in figure["data"]} == {"scatter3d"}
    for scene in ("scene", "scene2"):
        points = [text for t in figure["data"] if t["scene"] == scene for text in t["text"]]
        assert len(points) == 12
    assert "of their variance" in shown(app)
    without = fake_trace(2, 2, 12, query=None, key=None)
    app = opened(without)
    assert app.button_group(key="view").options == ["map", "arcs"]
    assert "without queries and keys there are no points" in shown(app)


def test_the_residual_stream_is_points_where_the_trace_has_it(shown: Shown):
    stream = np.random.default_rng(0).standard_normal((2, 12, 6)).astype(np.float32)
    app = opened(fake_trace(2, 2, 12, stream=stream), view="3D", points="residual stream")
    figure = plot(app)
    assert len([text for trace in figure["data"] for text in trace["text"]]) == 12
    assert "The residual stream after L" in shown(app)
    app = opened(fake_trace(2, 2, 12), view="3D")
    assert app.button_group(key="points").options == ["queries and keys"]


@pytest.fixture
def translated() -> AttentionTrace:
    return fake_trace(6, 2, 11, kinds=BOTH, n_source=6)


def test_each_part_of_a_translator_has_its_own_heads_rows_and_axes(
    translated: AttentionTrace, shown: Shown
):
    app = opened(translated)
    heads: dict[str, list[str]] = {}
    for part, rows, sides in (
        ("decoder", [6, 7, 8, 9, 10], ("query (looks)", "key (looked at)")),
        ("encoder", [0, 1, 2, 3, 4, 5], ("query (looks)", "key (looked at)")),
        ("cross", [6, 7, 8, 9, 10], ("target (looks)", "source (looked at)")),
    ):
        app.button_group(key="part").set_value(part).run()
        assert not app.exception
        heads[part] = app.selectbox(key="head").options
        spec = json.loads(app.get("vega_lite_chart")[1].proto.spec)
        encoding = spec["layer"][1]["encoding"]
        assert (encoding["y"]["title"], encoding["x"]["title"]) == sides
        assert encoding["y"]["axis"]["values"] == rows
        assert {cell["q"] for cell in rows_of(app, 1, 1)} == set(rows)
        assert "of the decoder's block" in shown(app) or part == "encoder"
    assert heads["decoder"] == ["L2·H0", "L2·H1", "L4·H0", "L4·H1"]
    assert heads["encoder"] == ["L0·H0", "L0·H1", "L1·H0", "L1·H1"]
    assert heads["cross"] == ["L3·H0", "L3·H1", "L5·H0", "L5·H1"]


def test_an_encoder_writes_nothing_and_its_first_row_is_shown_first(translated: AttentionTrace):
    app = opened(translated, part="encoder")
    assert "step" not in [slider.key for slider in app.select_slider]
    assert app.selectbox(key="row").value == "0"
    bare = opened(fake_trace(2, 2, 9, kinds=("encoder",) * 2, n_steps=0))
    assert "part" not in [group.key for group in bare.get("button_group")]
    assert bare.selectbox(key="row").value == "0"
    assert len(rows_of(bare, 2)) == 9  # row 0 sees what stands behind it
    unwritten = opened(fake_trace(2, 2, 9, n_steps=0))
    assert unwritten.selectbox(key="row").value == "8"


def test_scores_that_mean_nothing_for_two_texts_are_not_offered(translated: AttentionTrace):
    app = opened(translated, part="cross")
    assert app.selectbox(key="score").options == ["first token", "entropy", "sink share"]
    app.button_group(key="part").set_value("decoder").run()
    assert "previous token" in app.selectbox(key="score").options


def test_two_texts_are_not_folded_and_the_page_says_why(translated: AttentionTrace, shown: Shown):
    app = opened(translated)
    assert "fold" not in [toggle.key for toggle in app.toggle]
    assert "rows and columns are of two texts, source and target" in shown(app)
    assert "source and target do not stand on one line" in shown(app)


def test_an_encoder_is_folded_with_what_words_see_of_later_ones():
    app = opened(fake_trace(2, 2, 9, kinds=("encoder",) * 2, n_steps=0), fold="true")
    n_words = len(app.selectbox(key="row").options)
    assert n_words < 9
    assert len(rows_of(app, 1, 1)) == n_words**2


def test_a_trace_without_scores_has_a_map_without_them():
    for scored in (True, False):
        app = opened(fake_trace(1, 2, 8, scored=scored))
        assert ("score" in rows_of(app, 1, 1)[0]) is scored


def test_large_tables_and_texts_are_refused_with_their_size(shown: Shown):
    app = opened(fake_trace(30, 9, 140))
    assert "No JSON of the whole trace: it has 5 million weights" in shown(app)
    app.session_state[TABLES_KEY] = True
    app.run()
    assert "Its 19600 weights are in the file (CSV)" in shown(app)
    assert [len(frame.value.columns) for frame in app.dataframe] == [2]
