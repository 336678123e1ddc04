"""The page Knowledge: a record beside the weights, a second one, names of one's own, measuring."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import content_hash
from core.knowledge.file import knowledge_file, save_knowledge
from core.knowledge.record import Group, Knowledge
from tests.knowledge.fake import GROUPS, fake_group, fake_knowledge

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., AppTest]
Record = Callable[..., Knowledge]
N_CHARTS = 6


@pytest.fixture
def open_knowledge(open_by_link: Open) -> Open:
    """Open the page as a link does."""

    def open_(**query: Any) -> AppTest:
        return open_by_link("knowledge", **query)

    return open_


@pytest.fixture
def record(store: Callable[..., Path]) -> Record:
    """Put a checkpoint with an invented record of what it knows on the shelf."""

    def put(name: str = "tiny", *, seed: int = 0, **changed: Any) -> Knowledge:
        folder = store(name, seed=seed)
        made = fake_knowledge(checkpoint=name, weights=content_hash(folder))
        found = replace(made, **changed)
        save_knowledge(folder, found)
        return found

    return put


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names that were asked, a list each time; all answers are those of an invented group."""
    from pages.knowledge import measuring

    times: list[list[str]] = []

    def ask(stored: Any, names: Any, asking: Any) -> tuple[Group, Any]:
        times.append([name.name for name in names])
        group = fake_group("surname", name="own", label="your own names")
        return group, group.examples

    monkeypatch.setattr(measuring, "asking_for", lambda stored: None)
    monkeypatch.setattr(measuring, "ask_own", ask)
    return times


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt.replace("\u00a0", " ") for chart in app.get("vega_lite_chart")]


def named_rows(app: AppTest, chart: int) -> str:
    """The texts of the axes of a chart's rows."""
    spec = json.loads(app.get("vega_lite_chart")[chart].proto.spec)
    found = [layer["encoding"].get("y", {}).get("axis") for layer in spec["layer"]]
    return " ".join(axis["labelExpr"] for axis in found if axis)


def test_the_page_says_what_the_record_says(record: Record, open_knowledge: Open, said: Callable):
    record()
    app = open_knowledge()
    assert len(alts(app)) == N_CHARTS
    assert alts(app)[0].startswith("Of its answers about invented people 0 % are over 90 % likely")
    text = said(app)
    assert "Does it know that it does not know?" in text
    assert "What gives it away best is the probability of the answer: 0.86 (0.83 to 0.89)" in text
    assert "No attention score beats the probability" in text
    assert "it is too sure (ECE 0.062)" in text
    assert "F the most frequent place (London)" in text.replace("*", "")
    assert text.count("1. ") == 3


def test_another_breakdown_is_chosen_and_one_that_lacks_says_why(
    record: Record, open_knowledge: Open, said: Callable
):
    record(by_century=(), lacking={"by_century": "nobody's year of birth is known"})
    app = open_knowledge(**{"knows-by": "pronoun"})
    assert "Right answers and made-up words by pronoun" in alts(app)
    assert "By pronoun it is right most for" in said(app)
    app.selectbox(key="knows-by").set_value("by_century").run()
    assert app.info[0].value.replace("\\", "") == "Nobody's year of birth is known."
    assert len(alts(app)) == N_CHARTS - 1


def test_examples_are_those_of_the_chosen_group(record: Record, open_knowledge: Open):
    record()
    app = open_knowledge()
    assert app.selectbox(key="knows-group").value == "invented"
    assert list(app.dataframe[0].value["name"]) == ["Adana Bellova"]
    app.selectbox(key="knows-group").set_value("read").run()
    assert list(app.dataframe[0].value["name"]) == ["Ada Lovelace", "Adana Bellova"]


def test_names_that_may_not_be_stored_are_not_shown(
    record: Record, open_knowledge: Open, said: Callable
):
    known = fake_knowledge()
    groups = {name: replace(group, examples=()) for name, group in known.groups.items()}
    record(groups=groups)
    assert "Neither names nor answers of these people are stored" in said(open_knowledge())


def test_every_share_stands_in_a_table(record: Record, open_knowledge: Open):
    record()
    app = open_knowledge()
    app.session_state["knows-outcomes-table"] = True
    app.run()
    assert not app.exception
    table = app.dataframe[0].value
    assert list(table["group"]) == [group.label for group in fake_knowledge().groups.values()]


def test_a_second_model_stands_beside_the_first(
    record: Record, open_knowledge: Open, said: Callable
):
    record("one")
    record("two", groups={name: fake_group(name) for name in GROUPS}, never="unread")
    app = open_knowledge(**{"knows-checkpoint": "one", "knows-other": "two"})
    for chart in (0, 1):
        assert "\\u2013 two" in json.dumps(named_rows(app, chart))
        assert "real people, never read" in named_rows(app, chart)
    assert "people it read about" in alts(app)[0]  # the title stays that of the first


def test_a_second_model_without_a_record_is_named(
    record: Record, store: Callable, open_knowledge: Open, shown: Callable
):
    record("one")
    store("two")
    app = open_knowledge(**{"knows-checkpoint": "one", "knows-other": "two"})
    assert "Nothing is recorded of two" in shown(app)
    assert "– two" not in named_rows(app, 0)


def test_without_a_record_the_command_and_the_button_are_offered(
    store: Callable, open_knowledge: Open
):
    store()
    app = open_knowledge()
    assert "Nothing is recorded of these weights" in app.info[0].value
    assert app.code[0].value == "python -m core knowledge --checkpoint tiny --record"
    assert not alts(app)
    assert not app.button(key="knows-measure").disabled


def test_what_is_not_recorded_is_measured_when_asked_and_only_once(
    store: Callable, open_knowledge: Open, monkeypatch: pytest.MonkeyPatch
):
    from pages.knowledge import measuring

    times: list[str] = []

    def measure(stored: Any, asking: Any, *, weights: str, progress: Callable) -> Knowledge:
        progress("invented names: 1 of 2 names")
        times.append(weights)
        return fake_knowledge(weights=weights)

    monkeypatch.setattr(measuring, "asking_for", lambda stored: None)
    monkeypatch.setattr(measuring, "measure", measure)
    folder = store()
    app = open_knowledge()
    app.button(key="knows-measure").click().run()
    assert not app.exception
    assert len(alts(app)) == N_CHARTS
    app.selectbox(key="knows-by").set_value("by_pronoun").run()
    assert times == [content_hash(folder)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"weights_sha256": "of others"}', "it was measured on other weights than these"),
        ('{"weights_sha256": 3', "not JSON"),
    ],
)
def test_a_stale_or_damaged_record_says_so(
    store: Callable, open_knowledge: Open, content: str, problem: str
):
    knowledge_file(store()).write_text(content, encoding="utf-8")
    app = open_knowledge()
    assert problem in app.warning[0].value.replace("\\", "")
    assert app.button(key="knows-measure")
    assert not alts(app)


def test_a_server_that_only_shows_measures_nothing_and_says_why(
    store: Callable, open_knowledge: Open, serve_as: Callable, shown: Callable
):
    store()
    serve_as("show")
    app = open_knowledge()
    assert app.button(key="knows-measure").disabled
    assert "this server only shows" in shown(app)


def test_typed_names_are_asked_when_told_to_and_stand_in_the_pictures(
    record: Record, open_knowledge: Open, asked: list[list[str]], said: Callable
):
    record()
    app = open_knowledge()
    app.text_area(key="knows-names").set_value("Ada Arden\n\n Bruno Bello ").run()
    assert not asked
    app.button(key="knows-ask").click().run()
    assert not app.exception
    assert asked == [["Ada Arden", "Bruno Bello"]]
    assert "your own names" in named_rows(app, 0)
    assert "your own names" in named_rows(app, 1)
    assert "50 are made up, 60 are right." in said(app)
    assert len(app.dataframe[-1].value) == 2
    app.button(key="knows-forget").click().run()
    assert "your own names" not in named_rows(app, 0)
    assert len(asked) == 1


def test_a_table_of_names_is_asked(record: Record, open_knowledge: Open, asked: list[list[str]]):
    record()
    app = open_knowledge()
    table = b"name\tplace\nAda Arden\tLagos\n"
    app.file_uploader(key="knows-file").set_value(("../x.tsv", table, "text/plain")).run()
    app.button(key="knows-ask").click().run()
    assert not app.exception
    assert asked == [["Ada Arden"]]


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("", "your names: 0 names; 1 to 2,000 are allowed"),
        ("Ada\tLagos\nBruno", "your names, line 2: 1 columns, the header has 2"),
        ("Ada\nAda", "your names, line 2: Ada stands already on line 1"),
    ],
)
def test_names_that_cannot_be_asked_are_told_with_their_line(
    record: Record, open_knowledge: Open, asked: list[list[str]], typed: str, problem: str
):
    record()
    app = open_knowledge()
    app.text_area(key="knows-names").set_value(typed).run()
    app.button(key="knows-ask").click().run()
    assert problem in "\n".join(text.value for text in app.text)
    assert not asked
    assert len(alts(app)) == N_CHARTS


def test_names_are_asked_of_the_model_that_was_shown(
    record: Record, open_knowledge: Open, asked: list[list[str]]
):
    record("one")
    record("two", seed=1)
    app = open_knowledge(**{"knows-checkpoint": "one"})
    app.text_area(key="knows-names").set_value("Ada Arden").run()
    app.button(key="knows-ask").click().run()
    app.selectbox(key="knows-checkpoint").set_value("two").run()
    assert not app.exception
    assert len(asked) == 1
    assert "your own names" not in named_rows(app, 0)


def test_names_are_asked_of_the_model_that_was_chosen_just_before_the_click(
    record: Record, open_knowledge: Open, asked: list[list[str]]
):
    record("one")
    record("two", seed=1)
    app = open_knowledge(**{"knows-checkpoint": "one"})
    app.text_area(key="knows-names").set_value("Ada Arden")
    app.selectbox(key="knows-checkpoint").set_value("two")
    app.button(key="knows-ask").click().run()
    assert not app.exception
    assert asked == [["Ada Arden"]]
    assert "your own names" in named_rows(app, 0)
