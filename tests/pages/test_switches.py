"""Heads switched off on the attention page: what is shown of the answer, and when."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import load_checkpoint
from core.data.people import Question
from core.data.task import COURSE
from core.inspection.ablate import Effect, effect
from core.inspection.answered import answered
from core.inspection.heads import HeadsOff
from pages.attention.switches import CHANGES, STAYS
from pages.shared.text import percent, plain

QUESTION = "Where was Ada Arden born?"
ASK = {"source": "type freely", "question": QUESTION}
Open = Callable[..., AppTest]


@pytest.fixture
def off(store: Callable) -> Callable[..., Effect]:
    """What the core says of the model on the shelf with some heads off."""
    folder = store()

    def off_(*heads: tuple[int, int]) -> Effect:
        stored = load_checkpoint(folder)
        known = answered(stored, [Question(QUESTION, None, "")])
        return effect(stored, known, HeadsOff(heads=heads))

    return off_


def switched(app: AppTest) -> list[list[str]]:
    return [list(app.button_group(key=f"off-L{layer}").value or []) for layer in range(2)]


def press(app: AppTest, layer: int, *names: str) -> AppTest:
    app.button_group(key=f"off-L{layer}").set_value(list(names)).run()
    assert not app.exception
    return app


def test_with_every_head_on_nothing_is_said_of_switches(
    off: Callable, open_page: Open, shown: Callable
):
    text = shown(open_page(**ASK))
    assert "With every head" not in text
    assert "is off" not in text


def test_a_head_that_is_off_changes_answer_probability_and_pieces(
    off: Callable, open_page: Open, shown: Callable
):
    found = off((0, 1))
    app = press(open_page(**ASK), 0, "H1")
    now, before = found.answers[0], found.before.answers[0]
    assert app.markdown[0].value.startswith(f"#### {plain(QUESTION)} → **{plain(now.text)}**")
    text = shown(app)
    assert "**Off: L0·H1** (in place: zero)" in text
    assert f"With every head **{plain(before.text)}**, {percent(before.probability)}" in text
    assert f"has now **{percent(float(found.former_probability[0]))}**" in text
    (table,) = [m.value for m in app.markdown if m.value.startswith("| answer before")]
    assert percent(float(found.probabilities[1][0, 0])) in table.splitlines()[-1]
    press(app, 0)
    assert "With every head" not in shown(app)


def test_the_grid_and_the_map_say_that_a_head_is_off(
    off: Callable, open_page: Open, shown: Callable
):
    app = open_page(**ASK, head="L1·H0", **{"off-L1": "H0"})
    assert switched(app) == [[], ["H0"]]
    assert "This head is off" in shown(app)
    app.selectbox(key="head").set_value("L0·H0").run()
    assert "This head is off" not in shown(app)
    assert '"off"' not in app.get("vega_lite_chart")[1].proto.spec


def test_what_is_looked_at_first_stays_when_it_is_switched_off(off: Callable, open_page: Open):
    app = open_page(**ASK)
    name = str(app.selectbox(key="head").value)
    press(app, int(name[1]), name[3:])
    assert app.selectbox(key="head").value == name


@pytest.mark.parametrize("which", ["most", "least"])
def test_a_button_switches_off_the_heads_that_matter(
    store: Callable, record_heads: Callable, open_page: Open, shown: Callable, which: str
):
    store()
    record = record_heads()
    app = open_page(**ASK)
    assert f"over {record.tables['zero'].total} dev questions" in shown(app)
    app.button(key=f"off-{which}").click().run()
    heads = getattr(record.tables["zero"], which).heads
    expected = [sorted(f"H{head}" for at, head in heads if at == layer) for layer in range(2)]
    assert switched(app) == expected
    app.button(key="off-none").click().run()
    assert switched(app) == [[], []]


def test_without_a_record_the_question_itself_ranks_the_heads(
    off: Callable, open_page: Open, shown: Callable
):
    app = open_page(**ASK)
    assert "Ranked by this question alone" in shown(app)
    app.button(key="off-most").click().run()
    lost = {at: float(off(at).answer_change[0]) for at in [(0, 0), (0, 1), (1, 0), (1, 1)]}
    spared = max(lost, key=lost.__getitem__)  # three of four are off
    names = switched(app)
    assert f"H{spared[1]}" not in names[spared[0]]
    assert sum(map(len, names)) == 3


def test_the_mean_may_take_the_place_of_zero(
    store: Callable, record_heads: Callable, open_page: Open, shown: Callable
):
    store()
    record_heads()
    app = press(open_page(**ASK), 1, "H0", "H1")
    zero = shown(app)
    app.button_group(key="off-mode").set_value("mean").run()
    assert not app.exception
    assert "(in place: their mean over the dev questions)" in shown(app)
    assert shown(app) != zero


def test_the_mean_is_withheld_where_there_is_nothing_to_take_it_from(
    store: Callable, open_page: Open, shown: Callable, monkeypatch: pytest.MonkeyPatch
):
    store()
    monkeypatch.delenv("A5_DATA", raising=False)
    monkeypatch.setattr("pages.attention.controls.checkpoint_task", lambda name: COURSE)
    app = open_page(question=QUESTION)
    assert app.button_group(key="off-mode").options == ["zero"]
    assert "Their mean over the dev questions is not offered" in shown(app)


def test_the_change_is_covered_until_the_viewer_has_said_what_happens(
    off: Callable, open_page: Open, shown: Callable
):
    changes = bool(off((0, 1)).changed[0])
    app = open_page(**ASK, predict="true")
    before = app.markdown[0].value
    press(app, 0, "H1")
    assert "**Covered:**" in shown(app)
    assert app.markdown[0].value == before
    app.button_group(key="guess").set_value(CHANGES).run()
    assert ("as you said**" in shown(app)) == changes
    app.button_group(key="guess").set_value(STAYS).run()
    assert ("as you said**" in shown(app)) == (not changes)
    press(app, 0, "H0")
    assert "**Covered:**" in shown(app)  # another set is another question


def test_nothing_is_covered_unless_it_is_asked_for(off: Callable, open_page: Open):
    app = press(open_page(**ASK), 0, "H1")
    assert app.toggle(key="predict").value is False
    assert "guess" not in [group.key for group in app.get("button_group")]


def test_a_link_restores_the_switches_and_nonsense_is_ignored(off: Callable, open_page: Open):
    app = open_page(**ASK, **{"off-L0": "H1", "off-L1": "H7"})
    assert switched(app) == [["H1"], []]


@pytest.mark.parametrize(
    "sizes", [{"attention": "synthesizer"}, {"attention": "elu"}, {"n_latents": 30, "n_layers": 3}]
)
def test_heads_of_other_mechanisms_can_be_switched_off_too(
    store: Callable, open_page: Open, shown: Callable, sizes: dict
):
    store(**sizes)
    app = press(open_page(**ASK), 1, "H0")
    assert not app.error
    assert "**Off: L1·H0**" in shown(app)
