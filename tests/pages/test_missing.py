"""What a link names and cannot be had is said at the top, with what is shown instead."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.data.people import Person, split_of

Open = Callable[..., AppTest]
INSTEAD = "The link asks for “{}” as {}, which cannot be had here; “{}” was chosen instead."
NOTHING = "The link asks for “{}” as {}, which cannot be had here; nothing was chosen instead."
NO_CONTROL = (
    "The link also names {} “{}”; with what is shown here there is nothing of that kind to choose."
)


@pytest.fixture
def told(said_of: Callable[[str], str]) -> Callable[[AppTest], list[str]]:
    """The sentences about the link, one by one; none where there is no such warning."""

    def told_(app: AppTest) -> list[str]:
        found = [w.value for w in app.warning if w.icon == ":material/link_off:"]
        assert len(found) <= 1
        return [said_of(line) for text in found for line in text.split("  \n")]

    return told_


@pytest.mark.parametrize(
    ("page", "query", "label", "instead"),
    [
        ("attention", {"checkpoint": "my-own-model"}, "Checkpoint", "tiny"),
        ("attention", {"head": "L9H99"}, "Head", "L1·H1"),
        ("attention", {"row": "900"}, "Query row", "of the written word"),
        ("attention", {"view": "pie"}, "View", "map"),
        ("attention", {"fold": "maybe"}, "Whole words", "on"),
        ("attention", {"source": "nobody"}, "Question about a person", "never asked (test)"),
        ("attention", {"person-test": "Nobody"}, "Person", "Goran Arden"),
        ("attention", {"score": "beauty"}, "Score of each head", "weight on name"),
        ("attention", {"moment": "15"}, "Moment of training (step)", "finished"),
        ("heads", {"heads-mode": "twice"}, "A head that is off gives", "zero"),
        ("heads", {"heads-split": "all"}, "Averages over questions", "never asked (dev)"),
        ("heads", {"heads-head": "L0H7"}, "Head", "L0·H0"),
        ("compare", {"compare-what": "three"}, "Compare", "two questions"),
        ("compare", {"compare-head": "L7H0"}, "Head", "L1·H1"),
        ("monte_carlo", {"mc-beta": "ten"}, "Scale β", "10.0"),
        ("monte_carlo", {"mc-heads": "three"}, "Heads", "one"),
        ("attention_by_hand", {"hand-example": "Magic"}, "Attention by hand", "Weights"),
        ("attention_by_hand", {"hand-weights-beta": "99"}, "β, length of the query", "1.0"),
        ("runtime", {"rt-d": "48"}, "Head size d", "32"),
        ("runtime", {"rt-lengths": "77"}, "Tokens L", "128”, “1024"),
        ("runtime", {"rt-view": "Everything"}, "View", "Growth"),
        ("training", {"training-kind": "by heart"}, "Training", "pretrain, then fine-tune"),
        ("training", {"training-seed": "x"}, "Seed", "0"),
    ],
)
def test_a_value_that_is_not_there_is_named_with_the_one_shown(
    store: Callable,
    record_heads: Callable,
    open_by_link: Open,
    told: Callable,
    page: str,
    query: dict[str, str],
    label: str,
    instead: str,
):
    store(n_snapshots=2)
    record_heads()
    (asked,) = query.values()
    app = open_by_link(page, **query)
    assert told(app) == [INSTEAD.format(asked, label, instead)]
    assert told(open_by_link(page)) == []


def test_several_at_once_are_said_in_one_place_and_typed_text_stays_text(
    store: Callable, open_page: Open, told: Callable
):
    store()
    app = open_page(checkpoint="<b>*x*</b>", head="L9H99", moment="400", **{"off-L0": "H7"})
    assert told(app) == [
        INSTEAD.format("<b>*x*</b>", "Checkpoint", "tiny"),
        NOTHING.format("H7", "Heads of L0 that are off"),
        INSTEAD.format("L9H99", "Head", "L1·H1"),
        NO_CONTROL.format("moment", "400"),
    ]
    (warning,) = app.warning
    assert r"\<b\>\*x\*\</b\>" in warning.value


def test_the_sentence_stays_until_another_choice_is_made(
    store: Callable, open_page: Open, told: Callable
):
    store("one")
    store("two")
    app = open_page(checkpoint="three")
    sentence = [INSTEAD.format("three", "Checkpoint", "one")]
    assert told(app) == sentence
    assert told(app.toggle(key="fold").set_value(True).run()) == sentence
    assert told(app.selectbox(key="checkpoint").set_value("two").run()) == []
    assert told(app.selectbox(key="checkpoint").set_value("one").run()) == []


@pytest.mark.parametrize(
    ("page", "key", "typed", "shown"),
    [
        ("attention", "head", "L0H1", "L0·H1"),
        ("attention", "head", "l0h1", "L0·H1"),
        ("attention", "head", "L0·H1", "L0·H1"),
        ("compare", "compare-head", "L0H1", "L0·H1"),
        ("heads", "heads-head", "L0H1", "L0·H1"),
        ("attention", "source", "train", "train"),
        ("attention", "score", "distance", "distance"),
        ("heads", "heads-split", "test", "test"),
        ("heads", "heads-x", "contribution", "contribution"),
    ],
)
def test_a_link_may_name_an_option_as_the_command_line_does(
    store: Callable,
    record_heads: Callable,
    open_by_link: Open,
    told: Callable,
    view: Callable[[AppTest], dict[str, Any]],
    page: str,
    key: str,
    typed: str,
    shown: str,
):
    store()
    record_heads()
    app = open_by_link(page, **{key: typed})
    assert app.selectbox(key=key).value == shown
    assert told(app) == []
    assert app.query_params.get(key, view(app)[key][0]) == view(app)[key][0]


def test_a_link_may_name_methods_as_the_command_line_does(open_by_link: Open, told: Callable):
    app = open_by_link("runtime", **{"rt-methods": ["elu", "taylor"]})
    assert app.session_state["rt-methods"] == ["elu", "taylor"]
    assert told(app) == []


def test_what_a_link_does_not_need_is_accepted_in_any_form(
    store: Callable, open_page: Open, told: Callable, people: list[Person]
):
    store()
    name = next(person.name for person in people if split_of(person.name) == "train")
    query = {"source": "asked in training", "person-train": name, "fold": "TRUE", "view": "map"}
    assert told(open_page(**query)) == []


def test_a_job_and_runs_that_are_gone_are_named(runs: Any, open_by_link: Open, told: Callable):
    for page, key in (("training", "job"), ("runtime", "bench")):
        app = open_by_link(page, **{key: "20200101-000000-0a1b2c"})
        (sentence,) = told(app)
        assert "20200101-000000-0a1b2c" in sentence
