"""The report card: its table, its charts, and every state of the files behind it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.files import WEIGHTS
from core.evaluation.mistakes import KINDS
from pages.report_card import words
from pages.report_card.table import duration

ROOT = Path(__file__).resolve().parents[2]
Put = Callable[..., Path]
Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]
RUN = {"n_steps": 9, "seconds": 600.0, "n_parameters": 5, "total": 200}
ABLATION = {
    "minutes": 10,
    "seed": 0,
    "machine": "a machine",
    "split": "held-out",
    "runs": [
        {**RUN, "label": "base", "differs": "of all others", "correct": 130},
        {**RUN, "label": "span corruption", "differs": "alone *here*", "correct": 31},
    ],
}

RUN_ALONE = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
app = AppTest.from_file(Path("app.py").resolve(), default_timeout=60).run()
app.switch_page("pages/report_card/page.py").run()
assert not app.exception, app.exception[0].value
print("dev accuracy" in app.main.markdown[1].value, "torch" in sys.modules)
"""


@pytest.fixture
def cells(said: Said) -> Callable[[AppTest], list[list[str]]]:
    """The cells of the report card, without its head."""

    def cells_(app: AppTest) -> list[list[str]]:
        lines = [line for line in said(app).split("\n") if line.startswith("| ")]
        return [line.strip("| ").split(" | ") for line in lines[1:]]

    return cells_


def charts_of(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def test_the_page_opens_without_torch(alone: Callable[[str], list[str]]):
    assert alone(RUN_ALONE) == ["True", "False"]


def test_a_row_says_what_was_measured_on_which_machine_and_what_others_reached(
    put_course: Put, open_card: Open, cells: Callable, said: Said
):
    put_course(correct=410)
    app = open_card()
    assert cells(app)[0] == [
        "[rotary, pieces](attention?checkpoint=course-pieces)",
        "**82 %** (78–86)",
        "3,104,512",
        "yes\u202f²",
        "28 min\u202f¹",
        "40.4 %\u202f³",
        "–",
    ]
    assert "¹ a machine. ² shuffled facts. ³ characters; 41 minutes on a T4 GPU" in said(app)
    assert "Rotary, pieces: 82 % of dev right; best public figure 40.4 %, lookup 85.6 %" in (
        said(app)
    )


def test_variants_of_others_and_the_constant_answer_have_rows_of_their_own(
    put_course: Put, open_card: Open, cells: Callable, said: Said
):
    put_course()
    app = open_card()
    rows = {row[0]: row[1:] for row in cells(app)}
    assert rows["always London"] == ["5 %", "–", "–", "–", "–", "5 %"]
    without, pretrained = [row for row in cells(app) if row[0] == "vanilla"]
    assert (without[3], without[-1]) == ("no", "1 / 1.2 / 1.8 %")
    assert pretrained[3] == "yes"
    assert pretrained[-1].startswith("13.8 / 22.2 / 11.8 %")
    assert rows["Synthesizer"][-1].startswith("23.8 %")
    assert "doubtful label" in said(app)


def test_every_row_links_to_its_heads_even_if_its_name_is_odd(
    put_course: Put, open_card: Open, cells: Callable
):
    put_course("e", 20)
    put_course("a b&c|d", 10)
    app = open_card()
    assert [row[0] for row in cells(app)[:2]] == [
        "[rotary, pieces (e)](attention?checkpoint=e)",
        "[rotary, pieces (a b&c|d)](attention?checkpoint=a%20b%26c%7Cd)",
    ]
    assert r"b\&c\|d" in app.main.markdown[1].value


def test_charts_show_accuracy_and_kinds_and_say_it_in_words(put_course: Put, open_card: Open):
    put_course(correct=410)
    put_course("course-scratch", 5, recipe={"phases": [{"questions": 1.0}]})
    app = open_card()
    accuracy, kinds = charts_of(app)
    assert accuracy.endswith(": rotary, pieces  82 %, no pretraining  1 %")
    assert kinds == "Wrong answers by kind"
    assert [*words.KINDS] == [*KINDS]
    assert [info.value for info in app.main.info] == [words.NO_ABLATION]


def test_the_ablation_is_drawn_with_what_differs(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    put_course()
    (card_tables / "ablation.json").write_text(json.dumps(ABLATION), encoding="utf-8")
    app = open_card()
    assert charts_of(app)[1] == "The same 10 minutes, one thing changed at a time"
    assert "**span corruption**: alone *here*" in said(app)
    assert r"alone \*here\*" in "".join(element.value for element in app.main.markdown)
    assert not app.main.info


def test_the_spread_over_seeds_is_told_in_one_sentence(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    put_course()
    assert "Seeds." not in said(open_card())
    table = {
        "preset": "course-*pieces*",
        "minutes": 30,
        "machine": "a machine",
        "split": "dev",
        "runs": [{"seed": 0, "accuracy": 0.8}, {"seed": 1, "accuracy": 0.9}],
    }
    (card_tables / "seeds.json").write_text(json.dumps(table), encoding="utf-8")
    app = open_card()
    assert "for 30 minutes with 2 seeds: 85 % of dev on average, from 80 % to 90 %" in said(app)
    assert r"\*pieces\*" in "".join(element.value for element in app.main.markdown)


def test_an_empty_shelf_shows_what_others_reached_and_how_to_begin(
    open_card: Open, cells: Callable, said: Said
):
    app = open_card()
    assert app.main.info[0].value == words.EMPTY
    assert app.main.code[0].value == words.EMPTY_COMMANDS
    assert ["rotary", "not trained here"] in [row[:2] for row in cells(app)]
    assert not charts_of(app)
    assert not app.selectbox
    assert "best public figure on dev is 40.4 %" in said(app)


def test_an_evaluation_that_nobody_recorded_is_told_in_its_row(
    put_course: Put, open_card: Open, cells: Callable
):
    put_course(correct=None)
    app = open_card()
    assert cells(app)[0][1] == "not recorded yet"
    assert not app.warning
    assert not charts_of(app)


def test_a_stale_or_broken_evaluation_is_named_with_the_command_that_mends_it(
    put_course: Put, open_card: Open, cells: Callable
):
    (put_course("stale one") / WEIGHTS).write_bytes(b"trained again")
    (put_course("broken") / "evaluation-dev.json").write_text("{")
    put_course("whole")
    app = open_card()
    broken, stale = [warning.value.replace("\\", "") for warning in app.warning]
    assert "The evaluation of broken is not shown: evaluation-dev.json: not JSON" in broken
    assert "stale one is not shown: the weights have changed since it was recorded." in stale
    assert "--checkpoint broken --corpus" in app.main.code[0].value
    assert "--checkpoint 'stale one' --corpus" in app.main.code[0].value
    assert [row[1] for row in cells(app)[:3]] == ["**60 %** (56–64)", "not usable", "not usable"]
    assert len(charts_of(app)) == 2


@pytest.mark.parametrize("name", ["published.json", "ablation.json", "seeds.json"])
def test_a_broken_table_is_named(put_course: Put, card_tables: Path, open_card: Open, name: str):
    put_course()
    (card_tables / name).write_text("[]")
    (error,) = open_card().error
    assert f"{name}: a JSON object is needed" in error.value.replace("\\", "")


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "not told"), (71.4, "71 s"), (600, "10 min"), (5824.0, "97 min")]
)
def test_a_duration_is_told_in_seconds_or_minutes(seconds: float | None, text: str):
    assert duration(seconds) == text
