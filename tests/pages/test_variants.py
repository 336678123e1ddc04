"""The attention page opens on every variant and offers only what the variant has."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from pages.attention.downloads import TABLES_KEY

QUESTION = {"source": "type freely", "question": "Where was Ada Arden born?"}  # 40 tokens with all
LAST = 40 - 1
Shown = Callable[[AppTest], str]
PERCEIVER = {"n_latents": 4, "n_layers": 3}
STRIDED = {"n_latents": 10, "latent_stride": 3, "n_layers": 3}


def spec_of(app: AppTest, index: int) -> dict[str, Any]:
    return json.loads(app.get("vega_lite_chart")[index].proto.spec)


def rows_of(app: AppTest, index: int, layer: int | None = None) -> list[dict[str, Any]]:
    """The rows of data that one chart, or one layer of it, draws."""
    spec = spec_of(app, index)
    part = spec if layer is None else spec["layer"][layer]
    name = (part if "data" in part else spec)["data"]["name"]
    sets = {data.name: data.data.data for data in app.get("vega_lite_chart")[index].proto.datasets}
    return convert_arrow_bytes_to_pandas_df(sets[name]).to_dict("records")


def ticks(app: AppTest, side: str) -> list[str]:
    """The labels on one axis of the map."""
    expression = spec_of(app, 1)["layer"][1]["encoding"][side]["axis"]["labelExpr"]
    return json.loads(expression.removesuffix("[datum.value]"))


def titles(app: AppTest) -> tuple[str, str]:
    encoding = spec_of(app, 1)["layer"][1]["encoding"]
    return encoding["y"]["title"], encoding["x"]["title"]


@pytest.mark.parametrize(
    ("sizes", "views", "notes"),
    [
        (
            {"attention": "synthesizer"},
            ["map", "arcs"],
            ["A Synthesizer: these weights do not depend on pairs of tokens", "No q·k parts: a Sy"],
        ),
        ({"attention": "dense-synthesizer"}, ["map", "arcs"], ["No q·k parts: a Synthesizer has"]),
        (
            {"n_latents": 40},
            ["map", "q·k parts", "3D"],
            ["in L1 tokens at latents", "Every token reaches all later ones.", "No arcs: latents"],
        ),
        (
            PERCEIVER,
            ["map", "q·k parts", "3D"],
            ["Tokens up to position 3 reach all later ones, those behind only themselves."],
        ),
        (
            STRIDED,
            ["map", "q·k parts", "3D"],
            ["misses up to 1 of those just before it; those behind position 27"],
        ),
        (
            {"attention": "elu"},
            ["map", "arcs", "3D"],
            ["Shown are effective weights", "none of them is negative here", "features of queries"],
        ),
        (
            {"attention": "taylor", "n_terms": 2},
            ["map", "arcs", "3D"],
            ["each row sums to 1; some are negative, down to −", "No q·k parts: linear attention"],
        ),
        (
            {"attention": "delta"},
            ["map", "arcs", "3D"],
            ["The delta rule: a key's new value takes", "rows need not sum to 1 (one is"],
        ),
        (
            {"attention": "window", "window": 6},
            ["map", "arcs", "q·k parts", "3D"],
            ["A window with sinks: softmax over the last tokens", "rows sum to 1 within"],
        ),
        ({}, ["map", "arcs", "q·k parts", "3D"], []),
    ],
)
def test_every_variant_shows_what_it_has_and_says_what_its_maps_mean(
    store: Callable,
    open_page: Callable,
    shown: Shown,
    sizes: dict[str, Any],
    views: list[str],
    notes: list[str],
):
    store(**sizes)
    app = open_page(**QUESTION)
    assert not app.error
    assert app.button_group(key="view").options == views
    assert len(app.get("vega_lite_chart")) == 3
    for note in notes:
        assert note in shown(app)
    named = ("Synthesizer", "Perceiver", "Linear attention", "delta rule:", "window with sinks")
    assert any(name in shown(app) for name in named) == bool(notes)


@pytest.mark.parametrize(
    ("head", "sides", "latents"),
    [
        ("L0·H0", ("query: latent (looks)", "key (looked at)"), "y"),
        ("L1·H1", ("query: latent (looks)", "key: latent (looked at)"), "xy"),
        ("L2·H0", ("query (looks)", "key: latent (looked at)"), "x"),
    ],
)
def test_latents_are_named_where_they_stand_and_tokens_where_they_do(
    store: Callable, open_page: Callable, head: str, sides: tuple[str, str], latents: str
):
    store(**STRIDED)
    app = open_page(**QUESTION, head=head)
    assert titles(app) == sides
    names = [f"z{i // 3}" if i % 3 == 0 and i < 30 else "" for i in range(40)]
    for side in "xy":
        labels = ticks(app, side)
        assert labels == names if side in latents else labels[:5] == ["W", "h", "e", "r", "e"]
    rows = app.selectbox(key="row").options[1:]
    assert len(rows) == (10 if "y" in latents else 40)
    app.session_state[TABLES_KEY] = True
    table = app.run().dataframe[0].value
    assert table.shape == (len(rows), 10 if "x" in latents else 40)
    assert table.sum(axis=1).tolist() == pytest.approx([1.0] * len(rows), abs=1e-5)


@pytest.mark.parametrize(("head", "n_grey"), [("L0·H0", 40 * 40 - 10), ("L2·H0", 40 * 40 - 154)])
def test_cells_without_a_latent_are_grey_like_the_future(
    store: Callable, open_page: Callable, head: str, n_grey: int
):
    store(**PERCEIVER)  # 4 latents see 1 + 2 + 3 + 4 tokens, 40 tokens see 1 + 2 + 3 + 37 · 4
    app = open_page(**QUESTION, head=head)
    stripes = rows_of(app, 1, layer=0)
    area = sum((s["right"] - s["left"]) * (s["high"] - s["low"]) for s in stripes)
    assert (area, len(rows_of(app, 1, layer=1))) == (n_grey, 1600 - n_grey)


def test_folding_is_withheld_from_latents_and_the_page_says_why(
    store: Callable, open_page: Callable, shown: Shown
):
    store("latents", **PERCEIVER)
    store("plain")
    app = open_page(checkpoint="latents", **QUESTION)
    (toggle,) = [toggle for toggle in app.toggle if toggle.label == "Whole words"]
    assert (toggle.disabled, toggle.value) == (True, False)
    assert "Nothing to fold: rows or columns of each layer are latents" in shown(app)
    assert len(ticks(app, "x")) == 40
    app.selectbox(key="checkpoint").set_value("plain").run()
    assert not app.toggle(key="fold").disabled
    assert "Nothing to fold" not in shown(app)


def test_the_written_piece_is_followed_to_the_last_latent_that_its_row_sees(
    store: Callable, open_page: Callable, shown: Shown
):
    store(**STRIDED)
    app = open_page(**QUESTION, head="L0·H0")
    assert "**Row 24, key by key**" in shown(app)  # row 25 writes: z8 stands at 24
    assert "At latent z8, the last seen when “" in app.get("vega_lite_chart")[1].proto.alt
    app.selectbox(key="head").set_value("L2·H1").run()
    assert "**Row 25, key by key**" in shown(app)
    assert "when it writes “" in app.get("vega_lite_chart")[1].proto.alt
    assert {bar["k"] for bar in rows_of(app, 2, layer=0)} == set(range(0, 25, 3))


def test_a_row_where_no_latent_stands_is_followed_no_more(
    store: Callable, open_page: Callable, shown: Shown
):
    store(**STRIDED)
    app = open_page(**QUESTION, head="L2·H0")
    app.selectbox(key="row").set_value("7").run()
    assert "**Row 7, key by key**" in shown(app)
    app.selectbox(key="head").set_value("L1·H0").run()
    assert not app.exception
    assert "**Row 24, key by key**" in shown(app)


def test_the_name_is_scored_only_where_the_columns_are_tokens(store: Callable, open_page: Callable):
    store("latents", n_latents=40, n_layers=3)
    store("plain")
    app = open_page(checkpoint="latents", score="weight on name", **QUESTION)
    score = app.selectbox(key="score")
    assert "name to answer" not in score.options
    assert "next token" not in score.options  # a decoder looks back
    for head in rows_of(app, 0, layer=0):
        assert (head["shown"] == "–") == (head["layer"] > 0)
    app.selectbox(key="checkpoint").set_value("plain").run()
    assert "name to answer" in app.selectbox(key="score").options


def test_the_strongest_head_of_a_perceiver_looks_at_tokens(store: Callable, open_page: Callable):
    store(n_latents=40, n_layers=3)
    assert open_page(**QUESTION).selectbox(key="head").value.startswith("L0·")


@pytest.mark.parametrize("head", ["L0·H0", "L1·H0", "L2·H0"])
def test_parts_of_a_score_are_those_of_the_keys_that_a_row_sees(
    store: Callable, open_page: Callable, head: str
):
    store(**STRIDED)
    app = open_page(**QUESTION, head=head, view="q·k parts", row="9")
    assert spec_of(app, 1)["encoding"]["x"]["title"] == "dimension of the head"
    keys = {cell["k"] for cell in rows_of(app, 1)}
    step = 1 if head == "L0·H0" else 3
    assert keys == set(range(0, 9 + 1, step))


def test_uniform_scores_are_a_range_where_layers_see_different_numbers_of_keys(
    store: Callable, open_page: Callable, shown: Shown
):
    store("few", **PERCEIVER)
    store("plain")
    app = open_page(checkpoint="few", score="first token", **QUESTION)
    assert "**All heads** (uniform: 0.25 to 0.29)" in shown(app)
    app.selectbox(key="checkpoint").set_value("plain").run()
    assert " to " not in app.markdown[2].value
