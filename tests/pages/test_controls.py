"""Every control of the attention page changes something that can be seen."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.data.people import BIRTHPLACE, Person, split_of
from pages.attention.downloads import TABLES_KEY

QUESTION = "Where was Ada Arden born?"


def grid_alt(app: AppTest) -> str:
    return app.get("vega_lite_chart")[0].proto.alt


def picture(app: AppTest) -> str:
    """The form of the chart and what it draws."""
    chart = app.get("vega_lite_chart")[1].proto
    return chart.spec + "".join(table.data.data.hex() for table in chart.datasets)


def test_the_checkpoint_changes_the_answer(store: Callable, open_page: Callable):
    store("one")
    store("two", seed=5)
    app = open_page()
    before = app.markdown[0].value
    app.selectbox(key="checkpoint").set_value("two").run()
    assert app.markdown[0].value != before
    app.selectbox(key="checkpoint").set_value("one").run()
    assert app.markdown[0].value == before


def test_a_smaller_checkpoint_forgets_heads_it_does_not_have(store: Callable, open_page: Callable):
    store("large")
    store("small", n_layers=1)
    app = open_page(checkpoint="large", head="L1·H1")
    assert "L1·H1 is chosen" in grid_alt(app)
    app.selectbox(key="checkpoint").set_value("small").run()
    assert not app.exception
    assert "L0·H" in grid_alt(app)


def test_the_moment_of_training_changes_the_answer(store: Callable, open_page: Callable):
    store(n_snapshots=2)
    app = open_page()
    moment = app.select_slider(key="moment")
    assert moment.options == ["10", "20", "finished"]
    assert moment.value == "finished"
    seen = {app.markdown[1].value}
    for step in ("10", "20"):
        app.select_slider(key="moment").set_value(step).run()
        assert not app.exception
        seen.add(app.markdown[1].value)
    assert len(seen) == 3


def test_a_checkpoint_without_snapshots_has_no_moments(store: Callable, open_page: Callable):
    store()
    assert "moment" not in [slider.key for slider in open_page().select_slider]


@pytest.mark.parametrize("split", ["train", "dev"])
def test_the_source_offers_the_people_of_its_split(
    store: Callable, open_page: Callable, people: list[Person], split: str
):
    store()
    app = open_page()
    app.selectbox(key="source").set_value(split).run()
    names = [person.name for person in people if split_of(person.name) == split]
    assert app.selectbox(key=f"person-{split}").options == names
    app.selectbox(key=f"person-{split}").set_value(names[-1]).run()
    assert app.markdown[0].value.startswith(f"#### {BIRTHPLACE.question(names[-1])}")


def test_a_typed_question_is_asked(store: Callable, open_page: Callable):
    store()
    app = open_page()
    app.selectbox(key="source").set_value("type").run()
    app.text_input(key="question").set_value("Who are you?").run()
    assert app.markdown[0].value.startswith("#### Who are you? →")


def test_words_are_shown_at_first_and_pieces_on_a_switch(store: Callable, open_page: Callable):
    store()
    app = open_page(source="type freely", question=QUESTION)
    words = app.selectbox(key="row").options
    app.toggle(key="fold").set_value(False).run()
    rows = app.selectbox(key="row").options
    assert len(rows) == 1 + 40  # the row that is followed, and one for each token
    app.toggle(key="fold").set_value(True).run()
    assert app.selectbox(key="row").options == words
    assert [label.split(" ")[1] for label in words[1:6]] == ["Where", "was", "Ada", "Arden", "born"]
    app.session_state[TABLES_KEY] = True
    table = app.run().dataframe[0].value
    assert table.shape == (len(words) - 1, len(words) - 1)
    assert table.sum(axis=1).tolist() == pytest.approx([1.0] * len(table), abs=1e-5)


def test_a_row_beyond_the_folded_words_is_followed_no_more(store: Callable, open_page: Callable):
    store()
    app = open_page(fold="false")
    app.selectbox(key="row").set_value("39").run()
    assert "query row 39" in app.get("vega_lite_chart")[2].proto.alt
    app.toggle(key="fold").set_value(True).run()
    assert not app.exception
    assert "query row 39" not in app.get("vega_lite_chart")[2].proto.alt


def test_the_view_is_a_map_arcs_or_parts(store: Callable, open_page: Callable):
    store()
    app = open_page()
    assert "query (looks)" in picture(app)
    app.button_group(key="view").set_value("arcs").run()
    assert '"detail": {"field": "arc"' in picture(app)
    app.button_group(key="view").set_value("q·k parts").run()
    assert "dimension of the head" in picture(app)
    assert not app.exception


def test_arcs_are_withheld_beyond_40_tokens_and_the_page_says_why(
    store: Callable, open_page: Callable, shown: Callable
):
    store(block_size=48)
    app = open_page(fold="false")
    assert app.button_group(key="view").options == ["map", "q·k parts", "3D"]
    assert "Arcs are drawn for up to 40 tokens; here are 48" in shown(app)


def test_the_score_changes_what_stands_under_each_head(store: Callable, open_page: Callable):
    store()
    app = open_page()
    baselines = {app.markdown[2].value}
    assert "mean weight on the name" in grid_alt(app)
    app.selectbox(key="score").set_value("distance").run()
    assert "mean distance looked back" in grid_alt(app)
    baselines.add(app.markdown[2].value)
    app.selectbox(key="score").set_value("answer").run()
    assert "what the name brings" in grid_alt(app)
    baselines.add(app.markdown[2].value)
    assert len(baselines) == 3


def test_scores_of_the_name_are_withheld_where_there_is_no_name(
    store: Callable, open_page: Callable
):
    store()
    app = open_page(source="type freely", question="Who are you?")
    assert "weight on name" not in app.selectbox(key="score").options
    assert "mean weight on the token before" in grid_alt(app)


def test_the_select_box_changes_the_head(store: Callable, open_page: Callable):
    store()
    app = open_page()
    pictures: set[str] = set()
    for head in ("L0·H0", "L1·H1"):
        app.selectbox(key="head").set_value(head).run()
        assert f"{head} is chosen" in grid_alt(app)
        assert f"{head} " in app.get("vega_lite_chart")[1].proto.alt
        pictures.add(picture(app))
    assert len(pictures) == 2


def test_a_click_in_the_grid_changes_the_head(
    store: Callable, open_page: Callable, click: Callable
):
    store()
    app = open_page(head="L0·H0")
    click(app, "heads-chart", "head", layer=1, head=0)
    assert app.selectbox(key="head").value == "L1·H0"
    assert "L1·H0 is chosen" in grid_alt(app)


def test_a_click_in_the_map_changes_the_row(store: Callable, open_page: Callable, click: Callable):
    store()
    app = open_page()
    click(app, "map-chart", "cell", q=3, k=1)
    assert app.selectbox(key="row").value == "3"
    assert app.get("vega_lite_chart")[2].proto.alt == "Weights and contributions of query row 3"


def test_the_row_changes_its_bars(store: Callable, open_page: Callable, shown: Callable):
    store()
    app = open_page(fold="false")
    app.selectbox(key="row").set_value("5").run()
    assert "**Row 5, key by key**" in shown(app)
    assert "at “·”" in app.get("vega_lite_chart")[1].proto.alt  # "Where was": token 5 is a space


def test_the_written_piece_moves_the_row_even_after_another_was_picked(
    store: Callable, open_page: Callable, shown: Callable
):
    store()
    app = open_page(source="type freely", question=QUESTION, fold="false")
    assert f"**Row {len(QUESTION)}, key by key**" in shown(app)
    app.selectbox(key="row").set_value("5").run()
    app.select_slider(key="step").set_value("2").run()
    assert app.selectbox(key="row").value == "of the written piece"
    assert f"**Row {len(QUESTION) + 2}, key by key**" in shown(app)
    assert "when it writes" in app.get("vega_lite_chart")[1].proto.alt


def test_the_tables_are_drawn_once_they_are_opened(
    store: Callable, open_page: Callable, shown: Callable
):
    store()
    app = open_page(head="L0·H1")
    assert not app.dataframe
    app.session_state[TABLES_KEY] = True
    app.run()
    assert "Head L0·H1" in shown(app)
    weights, row = (table.value for table in app.dataframe)
    assert list(row.index) == list(weights.columns[: len(row)])
    assert row["weight"].tolist() == weights.iloc[len(row) - 1, : len(row)].tolist()
    app.selectbox(key="head").set_value("L0·H0").run()
    assert "Head L0·H0" in shown(app)
    assert len(app.dataframe) == 2


@pytest.mark.parametrize("point", [{"left": -0.5}, {"q": None}, {"q": "3"}, {"q": 1.5}, {}])
def test_a_click_that_names_no_row_changes_nothing(
    store: Callable, open_page: Callable, click: Callable, point: dict[str, Any]
):
    """Every layer of a chart can be clicked: the frame of a row has other fields than a cell."""
    store()
    app = open_page()
    row = app.selectbox(key="row").value
    click(app, "map-chart", "cell", **point)
    assert app.selectbox(key="row").value == row


@pytest.mark.parametrize("point", [{"layer": 1}, {"head": 0}, {"layer": 1, "head": "H0"}])
def test_a_click_that_names_half_a_head_changes_nothing(
    store: Callable, open_page: Callable, click: Callable, point: dict[str, Any]
):
    store()
    app = open_page()
    head = app.selectbox(key="head").value
    click(app, "heads-chart", "head", **point)
    assert app.selectbox(key="head").value == head


def test_sentences_speak_of_words_where_words_are_drawn(
    store: Callable, open_page: Callable, shown: Callable
):
    store()
    app = open_page(source="type freely", question=QUESTION)
    written = app.selectbox(key="row").options[0]
    assert written == "of the written word"
    app.selectbox(key="row").set_value("2").run()
    assert "at “Ada”" in app.get("vega_lite_chart")[1].proto.alt
    assert "The mean of 4 rows, one a piece of “Ada”." in shown(app)  # its space is a character
    app.toggle(key="fold").set_value(False).run()
    assert "The mean of" not in shown(app)
    assert app.selectbox(key="row").options[0] == "of the written piece"
