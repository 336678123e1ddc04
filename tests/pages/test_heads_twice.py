"""Random tokens said twice on the page of heads: recorded, measured now, or how to measure it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import content_hash
from core.checkpoints.store import load_checkpoint
from core.inspection.repeated import measure_repeated
from core.inspection.repeated_record import RepeatedRecord, repeated_file, save_repeated
from core.inspection.repeated_rows import Repeated, Score
from pages.heads import repeated_words as words
from pages.heads.controls import TWICE

Open = Callable[..., AppTest]


@pytest.fixture
def twice(open_heads: Open) -> Open:
    def open_(**query: str) -> AppTest:
        return open_heads(**{"heads-part": TWICE, **query})

    return open_


@pytest.fixture
def record() -> Callable[..., Repeated]:
    """Write a result beside a checkpoint."""

    def write(folder: Path, **changes: Any) -> Repeated:
        result = measure_repeated(load_checkpoint(folder), n_sequences=3)
        found = RepeatedRecord(
            result=result, seconds=1.0, machine="a machine", weights=content_hash(folder)
        )
        save_repeated(folder, replace(found, **changes))
        return result

    return write


def heads_of(app: AppTest) -> list[str]:
    (table,) = [m.value for m in app.main.markdown if m.value.startswith("| head |")]
    return [line.split("]")[0].removeprefix("| [") for line in table.splitlines()[2:]]


def clear(result: Repeated) -> Repeated:
    """The same with one head that does induction, and a second half that is cheaper for it."""
    first, *others = result.rows
    score = Score(weight=0.8, uniform=0.03, without_first=0.9, uniform_without_first=0.03)
    losses = result.losses
    gained = replace(losses.saved, mean=2.0, low=1.5, high=2.5)
    return replace(
        result,
        rows=(replace(first, induction=score), *others),
        losses=replace(losses, saved=gained, best_above_random=gained, best=(first.at,)),
    )


def test_a_record_is_shown_as_it_is_sorted(
    store: Callable, record: Callable, twice: Open, said: Callable
):
    result = record(store())
    app = twice()
    assert not app.error
    assert not app.main.button
    assert "No head does induction: at most " in said(app)
    assert "**Duplicate token**: no head does it (at most" in said(app)
    assert ("saves nothing by having read the same before" in said(app)) is not result.looks_back
    assert heads_of(app) == [row.name for row in result.sorted_by("induction")]
    for name in ("", "previous_token", "duplicate_token"):
        app.selectbox(key="heads-twice-sort").set_value(name).run()
        rows = result.sorted_by(name) if name else result.rows
        assert heads_of(app) == [row.name for row in rows]


def test_without_the_first_token_other_numbers_stand_beside_another_baseline(
    store: Callable, record: Callable, twice: Open
):
    result = record(store())
    app = twice(**{"heads-twice-sort": "previous token", "heads-twice-without-first": "true"})
    rows = result.sorted_by("previous_token", without_first=True)
    table = words.heads_table(rows, {"checkpoint": "tiny"}, without_first=True)
    assert table in [element.value for element in app.main.markdown]
    app.toggle(key="heads-twice-without-first").set_value(False).run()
    assert table not in [element.value for element in app.main.markdown]


def test_a_clear_head_is_the_headline_and_what_it_is_worth_is_said(
    store: Callable, record: Callable, twice: Open, said: Callable
):
    folder = store()
    result = clear(record(folder))
    weights = content_hash(folder)
    save_repeated(
        folder, RepeatedRecord(result=result, seconds=1.0, machine="a machine", weights=weights)
    )
    app = twice()
    told = said(app)
    assert "L0·H0 looks at what followed last time: induction 0.8, uniform 0.03" in told
    assert "**Induction**: L0·H0 0.8 looks at what followed on the same token" in told
    assert "costs **2.00** (1.50 to 2.50) nats a token less than the first" in told
    assert "They are worth more than heads drawn at random." in told
    assert "| **0.8** / 0.03 |" in told


def test_what_is_not_recorded_is_measured_when_asked(store: Callable, twice: Open, said: Callable):
    folder = store()
    app = twice()
    assert "Nothing is recorded for these weights yet." in app.info[0].value
    assert app.code[0].value == "python -m core repeated --checkpoint tiny --record"
    app.button(key="heads-measure-twice").click().run()
    assert not app.exception
    assert not app.error
    result = measure_repeated(load_checkpoint(folder))
    assert heads_of(app) == [row.name for row in result.sorted_by("induction")]
    assert words.losses_table(result) in [element.value for element in app.main.markdown]
    assert not repeated_file(folder).exists()
    app.selectbox(key="heads-twice-sort").set_value("").run()  # it stays
    assert heads_of(app) == [row.name for row in result.rows]


def test_large_weights_are_left_to_the_command_line(
    store: Callable, twice: Open, monkeypatch: pytest.MonkeyPatch, said: Callable
):
    store(n_snapshots=1)
    monkeypatch.setattr("pages.heads.repeated_data.SMALL_BYTES", 100)
    app = twice()
    assert not app.main.button
    assert "too large to be measured while a page waits" in said(app)
    assert app.code[0].value == "python -m core repeated --checkpoint tiny --record"
    app = twice(**{"heads-moment": "10"})
    assert not app.code  # the command records the end of a training only


def test_a_moment_of_training_is_measured_by_itself(store: Callable, twice: Open):
    store(n_snapshots=1)
    app = twice(**{"heads-moment": "10"})
    assert not app.code
    app.button(key="heads-measure-twice").click().run()
    assert not app.error
    (table,) = [m.value for m in app.main.markdown if m.value.startswith("| head |")]
    assert "moment=10" in table


def test_a_model_that_is_no_decoder_says_so(store: Callable, twice: Open):
    store(n_latents=30, n_layers=3)
    app = twice()
    assert not app.error
    assert not app.main.button
    assert not app.code
    assert app.info[0].value.startswith("A Perceiver looks at latents, not at tokens")


def test_a_record_of_other_weights_is_not_shown_and_a_broken_one_named(
    store: Callable, record: Callable, twice: Open
):
    folder = store()
    record(folder, weights="of other weights")
    assert "Nothing is recorded" in twice().info[0].value
    repeated_file(folder).write_text('{"weights_sha256": 3', encoding="utf-8")
    caption = twice().caption[0].value
    assert "The recorded result cannot be used: " in caption
    assert "not JSON" in caption


def test_effective_weights_are_called_so(store: Callable, record: Callable, twice: Open):
    record(store(attention="elu"))
    assert any("Weights are effective ones" in c.value for c in twice().caption)
