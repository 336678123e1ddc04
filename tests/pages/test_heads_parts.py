"""One question beside the average, patching between two: what is shown, what says why not."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import write_card
from pages.heads.controls import ONE, PATCH
from pages.heads.example import TABLES_KEY
from pages.heads.patches import TABLE_KEY

ASK = {"heads-source": "type freely", "heads-question": "Where was Ada Arden born?"}
OTHER = {"heads-other-source": "type freely", "heads-fits": "false"}
Open = Callable[..., AppTest]


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


@pytest.fixture
def one(open_heads: Open) -> Open:
    def open_(**query: str) -> AppTest:
        return open_heads(**{"heads-part": ONE, **ASK, **query})

    return open_


@pytest.fixture
def patching(open_heads: Open) -> Open:
    def open_(other: str, **query: str) -> AppTest:
        return open_heads(
            **{"heads-part": PATCH, **ASK, **OTHER, "heads-other-question": other, **query}
        )

    return open_


def test_one_question_shows_heads_parts_and_layers(store: Callable, one: Open, said: Callable):
    store()
    app = one()
    beside, added, lens = alts(app)
    assert beside == "weight on the name: this question"  # nothing is recorded
    assert added.startswith("Most is added to “")
    assert "leads" in lens
    assert "All parts sum to" in said(app)
    assert "There is no table of these weights to compare with yet" in said(app)


def test_the_average_comes_from_the_record(
    store: Callable, record_heads: Callable, one: Open, said: Callable
):
    store()
    total = record_heads().tables["zero"].total
    app = one()
    assert f"this question with the average of {total}" in said(app)
    app.session_state[TABLES_KEY] = True
    table = app.run().dataframe[0].value
    assert list(table.index) == ["L0·H0", "L0·H1", "L1·H0", "L1·H1"]
    assert {"answer without it", "weight on the name", "weight on the name, average"} <= set(table)


def test_the_measure_and_the_written_piece_change_the_pictures(store: Callable, one: Open):
    store()
    app = one()
    before = alts(app)
    app.selectbox(key="heads-measure-one").set_value("first token").run()
    assert alts(app)[0] == "weight: first token: this question"
    app.select_slider(key="heads-step").set_value("3").run()
    assert not app.exception
    assert app.get("vega_lite_chart")[1].proto.alt != before[1] or alts(app)[2] != before[2]


@pytest.mark.parametrize(
    ("sizes", "n_charts", "reason"),
    [
        ({"attention": "synthesizer"}, 3, "A Synthesizer: these weights do not depend on pairs"),
        ({"attention": "elu"}, 3, "Shown are effective weights"),
        ({"n_latents": 30, "n_layers": 3}, 2, "A Perceiver has no logit lens"),
    ],
)
def test_other_mechanisms_offer_what_they_have_and_say_why(
    store: Callable, one: Open, said: Callable, sizes: dict[str, Any], n_charts: int, reason: str
):
    store(**sizes)
    app = one()
    assert not app.error
    assert len(alts(app)) == n_charts
    assert reason in said(app)


def test_patching_shows_every_layer_and_position(store: Callable, patching: Open, said: Callable):
    store()
    app = patching("Where was Eda Orden born?")
    assert not app.error
    (alt,) = alts(app)
    assert alt.startswith("after L")
    assert "moves the answer" in alt
    assert "Where was Eda Orden born?" in said(app)
    app.session_state[TABLE_KEY] = True
    table = app.run().dataframe[0].value
    assert len(table) == 2 * 26  # layers by tokens with ⁇
    assert table["token"].tolist()[10] == "A | E"


def test_a_model_without_a_task_is_patched_over_the_text_alone(store: Callable, patching: Open):
    write_card(store(), {"name": "tiny"})
    app = patching("Where was Eda Orden born?")
    assert not app.error
    app.session_state[TABLE_KEY] = True
    table = app.run().dataframe[0].value
    assert len(table) == 2 * 25  # no ⁇ is read
    assert table["token"].tolist()[-1] == "?"


def test_the_output_of_a_head_may_be_taken_over(store: Callable, patching: Open):
    store()
    app = patching("Where was Eda Orden born?", **{"heads-site": "one head"})
    assert alts(app)[0].startswith("L")
    app.session_state[TABLE_KEY] = True
    assert len(app.run().dataframe[0].value) == 2 * 2 * 26


def test_questions_of_different_length_are_refused_with_their_lengths(
    store: Callable, patching: Open
):
    store()
    app = patching("Where was Ida Bo born?")
    told = app.info[0].value.replace("\\", "")
    assert "has 25 tokens and" in told
    assert "22: patching goes position by position" in told
    assert not app.error
    assert not alts(app)


def test_the_same_answer_twice_has_nothing_to_move(store: Callable, patching: Open):
    store()
    app = patching(ASK["heads-question"])
    assert "there is nothing that a patch could move" in app.info[0].value
    assert not alts(app)


def test_only_people_with_as_many_tokens_are_offered(store: Callable, open_heads: Open):
    store()
    app = open_heads(**{"heads-part": PATCH, **ASK, "heads-other-source": "never asked (dev)"})
    names = app.selectbox(key="heads-other-person-dev").options
    assert names
    assert {len(name) for name in names} == {len("Ada Arden")}
    app.toggle(key="heads-fits").set_value(False).run()
    assert len(app.selectbox(key="heads-other-person-dev").options) > len(names)


def test_a_perceiver_is_patched_where_its_latents_stand(store: Callable, patching: Open):
    store(n_latents=10, latent_stride=2, n_layers=3)
    app = patching("Where was Eda Orden born?")
    assert not app.error
    app.session_state[TABLE_KEY] = True
    assert len(app.run().dataframe[0].value) == 10 + 10 + 26
