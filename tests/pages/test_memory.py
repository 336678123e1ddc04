"""The page Memory: covered until something is said, every control, and what each view shows."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.memory.generation import MODELS
from core.memory.mqar import label as mqar_label
from core.memory.mqar import load_recall
from core.memory.names import label
from core.memory.spec import MATRICES, MemorySpec
from pages.memory import data, trained_words, words
from pages.memory.controls import ANOTHER, FIRST, GENERATION, OVERWRITING, PREFIX, TEXT
from pages.shared.text import percent, whole

Open = Callable[..., AppTest]
# Few pairs of few numbers: what is tested is the page.
SMALL = {"memory-dim": "16", "memory-draws": "4", "memory-most": "64"}
SHOWN = {**SMALL, "memory-predict": "false"}


@pytest.fixture
def open_memory(open_by_link: Open) -> Open:
    """Uncovered, and small."""

    def open_(**query: Any) -> AppTest:
        return open_by_link("memory", **{**SHOWN, **query})

    return open_


def choose(app: AppTest, key: str, value: Any) -> None:
    """Press one of several that stand side by side."""
    groups: list[Any] = list(app.get("button_group"))
    next(group for group in groups if group.key == key).set_value(value).run()
    assert not app.exception, app.exception[0].value


def charts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def test_nothing_is_revealed_before_something_is_said(
    open_memory: Open, said: Callable[[AppTest], str], monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> None:
        raise AssertionError("nothing is measured for what is covered")

    with monkeypatch.context() as patch:
        patch.setattr(data, "capacity", refuse)
        patch.setattr(data, "overwriting", refuse)
        for view in ("Capacity", OVERWRITING):
            app = open_memory(**{"memory-predict": "true", "memory-view": view})
            assert "Covered" in said(app)
            assert len(charts(app)) == 1
            (table,) = app.dataframe
            assert list(table.value["mechanism"]) == [label(method) for method in FIRST]


@pytest.mark.parametrize(
    ("method", "answer"), [("elu", "and so it is"), ("delta", "It is elu+1: half is lost at")]
)
def test_a_prediction_of_who_forgets_is_set_beside_what_was_measured(
    open_memory: Open, said: Callable[[AppTest], str], method: str, answer: str
):
    app = open_memory(**{"memory-predict": "true"})
    choose(app, f"{PREFIX}first", method)
    assert answer in said(app)
    assert "Half is lost first by elu+1 (under 8 pairs)" in said(app)


@pytest.mark.parametrize(
    ("method", "answer"), [("delta", "and so it is"), ("linear", "It gives the new value of")]
)
def test_a_prediction_of_who_overwrites_is_set_beside_what_was_measured(
    open_memory: Open, said: Callable[[AppTest], str], method: str, answer: str
):
    query = {"memory-predict": "true", "memory-view": OVERWRITING, "memory-dim": "64"}
    app = open_memory(**query)
    choose(app, f"{PREFIX}rewrites", method)
    assert answer in said(app)
    assert "and the others kept, by window, delta rule, gated delta" in said(app)


def test_one_may_look_without(open_memory: Open, said: Callable[[AppTest], str]):
    app = open_memory(**{"memory-predict": "true"})
    choose(app, f"{PREFIX}first", "look")
    assert "Half is lost first by" in said(app)
    assert "You said" not in said(app)


def test_every_size_is_measured_as_it_is_chosen(open_memory: Open, monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []
    measure = data.capacity
    monkeypatch.setattr(data, "capacity", lambda *of: asked.append(of) or measure(*of))
    sizes = {
        "beta": (4.0, "4"),
        "decay": (0.9, "0.9"),
        "delta-decay": (0.8, "0.8"),
        "window": (5, "5"),
        "features": (9, "9"),
        "seed": (7, "7"),
    }
    open_memory(**{f"memory-{name}": text for name, (_, text) in sizes.items()})
    found = {name.replace("-", "_"): value for name, (value, _) in sizes.items()}
    found["n_features"] = found.pop("features")
    spec = MemorySpec(dim=16, n_draws=4, **found)  # pyright: ignore[reportArgumentType]
    assert asked == [(spec, (8, 16, 32, 64))]


def test_mechanisms_are_drawn_as_they_are_chosen(open_memory: Open):
    app = open_memory(**{"memory-methods": ["Based", "favor"]})
    assert list(app.dataframe[0].value["mechanism"]) == ["Based", "FAVOR+"]
    refused = open_memory(**{"memory-methods": ["gate"]})
    assert ANOTHER in [text.value for text in refused.text]
    assert not charts(refused)


def test_what_is_too_much_for_the_page_is_refused(open_memory: Open):
    app = open_memory(**{"memory-draws": "1000", "memory-most": "512"})
    assert any("take fewer draws" in text.value for text in app.text)
    assert not charts(app)


def test_halves_outside_of_what_was_measured_are_told_so(open_memory: Open):
    rows = open_memory(**{"memory-methods": ["softmax", "linear", "elu"]}).dataframe[0].value
    halves, theory = rows["half lost at"].tolist(), rows["theory"].tolist()
    assert (halves[0], halves[2]) == ("over 64", "under 8")
    assert theory[0] == theory[2] == "–"


@pytest.mark.parametrize("method", MATRICES)
def test_a_state_is_drawn_pair_by_pair(
    open_memory: Open, said: Callable[[AppTest], str], method: str
):
    query = {"memory-view": OVERWRITING, "memory-state": method}
    app = open_memory(**query, **{"memory-write": "11"})
    assert len(charts(app)) == 6
    assert "Write 11 of 15: key 1 gets a second value" in said(app)
    assert ("Nothing is taken away" in said(app)) == (method in ("linear", "gate"))
    assert ("faded" in said(app)) == (method in ("gate", "gated-delta"))
    first = open_memory(**query, **{"memory-write": "1"})
    assert "key 1 gets its first value" in said(first)


def test_bytes_are_read_at_the_chosen_length(open_memory: Open, said: Callable[[AppTest], str]):
    app = open_memory(**{"memory-view": GENERATION, "memory-tokens": "4,096"})
    assert "Behind 4,096 tokens GPT-2 XL keeps 1.26 GB" in said(app)
    models, heads = app.dataframe
    assert list(models.value["model"]) == [model.name for model in MODELS]
    assert "bytes, 4,096 tokens" in heads.value
    assert len(charts(app)) == 2


@pytest.mark.parametrize(
    ("view", "pictures"),
    [
        ("Capacity", ["Recalled (SVG)"]),
        (OVERWRITING, ["Overwritten (SVG)"]),
        (TEXT, ["Recalled (SVG)"]),
        (GENERATION, ["Models (SVG)", "Heads (SVG)"]),
    ],
)
def test_each_view_offers_its_files(open_memory: Open, view: str, pictures: list[str]):
    app = open_memory(**{"memory-view": view})
    assert not app.get("download_button")
    app.session_state[f"{PREFIX}{view.lower()}-files"] = True
    app.run()
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == [*pictures, "Measurements (CSV)", "Report (JSON)"]
    assert len(app.dataframe[-1].value) >= 18


def test_trained_models_are_drawn_at_their_best_rates(open_memory: Open):
    record = load_recall()
    app = open_memory(**{"memory-view": TEXT})
    shares, rates = (table.value for table in app.dataframe[:2])
    names = [mqar_label(one.model) for one in record.found]
    assert list(shares["recalled, %"]) == list(rates["learning rate"]) == names
    assert list(shares.columns[1:]) == [str(n) for n in record.pairs]
    assert list(rates["taken"]) == [f"{one.rate:g}" for one in record.found]
    assert whole(trained_words.how(record)) in [note.value for note in app.caption]
    assert record.command in [code.value for code in app.code]
    assert len(charts(app)) == 1


def test_a_prediction_of_who_recalls_least_is_set_beside_the_trainings(
    open_memory: Open, said: Callable[[AppTest], str]
):
    record = load_recall()
    query = {"memory-view": TEXT, "memory-predict": "true", "memory-methods": ["softmax", "delta"]}
    app = open_memory(**query)
    assert "Covered" in said(app)
    choose(app, f"{PREFIX}trained", "delta")
    assert "You said **delta rule**, and so it is" in said(app)
    choose(app, f"{PREFIX}trained", "softmax")
    (delta,) = record.of(["delta"])
    assert f"It is delta rule: {percent(delta.at(64).value)} of 64 pairs" in said(app)
    assert list(app.dataframe[0].value["recalled, %"]) == [
        "softmax",
        "delta rule",
        "softmax alone",
    ]


def test_mechanisms_that_no_training_has_are_not_drawn(open_memory: Open):
    app = open_memory(**{"memory-view": TEXT, "memory-methods": ["gate", "Based", "delta"]})
    assert trained_words.NOT_TRAINED in [note.value for note in app.info]
    assert not charts(app)


def test_nobody_able_is_said_so(monkeypatch: pytest.MonkeyPatch):
    found = data.overwriting(MemorySpec(dim=16, n_draws=4))
    assert words.overwriting_title(found, ("elu",)).endswith("kept, by none of them")
    assert "Able are: none" in words.overwriting_verdict(found, ("elu",), "elu")
