"""Two questions, two checkpoints, two moments: aligned, subtracted, told, or refused with why."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import CARD, list_checkpoints
from core.checkpoints.store import load_checkpoint
from core.data.people import Person, split_of
from core.files import read_json, write_json
from core.inspection.align import PARTS, alignments
from core.inspection.compare import compare_heads
from core.inspection.trace import trace
from core.paths import CHECKPOINTS
from pages.compare.controls import MODELS, MOMENTS, QUESTIONS
from pages.compare.maps import TABLE_KEY

ADA, HINA = "Where was Ada Arden born?", "Where was Hina Bo born?"
ONE = {"compare-source": "type freely", "compare-question": ADA}
TWO = {"compare-other-source": "type freely"}
SHIPPED = list_checkpoints(CHECKPOINTS)
# One of each kind: pieces, characters, latents, no queries.
KINDS = ("notable-pretrained", "notable-char", "course-perceiver", "course-synthesizer")
Open = Callable[..., AppTest]


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def table(app: AppTest) -> Any:
    app.session_state[TABLE_KEY] = True
    return app.run().dataframe[0].value


def looks_through_latents(name: str) -> bool:
    return load_checkpoint(CHECKPOINTS / name).model.shape.n_latents > 0


@pytest.fixture
def two_questions(open_compare: Open) -> Open:
    def open_(other: str, **query: str) -> AppTest:
        return open_compare(**ONE, **TWO, **{"compare-other-question": other}, **query)

    return open_


def test_two_questions_show_both_answers_three_maps_and_all_heads(
    store: Callable, two_questions: Open, said: Callable
):
    store()
    app = two_questions(HINA)
    first, second, change, everything = alts(app)
    assert first.startswith("weight, A: L")
    assert second.startswith("weight, B: L")
    assert change.startswith("weight, B less A")
    assert everything.startswith("All heads: L")
    text = said(app)
    assert f"**A** · {ADA} → **" in text
    assert f"**B** · {HINA} → **" in text
    assert "Rows are aligned: word by word: the names have as many words" in text


def test_the_table_is_what_the_core_computes(store: Callable, two_questions: Open):
    stored = load_checkpoint(store())
    app = two_questions(HINA, **{"compare-head": "L1·H0", "compare-align": PARTS})
    traces = tuple(trace(stored, text) for text in (ADA, HINA))
    found = compare_heads((traces[0], traces[1]), alignments(*traces)[PARTS], ((1, 0), (1, 0)))
    shown = table(app)
    assert len(shown) == 6 * 7 // 2
    for _, row in shown.iterrows():
        at = (int(row["row"]), int(row["column"]))
        assert row["B less A"] == pytest.approx(float(found.difference[at]), abs=1e-6)
        assert row["query"] == found.labels[at[0]]


def test_a_question_off_the_template_is_refused_with_the_reason(
    store: Callable, two_questions: Open
):
    store()
    app = two_questions("Who are you?")
    assert "does not follow it" in app.info[0].value
    assert not alts(app)
    assert not app.error


def test_a_perceiver_is_asked_two_questions_of_as_many_tokens(
    store: Callable, open_compare: Open, said: Callable, people: list[Person]
):
    store(n_latents=30)
    app = open_compare(**ONE, **{"compare-other-source": "never asked (dev)"})
    names = app.selectbox(key="compare-other-person-dev").options
    expected = [
        person.name for person in people if split_of(person.name) == "dev" and len(person.name) == 9
    ]
    assert sorted(names) == sorted(set(expected) - {"Ada Arden"})
    assert len(alts(app)) == 4
    assert "position by position: both have" in said(app)
    assert "needs as many tokens" in "".join(caption.value for caption in app.sidebar.caption)


def test_a_perceiver_opens_on_a_typed_question_that_fits(store: Callable, open_compare: Open):
    store(n_latents=30)
    app = open_compare(**ONE, **TWO)
    second = app.text_input(key="compare-other-question").value
    assert second is not None
    assert second != ADA
    assert len(second) == len(ADA)
    assert len(alts(app)) == 4
    app.text_input(key="compare-other-question").set_value(HINA).run()
    assert "only questions of the same length" in app.info[0].value


def test_a_question_that_cannot_be_asked_is_named(store: Callable, two_questions: Open):
    store()
    app = two_questions("Where was Björk born?")
    assert "LATIN SMALL LETTER O WITH DIAERESIS" in app.text[0].value


def test_contributions_have_a_scale_of_their_own(
    store: Callable, two_questions: Open, said: Callable
):
    store()
    app = two_questions(HINA)
    assert not [c for c in app.main.caption if "Full colour" in c.value]
    app.selectbox(key="compare-quantity").set_value("contribution").run()
    assert [c for c in app.main.caption if "Full colour" in c.value]
    assert "brings" in alts(app)[0]
    assert "On average a row puts" not in said(app)


def test_a_click_in_the_grid_of_all_heads_shows_that_head(
    store: Callable, two_questions: Open, click: Callable
):
    store()
    app = two_questions(HINA, **{"compare-head": "L0·H0"})
    click(app, "compare-grid", "head", layer=1, head=1)
    assert app.selectbox(key="compare-head").value == "L1·H1"
    assert alts(app)[0].startswith("weight, A: L1·H1")


def test_two_checkpoints_have_a_head_each_and_no_common_numbering(
    store: Callable, open_compare: Open, said: Callable
):
    store("one")
    store("two", seed=5)
    query = {"compare-what": MODELS, "compare-first-checkpoint": "one", **ONE}
    app = open_compare(**query, **{"compare-second-checkpoint": "two"})
    assert app.selectbox(key="compare-head").label == "Head of A"
    app.selectbox(key="compare-head-b").set_value("L0·H1").run()
    app.selectbox(key="compare-head").set_value("L1·H0").run()
    assert alts(app)[0].startswith("weight, A: L1·H0")
    assert alts(app)[1].startswith("weight, B: L0·H1")
    assert "Heads of two trainings have no common numbering" in said(app)
    assert "· one → **" in said(app)


def test_models_of_other_shapes_are_compared_head_against_head_only(
    store: Callable, open_compare: Open, said: Callable
):
    store("one")
    store("two", n_layers=3)
    query = {"compare-what": MODELS, "compare-first-checkpoint": "one", **ONE}
    app = open_compare(**query, **{"compare-second-checkpoint": "two"})
    assert len(alts(app)) == 3
    assert "2 layers of 2 heads here, 3 of 2 there" in said(app)


@pytest.mark.parametrize(
    ("first", "second", "n_charts", "reason"),
    [
        ({}, {"attention": "synthesizer"}, 4, "A Synthesizer: these weights do not depend"),
        ({}, {"attention": "elu"}, 4, "Shown are effective weights"),
        ({}, {"n_latents": 30}, 0, "one model looks through latents and the other does not"),
        ({"n_latents": 30}, {"n_latents": 30}, 4, "A Perceiver: in L0 latents look at tokens"),
    ],
)
def test_other_mechanisms_are_compared_as_far_as_rows_mean_the_same(
    store: Callable,
    open_compare: Open,
    said: Callable,
    first: dict,
    second: dict,
    n_charts: int,
    reason: str,
):
    store("one", **first)
    store("two", seed=5, **second)
    query = {"compare-what": MODELS, "compare-first-checkpoint": "one", **ONE}
    app = open_compare(**query, **{"compare-second-checkpoint": "two"})
    assert not app.error
    assert len(alts(app)) == n_charts
    told = said(app) + "".join(info.value for info in app.info).replace("\\", "")
    assert reason in told


def test_a_head_is_scrubbed_through_a_training_under_its_curve(
    store: Callable, open_compare: Open, said: Callable
):
    folder = store(n_snapshots=3)
    points = [{"step": step, "accuracy": step / 100} for step in (10, 20, 30)]
    card = read_json(folder / CARD)
    write_json(folder / CARD, {**card, "snapshots": points, "figures": {"dev": {"accuracy": 0.5}}})
    app = open_compare(**{"compare-what": MOMENTS, **ONE})
    assert alts(app)[0].endswith("A at 20, B at finished")
    assert "· step 20 → **" in said(app)
    before = said(app)
    app.select_slider(key="compare-moment").set_value("10").run()
    assert alts(app)[0].endswith("A at 10, B at finished")
    assert said(app) != before
    app.select_slider(key="compare-other-moment").set_value("10").run()
    assert "does the same in A and in B" in said(app)


def test_a_training_whose_accuracy_was_not_recorded_is_scrubbed_all_the_same(
    store: Callable, open_compare: Open, shown: Callable
):
    store(n_snapshots=2)
    app = open_compare(**{"compare-what": MOMENTS, **ONE})
    assert "is not recorded in its card" in shown(app)
    assert len(alts(app)) == 4


def test_without_any_snapshot_the_page_says_how_to_get_one(store: Callable, open_compare: Open):
    store()
    app = open_compare(**{"compare-what": MOMENTS})
    assert "No checkpoint here kept snapshots" in app.text[0].value


def test_a_link_restores_the_pair_and_its_view(store: Callable, open_compare: Open):
    store("one", n_snapshots=2)
    query = {"compare-what": MOMENTS, "compare-moment": "10", "compare-other-moment": "20"}
    app = open_compare(**query, **ONE, **{"compare-head": "L0·H1", "compare-own": "true"})
    assert app.button_group(key="compare-what").value == MOMENTS
    assert app.select_slider(key="compare-moment").value == "10"
    assert app.select_slider(key="compare-other-moment").value == "20"
    assert alts(app)[0].startswith("weight, A: L0·H1")
    assert app.toggle(key="compare-own").value is True


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_shipped_checkpoint_compares_two_of_its_people(
    name: str, open_compare: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("A5_DATA", raising=False)
    query = {"compare-what": QUESTIONS, "compare-checkpoint": name}
    app = open_compare(**query, **{"compare-other-source": "type freely"})
    assert not app.error
    assert len(alts(app)) == 4


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_shipped_checkpoint_stands_beside_another(
    name: str, open_compare: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("A5_DATA", raising=False)
    app = open_compare(**{"compare-what": MODELS, "compare-first-checkpoint": name})
    assert not app.error
    if looks_through_latents(name):
        assert not alts(app)
        assert "one model looks through latents and the other does not" in app.info[0].value
    else:
        assert len(alts(app)) >= 3


@pytest.mark.skipif("notable-small" not in SHIPPED, reason="notable-small is not there")
def test_the_shipped_training_has_its_curve(open_compare: Open):
    app = open_compare(**{"compare-what": MOMENTS})
    assert len(alts(app)) == 5
    assert alts(app)[0].startswith("notable-small: right answers to dev, by step")
