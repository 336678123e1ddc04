"""Self-taught rows, the reader that taught them, and what its questions buy, on the report card."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

Put = Callable[..., Path]
Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]
TITLE = "The same 10 minutes, with and without the reader's questions"
HEADING = "What do questions buy that it wrote itself?"


def figures(correct: int, total: int) -> dict[str, Any]:
    share = correct / total
    reached = {"correct": correct, "total": total, "accuracy": share}
    return {**reached, "interval_95": [share - 0.03, share + 0.02], "surest_90": 0.978}


READER = {
    "machine": "a machine",
    "seed": 0,
    "n_nets": 3,
    "seconds": 345.6,
    "in_sentence": {"held_out": figures(190, 200), "dev": figures(478, 500)},
    "held_out": figures(180, 200),
    "dev": figures(460, 500),
    "kept": {"written": 12000, "kept": 9000},
    "data_sha256": "of the corpus",
}
RUN = {"preset": "", "n_steps": 1234, "n_parameters": 3116032, "total": 200}
RUNS = {
    "minutes": 10,
    "seed": 0,
    "machine": "a machine",
    "split": "held-out",
    "runs": [
        {**RUN, "label": "none of them", "differs": "as before", "correct": 130},
        {**RUN, "label": "all *of* them", "differs": "all that were kept", "correct": 178},
    ],
}


@pytest.fixture
def reader(card_tables: Path) -> Path:
    path = card_tables / "reader.json"
    path.write_text(json.dumps(READER), encoding="utf-8")
    return path


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def lines_of(app: AppTest) -> list[str]:
    """What the lines of the main picture are called."""
    spec = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    dashes = [layer["encoding"].get("strokeDash") for layer in spec["layer"]]
    (found,) = filter(None, dashes)
    return found["scale"]["domain"]


def test_the_reader_stands_between_lookup_and_ceiling(
    put_course: Put, reader: Path, open_card: Open, said: Said
):
    put_course(correct=410)
    app = open_card()
    assert lines_of(app)[-3:] == ["lookup 85.6 %", "reader 92.0 %", "ceiling 95.8 %"]
    assert "best public figure 40.4 %, lookup 85.6 %, reader 92.0 %" in said(app)
    assert "it gets 97.8 % of the nine tenths right that it is surest of" in said(app)
    assert "Self-taught" not in said(app)


def test_without_a_reader_no_line_and_no_word_speaks_of_it(
    put_course: Put, open_card: Open, said: Said
):
    put_course(correct=410)
    app = open_card()
    assert lines_of(app)[-2:] == ["lookup 85.6 %", "ceiling 95.8 %"]
    assert "reader" not in said(app)
    assert HEADING not in [box.label for box in app.expander]
    assert not app.error


def test_a_self_taught_row_says_what_it_was_given_and_what_not(
    put_course: Put, reader: Path, open_card: Open, said: Said
):
    put_course("before", 400)
    counts = {"read": 1200, "sure": 900, "practised": 900}
    half = {**counts, "practised": 450}
    put_course("taught", 450, recipe={"self_taught": 1.0}, self_taught=counts)
    put_course("half_taught", 430, recipe={"self_taught": 0.5}, self_taught=half)
    app = open_card()
    assert "Rotary, pieces, self-taught: 90.0 % of dev right" in said(app).replace("\u00a0", " ")
    assert "[rotary, pieces, self-taught (taught)](attention?checkpoint=taught)" in said(app)
    assert "[rotary, pieces](attention?checkpoint=before)" in said(app)
    assert alts(app)[0].endswith(
        "rotary, pieces, self-taught (taught)  90.0 %, rotary, pieces, self-taught (half_taught)  "
        "86.0 %, rotary, pieces  80.0 %"
    )
    assert "a reader, 3 small networks trained on the training questions alone, read" in said(app)
    assert (
        "practised of those it was sure of (taught 900 of 1,200; half_taught 450 of 1,200, 50.0 % "
        "of the sure ones). No dev or test answer was given to either."
    ) in said(app)
    assert "never asked about in training, unless by a self-taught model itself." in said(app)


def test_what_a_self_taught_row_was_given_is_told_without_any_figure_too(
    put_course: Put, open_card: Open, said: Said
):
    put_course("taught", 450, recipe={"self_taught": 1.0})
    text = said(open_card())
    assert "a reader, trained on the training questions alone, read" in text
    assert "practised those it was sure of. No dev or test answer was given to either." in text


def test_what_its_own_questions_buy_is_drawn(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    put_course()
    (card_tables / "self_taught.json").write_text(json.dumps(RUNS), encoding="utf-8")
    app = open_card()
    assert TITLE in alts(app)
    (box,) = [box for box in app.expander if box.label == HEADING]
    assert len(box.get("vega_lite_chart")) == 1
    assert "**all *of* them**: all that were kept (1,234 steps, 3,116,032 param" in said(app)
    assert r"all \*of\* them" in "".join(element.value for element in box.markdown)


@pytest.mark.parametrize("name", ["reader.json", "self_taught.json"])
def test_a_broken_table_of_the_reader_is_named_and_spares_the_rows(
    put_course: Put, card_tables: Path, open_card: Open, name: str
):
    put_course(correct=410)
    (card_tables / name).write_text("{}", encoding="utf-8")
    app = open_card()
    (error,) = app.error
    assert f"{name}: not the " in error.value.replace("\\", "")
    assert alts(app)[0].endswith("rotary, pieces  82.0 %")


def test_runs_of_as_many_steps_are_called_so(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    put_course()
    table = json.dumps({**RUNS, "minutes": None})
    (card_tables / "self_taught.json").write_text(table, encoding="utf-8")
    assert TITLE.replace("10 minutes", "1,234 steps") in alts(open_card())
