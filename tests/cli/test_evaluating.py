"""`evaluate`: what it reports, records and predicts, on invented people and a tiny course."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import CARD, WEIGHTS
from core.checkpoints.store import Checkpoint, write_card
from core.cli import evaluating
from core.data.corpus import questions_digest
from core.data.course import DEV, TEST, TRAIN, WIKI, load_course
from core.evaluation.mistakes import KINDS
from core.evaluation.report_card import load_rows
from core.files import sha256
from core.generation.greedy import answer

Run = Callable[..., Any]
KEYS = (
    "checkpoint split correct total accuracy interval_95 constant_answer constant_baseline "
    "nearest_name_baseline lookup_baseline ceiling kinds seconds machine weights_sha256 data_sha256"
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A folder of the course's form: three training questions, two of dev, two of test."""
    folder = tmp_path / "course"
    folder.mkdir()
    files = {
        WIKI: "Ada, of Rome.\nBo, of Lima.\nCy, of Rome.\nDi, Rome, Lima.\nEd.\nFi.\nGo.\n",
        TRAIN: "Where was Ada born?\tRome\nWhere was Bo born?\tLima\nWhere was Cy born?\tRome\n",
        DEV: "Where was Di born?\tRome\nWhere was Ed born?\tOslo\n",
        TEST: "Where was Fi born?\nWhere was Go born?\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def of_course(trained: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The trained checkpoint, as if it had been trained on the course's files."""
    card = json.loads((trained / CARD).read_text(encoding="utf-8"))
    write_card(trained, {**card, "recipe": {**card["recipe"], "corpus": "course"}})
    monkeypatch.setattr(evaluating, "countries_of", lambda places: {"Oslo": "NO"})
    return trained


@pytest.mark.parametrize("split", ["train", "held-out", "dev", "test"])
def test_evaluate_reports_result_baselines_and_interval(run: Run, trained: Path, split: str):
    report = run("evaluate", "--checkpoint", trained, "--split", split, "--json").report
    assert set(report) == {*KEYS.split()}
    assert (report["checkpoint"], report["split"]) == ("trained", split)
    assert report["accuracy"] == report["correct"] / report["total"]
    low, high = report["interval_95"]
    assert 0 <= low <= report["accuracy"] <= high <= 1
    assert report["ceiling"] == 1.0
    assert list(report["kinds"]) == [*KINDS]
    assert sum(report["kinds"].values()) == report["total"] - report["correct"]
    assert not (trained / f"evaluation-{split}.json").exists()


@pytest.mark.parametrize("split", ["train", "held-out"])
def test_baselines_never_know_the_questions_that_are_asked(run: Run, trained: Path, split: str):
    report = run("evaluate", "--checkpoint", trained, "--split", split, "--json").report
    assert report["nearest_name_baseline"] < 1.0


def test_the_splits_of_a_table_add_up_to_it(run: Run, trained: Path):
    totals = [
        run("evaluate", "--checkpoint", trained, "--split", split, "--json").report["total"]
        for split in ("train", "held-out", "dev", "test")
    ]
    assert sum(totals) == 40
    assert all(totals)


def test_record_writes_the_figures_of_what_is_stored_into_the_card(run: Run, trained: Path):
    path = trained / CARD
    card = json.loads(path.read_text())
    right = card["figures"]["dev"]
    path.write_text(json.dumps({**card, "figures": {"dev": {"correct": 99}}}))
    run("evaluate", "--checkpoint", trained, "--json")
    assert json.loads(path.read_text())["figures"] == {"dev": {"correct": 99}}
    run("evaluate", "--checkpoint", trained, "--record", "--json")
    assert json.loads(path.read_text())["figures"]["dev"] == right


def test_record_writes_the_very_report_beside_the_weights(
    run: Run, of_course: Path, course: Path, tmp_path: Path
):
    report = run(
        "evaluate", "--checkpoint", of_course, "--corpus", course, "--record", "--json"
    ).report
    assert json.loads((of_course / "evaluation-dev.json").read_text(encoding="utf-8")) == report
    assert report["weights_sha256"] == sha256(of_course / WEIGHTS)
    assert report["data_sha256"] == questions_digest(load_course(course).dev)
    assert (report["constant_answer"], report["constant_baseline"]) == ("Rome", 0.5)
    assert (report["lookup_baseline"], report["ceiling"]) == (0.5, 0.5)
    (row,) = load_rows(tmp_path)
    assert row.measured is not None
    assert row.measured.correct == report["correct"]


def test_what_is_recorded_holds_no_name_and_no_sentence(run: Run, of_course: Path, course: Path):
    run("evaluate", "--checkpoint", of_course, "--corpus", course, "--record", "--json")
    text = (of_course / "evaluation-dev.json").read_text(encoding="utf-8")
    assert "Where was" not in text
    assert "Oslo" not in text
    assert "Di" not in text


def test_a_split_without_answers_is_answered_and_nothing_is_said_of_right_and_wrong(
    run: Run, of_course: Path, course: Path
):
    arguments = ("evaluate", "--checkpoint", of_course, "--corpus", course, "--split", "test")
    report = run(*arguments, "--json").report
    assert set(report) == {*KEYS.split()}
    assert (report["total"], report["constant_answer"]) == (2, "Rome")
    unknown = {name for name, value in report.items() if value is None}
    assert unknown == {*evaluating.MEASURED}
    text = run(*arguments).out
    assert "2 questions answered" in text
    assert "this split comes without answers" in text
    assert "%" not in text


def test_predictions_are_one_answer_a_line_in_the_order_of_the_questions(
    run: Run, of_course: Path, course: Path, tmp_path: Path
):
    path = tmp_path / "test.txt"
    shared = ("--checkpoint", of_course, "--corpus", course, "--split", "test")
    outcome = run("evaluate", *shared, "--predictions", path)
    assert outcome.out.endswith(f"predictions in {path}\n")
    lines = path.read_text(encoding="utf-8").split("\n")
    asked = [
        run("ask", "--checkpoint", of_course, "--json", question.text).report["answer"]
        for question in load_course(course).test
    ]
    assert lines == [*(" ".join(answer.split()) for answer in asked), ""]


def test_a_text_before_every_question_is_read_with_it_and_told(
    run: Run, trained: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []

    def note(checkpoint: Checkpoint, texts: list[str]) -> Any:
        asked.extend(texts)
        return answer(checkpoint, texts)

    monkeypatch.setattr(evaluating, "answer", note)
    report = run("evaluate", "--checkpoint", trained, "--before", "In Ada: ", "--json").report
    assert report["before"] == "In Ada: "
    assert len(asked) == report["total"]
    assert all(text.startswith("In Ada: Where was ") for text in asked)
    plain = run("evaluate", "--checkpoint", trained, "--before", "In Ada: ").out
    assert plain.startswith("trained, dev, each behind 'In Ada: ': ")


def test_a_text_before_in_decomposed_letters_is_composed_and_said_on_stderr(
    run: Run, trained: Path
):
    outcome = run("evaluate", "--checkpoint", trained, "--before", "In Ko\u0308ln: ", "--json")
    assert outcome.report["before"] == "In K\u00f6ln: "
    assert outcome.err.startswith("typed with letters and accents apart")
    assert "letters and accents" not in run("evaluate", "--checkpoint", trained).err


def test_an_answer_with_line_breaks_stays_one_line(
    run: Run, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken(checkpoint: Checkpoint, texts: list[str]) -> list[Any]:
        return [evaluating.Answer("New\n York \t", (), 1.0) for _ in texts]

    monkeypatch.setattr(evaluating, "answer", broken)
    path = tmp_path / "dev.txt"
    report = run("evaluate", "--checkpoint", trained, "--predictions", path, "--json").report
    assert path.read_text(encoding="utf-8") == "New York\n" * report["total"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "test", "--record"], "--record: the test split comes without answers"),
        (["--before", "Say: ", "--record"], "--record is for the questions as they are: leave out"),
        (["--predictions", "/dev/null/x"], "/dev/null"),
    ],
)
def test_what_cannot_be_written_is_one_line_and_status_2(
    run: Run, of_course: Path, course: Path, arguments: list[str], message: str
):
    outcome = run("evaluate", "--checkpoint", of_course, "--corpus", course, *arguments)
    assert message in outcome.error
    assert outcome.err.count("\n") == 1
    assert not list(of_course.glob("evaluation-*.json"))


def test_without_the_course_s_files_their_checkpoints_cannot_be_evaluated(
    run: Run, of_course: Path
):
    outcome = run("evaluate", "--checkpoint", of_course)
    assert "the course's files are not shipped" in outcome.error
