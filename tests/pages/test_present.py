"""A presented page draws its main picture large; without it nothing is changed."""

import json
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from core.figures.template import Figure
from pages.shared import present

Open = Callable[..., AppTest]


def main_spec(app: AppTest) -> dict[str, Any]:
    return json.loads(app.get("vega_lite_chart")[1].proto.spec)


def buttons(app: AppTest) -> set[str]:
    return {key for button in app.button if (key := button.key or "").startswith("present-")}


def test_the_map_is_as_large_as_the_window_and_says_what_is_seen(store: Callable, open_page: Open):
    store()
    app = open_page(present="true", head="L1·H0")
    spec = main_spec(app)
    assert (spec["width"], spec["height"]) == (present.WIDTH, present.HEIGHT)
    assert spec["title"]["text"].startswith("L1·H0 ")
    assert app.toggle(key="present").value
    usual = open_page(head="L1·H0")
    assert main_spec(usual)["width"] != present.WIDTH
    assert buttons(usual) == {"present-now"}


def test_keys_step_round_through_heads_and_layers(store: Callable, open_page: Open):
    store()
    app = open_page(present="true", head="L1·H1")
    app.button(key="present-Head-next").click().run()
    assert app.selectbox(key="head").value == "L1·H0"
    app.button(key="present-Layer-previous").click().run()
    assert app.selectbox(key="head").value == "L0·H0"
    app.button(key="present-leave").click().run()
    assert not app.toggle(key="present").value
    assert buttons(app) == {"present-now"}


def test_a_page_that_is_left_for_another_stays_presented(store: Callable, open_page: Open):
    store()
    app = open_page(present="true")
    app.switch_page("pages/monte_carlo/page.py").run()
    assert not app.exception
    assert app.toggle(key="present").value


def test_small_letters_of_a_figure_grow_and_a_title_of_its_own_stays():
    axis = {"labelFontSize": 9, "labelOverlap": False, "titleFontSize": 20}
    figure = Figure({"title": {"text": "own"}, "layer": [{"encoding": {"x": {"axis": axis}}}]}, {})
    spec = present.enlarged(figure, "alt").spec
    grown = spec["layer"][0]["encoding"]["x"]["axis"]
    assert grown == {"labelFontSize": 14, "labelOverlap": "greedy", "titleFontSize": 20}
    assert spec["title"]["text"] == "own"
    assert axis["labelFontSize"] == 9  # templates are shared
    assert present.enlarged(Figure({}, {}), "said").spec["title"]["text"] == "said"
