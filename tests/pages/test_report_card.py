"""The report card: its table, its charts, and every state of the files behind it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import WEIGHTS
from core.evaluation.mistakes import KINDS
from core.evaluation.report_card import load_rows
from core.evaluation.tables import load_published
from pages.report_card import charts, pretraining, speech, table

ROOT = Path(__file__).resolve().parents[2]
Put = Callable[..., Path]
Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]


@pytest.fixture
def cells(said: Said) -> Callable[[AppTest], list[list[str]]]:
    """The cells of the report card, without its head."""

    def cells_(app: AppTest) -> list[list[str]]:
        lines = [line for line in said(app).split("\n") if line.startswith("| ")]
        return [line.strip("| ").split(" | ") for line in lines[1:]]

    return cells_


def change(path: Path, **changes: object) -> None:
    content = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    path.write_text(json.dumps(content), encoding="utf-8")


def charts_of(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def test_a_row_says_what_was_measured_on_which_machine_and_what_others_reached(
    put_course: Put, open_card: Open, cells: Callable, said: Said
):
    put_course(correct=410)
    app = open_card()
    assert cells(app)[0] == [
        "[rotary, pieces](attention?checkpoint=course-pieces)",
        "**82.0 %** (78.0–86.0)",
        "3,104,512",
        "yes\u202f²",
        "28 min\u202f¹",
        "40.4 %\u202f³",
        "–",
    ]
    assert "¹ a machine. ² shuffled facts. ³ characters; 41 minutes on a T4 GPU" in said(app)
    assert "Rotary, pieces: 82.0 % of dev right; best public figure 40.4 %, lookup 85.6 %" in (
        said(app)
    )


def test_the_page_says_what_the_task_is(put_course: Put, open_card: Open, said: Said):
    assert "the dev questions are about people never asked about in training" in said(open_card())
    put_course()
    (task,) = [line for line in said(open_card()).split("\n") if line.startswith("Answer “")]
    assert "from memory; only the exact text counts" in task
    assert "the 500 dev questions are about people never asked about in training." in task


def test_what_public_figures_and_reports_are_is_read_from_their_file(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    put_course()
    assert "without pretraining the median" in said(open_card())
    change(card_tables / "published.json", source="Said *elsewhere*.")
    app = open_card()
    assert "Said *elsewhere*." in said(app)
    assert r"\*elsewhere\*" in "".join(element.value for element in app.main.markdown)


def test_points_of_the_chart_carry_the_notes_of_their_figures(put_course: Put, card_tables: Path):
    put_course("pieces", 400, config={"positions": "learned"})
    put_course("scratch", 5, recipe={"phases": [{"questions": 1.0}]})
    rows = load_rows(card_tables.parent / "checkpoints")
    figures = load_published(card_tables / "published.json").figures
    notes = {(label[:3], share): note for label, _, share, note in charts.points(rows, figures)}
    assert notes["no ", 0.014] == "median, not the best"
    assert notes["no ", 0.012] == "report 2"
    assert notes["van", 0.222].startswith("report 2; which positions")
    assert notes["van", 0.318] == "–"


def test_rows_that_answered_other_questions_are_named(
    put_course: Put, open_card: Open, cells: Callable
):
    put_course("best", 400)
    put_course("same", 300)
    assert not open_card().warning
    change(put_course("odd_one", 200) / "evaluation-dev.json", data_sha256="of others")
    change(put_course("odd two", 100) / "evaluation-dev.json", data_sha256="of others")
    app = open_card()
    (warning,) = [warning.value.replace("\\", "") for warning in app.warning]
    assert warning.startswith("Not the same questions: odd_one, odd two answered other dev questi")
    assert "than best, whose constant answer" in warning
    assert [row[0].split("=")[1] for row in cells(app)[:4]] == [
        *("best)", "same)", "odd_one)", "odd%20two)"),
    ]


def test_a_card_without_a_number_where_one_belongs_spares_the_other_rows(
    put_course: Put, open_card: Open, cells: Callable
):
    put_course("odd", n_parameters=["many"])
    put_course("odder", seconds="long")
    put_course("whole")
    app = open_card()
    assert "checkpoint=whole" in cells(app)[0][0]
    assert not [row for row in cells(app) if "checkpoint=odd" in row[0]]
    assert not app.error


def test_columns_per_head_are_not_the_synthesizer_that_others_trained(
    put_course: Put, open_card: Open, cells: Callable
):
    put_course(config={"positions": "learned", "attention": "dense-synthesizer"})
    ours, *others = cells(open_card())
    assert ours[0].startswith("[Synthesizer (per head), pieces]")
    assert ours[-2:] == ["–", "–"]
    assert [row[1] for row in others if row[0] == "Synthesizer"] == ["not trained here"]


def test_variants_of_others_and_the_constant_answer_have_rows_of_their_own(
    put_course: Put, open_card: Open, cells: Callable, said: Said
):
    put_course()
    app = open_card()
    rows = {row[0]: row[1:] for row in cells(app)}
    assert rows["always London"] == ["5.0 %", "–", "–", "–", "–", "5.0 %"]
    without, pretrained = [row for row in cells(app) if row[0] == "vanilla"]
    assert (without[3], without[-1]) == ("no", "1.0 / 1.2 / 1.8 %")
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
    assert any(r"b\&c\|d" in text.value for text in app.main.markdown)


def test_charts_show_accuracy_and_kinds_and_say_it_in_words(put_course: Put, open_card: Open):
    put_course(correct=410)
    put_course("course-scratch", 5, recipe={"phases": [{"questions": 1.0}]})
    app = open_card()
    accuracy, kinds = charts_of(app)
    assert accuracy.endswith(": rotary, pieces  82.0 %, no pretraining  1.0 %")
    assert kinds == "Wrong answers by kind"
    assert [*charts.KINDS] == [*KINDS]
    explained = charts.KINDS_MEAN.lower()
    assert all(f"**{name}**: " in explained for name in charts.KINDS.values())
    assert [info.value for info in app.main.info] == [pretraining.NO_ABLATION]


def test_the_verdict_and_one_picture_stand_first_and_all_else_is_folded(
    put_course: Put, open_card: Open
):
    put_course(correct=410)
    app = open_card()
    boxes = {box.label: box for box in app.expander}
    assert list(boxes) == [
        "All numbers, and what others reached",
        "What does pretraining buy, and which pretraining?",
        "What was practised",
        "How the wrong answers are wrong",
        "One checkpoint: its heads, and how it was trained",
        r"The wrong answers of course\-pieces, one by one",
        speech.TITLE,
    ]
    assert not any(box.proto.expanded for box in boxes.values())
    folded = [chart for box in boxes.values() for chart in box.get("vega_lite_chart")]
    assert len(folded) == len(charts_of(app)) - 1
    assert "| variant |" in boxes["All numbers, and what others reached"].markdown[0].value


def test_without_a_measured_row_the_numbers_of_others_are_unfolded(open_card: Open):
    app = open_card()
    assert [box.proto.expanded for box in app.expander][:1] == [True]


def test_an_empty_shelf_shows_what_others_reached_and_how_to_begin(
    open_card: Open, cells: Callable, said: Said
):
    app = open_card()
    assert app.main.info[0].value == table.EMPTY
    assert app.main.code[0].value == table.EMPTY_COMMANDS
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
    assert [row[1] for row in cells(app)[:3]] == [
        "**60.0 %** (56.0–64.0)",
        "not usable",
        "not usable",
    ]
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
    assert table.duration(seconds) == text
