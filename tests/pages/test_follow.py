"""A default that is computed follows what it depends on, or what was chosen is in the address."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import write_card
from pages.compare.controls import MODELS, MOMENTS
from pages.shared.loading import shipped_questions

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., AppTest]
Look = Callable[[AppTest], dict[str, Any]]
TYPED = {"source": "type freely", "question": "Where was Ada Arden born?"}


def other_than(app: AppTest, key: str) -> Any:
    box = app.selectbox(key=key)
    return next(option for option in box.options if option != box.value)


@pytest.fixture
def models(store: Callable, record_heads: Callable) -> None:
    """Checkpoints whose heads differ in what they are worth, each with its table."""
    for name, seed in (("one", 0), ("two", 2), ("three", 5)):
        store(name, seed=seed)
        record_heads(name)


@pytest.mark.parametrize(
    ("page", "prefix", "other"),
    [("attention", "", "two"), ("heads", "heads-", "three"), ("compare", "compare-", "two")],
)
@pytest.mark.usefixtures("models")
def test_an_untouched_head_follows_and_a_chosen_one_stays_in_the_address(
    open_by_link: Open, address: Look, view: Look, page: str, prefix: str, other: str
):
    depends, key = f"{prefix}checkpoint", f"{prefix}head"
    app = open_by_link(page)
    first = app.selectbox(key=key).value
    app.selectbox(key=depends).set_value(other).run()
    followed = app.selectbox(key=key).value
    assert followed != first
    assert address(app) == {depends: [other]}
    assert view(app) == view(open_by_link(page, **{depends: other}))
    app.selectbox(key=key).set_value(first).run()
    app.selectbox(key=key).set_value(followed).run()
    assert address(app) == {depends: [other], key: [followed]}
    app.selectbox(key=depends).set_value("one").run()
    assert app.selectbox(key=key).value == followed
    assert address(app) == {depends: ["one"], key: [followed]}
    assert view(app) == view(open_by_link(page, **address(app)))


@pytest.mark.usefixtures("models")
def test_each_of_two_models_heads_follows_its_model(open_by_link: Open, address: Look, view: Look):
    app = open_by_link("compare", **{"compare-what": MODELS})
    app.selectbox(key="compare-first-checkpoint").set_value("two").run()
    app.selectbox(key="compare-second-checkpoint").set_value("two").run()
    assert "compare-head" not in address(app)
    assert view(app) == view(open_by_link("compare", **address(app)))


def test_the_moment_in_the_middle_follows_and_a_chosen_one_stays(
    store: Callable, open_by_link: Open, address: Look, view: Look
):
    store("few", n_snapshots=2)
    store("many", n_snapshots=6)
    app = open_by_link("compare", **{"compare-what": MOMENTS})
    assert app.select_slider(key="compare-moment").value == "20"
    app.selectbox(key="compare-trained-checkpoint").set_value("many").run()
    assert app.select_slider(key="compare-moment").value == "40"
    assert "compare-moment" not in address(app)
    app.select_slider(key="compare-moment").set_value("20").run()
    app.select_slider(key="compare-moment").set_value("40").run()
    assert address(app)["compare-moment"] == ["40"]
    assert view(app) == view(open_by_link("compare", **address(app)))
    app.selectbox(key="compare-trained-checkpoint").set_value("few").run()
    assert app.select_slider(key="compare-moment").value == "20"


def test_an_untouched_score_follows_what_the_question_offers(
    store: Callable, open_page: Open, address: Look, view: Look
):
    store()
    app = open_page(source="type freely", question="abc?")
    assert app.selectbox(key="score").value == "previous_token"
    app.text_input(key="question").set_value(TYPED["question"]).run()
    assert app.selectbox(key="score").value == "name"
    assert view(app) == view(open_page(**address(app)))


def test_a_typed_question_stays_in_the_address_though_it_is_the_first(
    store: Callable, open_page: Open, address: Look
):
    store()
    app = open_page(source="type freely")
    usual = app.text_input(key="question").value
    assert address(app) == {"source": ["type freely"]}
    app.text_input(key="question").set_value("abc?").run()
    app.text_input(key="question").set_value(usual).run()
    assert address(app)["question"] == usual
    app.text_input(key="question").set_value("").run()
    assert address(app)["question"] == ""


def test_the_written_piece_keeps_its_place_when_another_answer_is_written(
    store: Callable, open_page: Open, address: Look, view: Look
):
    store("one")
    store("two", seed=5)
    app = open_page(**TYPED, fold="false")
    app.select_slider(key="step").set_value("3").run()
    app.query_params.update(address(app))
    app.selectbox(key="checkpoint").set_value("two").run()
    assert app.select_slider(key="step").value == "3"
    assert app.query_params["step"] == address(app)["step"][0]
    assert view(app) == view(open_page(**address(app)))


def test_untouched_source_and_person_follow_the_corpus(
    store: Callable,
    open_page: Open,
    address: Look,
    view: Look,
    monkeypatch: pytest.MonkeyPatch,
):
    store("one")
    write_card(store("two"), {"name": "two", "recipe": {"corpus": "course"}})
    everybody = shipped_questions("notable")
    monkeypatch.setattr("pages.shared.questions.known_questions", lambda _: everybody)
    app = open_page(checkpoint="one")
    assert app.selectbox(key="source").value == "test"
    app.selectbox(key="checkpoint").set_value("two").run()
    assert app.selectbox(key="source").value == "dev"
    assert view(app) == view(open_page(**address(app)))


def test_what_training_begins_with_follows_what_can_be_begun_with(
    runs: Path, open_by_link: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pages.training.choices.can_start_from", lambda *_: True)
    kept = ["later"]
    monkeypatch.setattr(
        "pages.training.choices.list_checkpoints", lambda _, hears: [] if hears else sorted(kept)
    )
    app = open_by_link("training", **{"training-kind": "fine-tune a checkpoint"})
    assert app.selectbox(key="training-origin").value == "later"
    kept.append("earlier")
    assert app.run().selectbox(key="training-origin").value == "earlier"
    app.selectbox(key="training-origin").set_value("later").run()
    kept.append("earliest")
    assert app.run().selectbox(key="training-origin").value == "later"


def test_an_untouched_row_of_the_report_card_is_the_best_and_a_chosen_one_stays(
    put_course: Callable, open_card: Open, address: Look
):
    put_course("good", 300)
    app = open_card()
    put_course("better", 350)
    assert app.run().selectbox(key="card-row").value == "better"
    assert address(app) == {}
    app.selectbox(key="card-row").set_value("good").run()
    app.selectbox(key="card-row").set_value("better").run()
    put_course("best", 400)
    assert app.run().selectbox(key="card-row").value == "better"
    assert address(app) == {"card-row": ["better"]}


def test_every_control_in_the_address_is_made_by_one_module():
    """Who binds a control apart from it would have a link that says nothing of what it refuses."""
    for path in (ROOT / "pages").rglob("*.py"):
        calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
        binds = [word.arg for call in calls for word in call.keywords if word.arg == "bind"]
        assert bool(binds) == (path.name == "bound.py"), path
