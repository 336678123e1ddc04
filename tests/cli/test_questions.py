"""`heads` and `evaluate` over a question set: with a task and without, as JSON and in words."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import CARD, content_hash
from core.checkpoints.store import asking, load_checkpoint, write_card
from core.cli.heads import KEYS
from core.data.question_file import read_set
from core.data.question_set import RULES
from core.generation.greedy import answer
from core.inspection.head_record import load_record, recorded_sets
from core.inspection.heads import every_head
from core.intervals import wilson_interval

Run = Callable[..., Any]
PROMPTS = ("Ada Arden was born in", "Bruno Bello was born in", "Chen Castro lived in the town of")


@pytest.fixture(params=["with a task", "without"])
def checkpoint(request: pytest.FixtureRequest, trained: Path) -> Path:
    """The trained checkpoint; without a task it is given the prompts alone."""
    if request.param == "without":
        card = json.loads((trained / CARD).read_text(encoding="utf-8"))
        write_card(trained, {**card, "recipe": {**card["recipe"], "kind": "texts"}})
        assert load_checkpoint(trained).task is None
    return trained


@pytest.fixture
def questions(checkpoint: Path, tmp_path: Path) -> Path:
    """Three prompts: the answer to the first is what the model writes there."""
    path = tmp_path / "mine.tsv"
    write_set(path, "Lagos", "Kyoto", "Lima")
    stored = asking(load_checkpoint(checkpoint), read_set(path))
    for _ in range(4):  # an answer of other tokens may have another length
        given = answer(stored, [PROMPTS[0]])[0].text.strip()
        write_set(path, given or "nothing", "Kyoto", "Lima")
        stored = asking(stored, read_set(path))
    return path


def write_set(path: Path, *answers: str) -> None:
    rows = [
        f"{prompt}\t{text}\t{' '.join(prompt.split()[:2])}"
        for prompt, text in zip(PROMPTS, answers, strict=True)
    ]
    path.write_text("\n".join(["prompt\tanswer\tsubject", *rows]) + "\n", encoding="utf-8")


def test_evaluate_counts_by_the_rule_of_the_set_and_lists_every_wrong_answer(
    run: Run, checkpoint: Path, questions: Path
):
    arguments = ("evaluate", "--checkpoint", checkpoint, "--questions", questions)
    report = run(*arguments, "--json").report
    asked = read_set(questions)
    stored = asking(load_checkpoint(checkpoint), asked)
    given = [entry.text for entry in answer(stored, [*PROMPTS])]
    right = [
        text.strip().startswith(str(question.answer))
        for text, question in zip(given, asked.questions, strict=True)
    ]
    assert (report["checkpoint"], report["split"]) == ("trained", "mine")
    assert (report["questions"], report["total"]) == (3, 3)
    assert report["right"] == RULES["first-tokens"]
    assert report["correct"] == sum(right)
    assert report["interval_95"] == list(wilson_interval(sum(right), 3))
    assert report["wrong"] == [
        {"prompt": question.text, "given": text.strip(), "expected": question.answer}
        for question, text, ok in zip(asked.questions, given, right, strict=True)
        if not ok
    ]
    assert (report["weights_sha256"], report["data_sha256"]) == (
        content_hash(checkpoint),
        asked.digest,
    )
    out = run(*arguments).out.splitlines()
    assert out[0].startswith(f"trained, mine: {sum(right)} of 3 (")
    assert out[1] == f"an answer is {RULES['first-tokens']}"
    assert len(out) == 2 + 3 - sum(right)
    assert all("; right: " in line for line in out[2:])


def test_by_the_exact_rule_all_that_is_written_has_to_be_the_answer(
    run: Run, checkpoint: Path, questions: Path
):
    arguments = ("evaluate", "--checkpoint", checkpoint, "--questions", questions)
    report = run(*arguments, "--right", "exact", "--json").report
    assert report["right"] == RULES["exact"]
    long = answer(load_checkpoint(checkpoint), [*PROMPTS])
    assert [line["given"] for line in report["wrong"]] == [
        entry.text.strip()
        for entry, question in zip(long, read_set(questions).questions, strict=True)
        if entry.text.strip() != question.answer
    ]


def test_predictions_over_a_set_are_one_a_line(
    run: Run, checkpoint: Path, questions: Path, tmp_path: Path
):
    out = tmp_path / "predictions.txt"
    arguments = ("--checkpoint", checkpoint, "--questions", questions, "--predictions", out)
    assert run("evaluate", *arguments).status == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 3


def test_heads_reports_the_rule_and_the_scores_of_every_head(
    run: Run, checkpoint: Path, questions: Path
):
    arguments = ("heads", "--checkpoint", checkpoint, "--questions", questions)
    report = run(*arguments, "--json").report
    assert set(report) == {
        *("checkpoint", "split", "questions", "right", "total", "mode", "accuracy", "heads"),
        *("rank_agreement", "together"),
    }
    assert (report["split"], report["questions"], report["total"]) == ("mine", 3, 3)
    evaluated = run("evaluate", *arguments[1:], "--json").report
    assert report["accuracy"] == evaluated["accuracy"]
    for row in report["heads"]:
        assert set(row) == {*KEYS, "sink_share", "scores", "scores_without_first"}
        assert 0 <= row["sink_share"] <= 1
        assert set(row["scores"]) == set(row["scores_without_first"])
        assert row["weight_on_name"] == pytest.approx(row["scores"]["name"])
    out = run(*arguments).out.splitlines()
    assert out[1] == f"an answer is {RULES['first-tokens']}"
    assert "weight on subject" in out[2]
    assert "surname" not in "".join(out)


def test_heads_off_together_say_the_rule_too(run: Run, checkpoint: Path, questions: Path):
    arguments = ("heads", "--checkpoint", checkpoint, "--questions", questions, "--off", "L0H0")
    report = run(*arguments, "--json").report
    table = run(*arguments[:-2], "--json").report
    assert report["accuracy_without"] == table["heads"][0]["accuracy_without"]
    assert (report["questions"], report["right"]) == (3, RULES["first-tokens"])
    assert run(*arguments).out.splitlines()[1] == f"an answer is {RULES['first-tokens']}"


def test_a_mean_over_a_set_takes_the_place_of_a_head(run: Run, checkpoint: Path, questions: Path):
    out = run("heads", "--checkpoint", checkpoint, "--questions", questions, "--mode", "mean").out
    assert "a head that is off gives its mean over the mine questions" in out


def test_a_record_is_named_by_its_set_and_holds_it(run: Run, checkpoint: Path, questions: Path):
    arguments = ("heads", "--checkpoint", checkpoint, "--questions", questions, "--json")
    plain, recorded = run(*arguments).report, run(*arguments, "--record").report
    assert recorded == plain
    assert (checkpoint / "heads-mine.json").is_file()
    weights, asked = content_hash(checkpoint), read_set(questions)
    record = load_record(checkpoint, "mine", weights)
    assert record is not None
    assert (record.asked, record.data) == (asked, asked.digest)
    assert recorded_sets(checkpoint, weights) == [asked]
    assert recorded_sets(checkpoint, "of other weights") == []
    assert load_record(checkpoint, "dev", weights) is None


def test_a_broken_record_is_no_recorded_set(run: Run, checkpoint: Path, questions: Path):
    arguments = ("--checkpoint", checkpoint, "--questions", questions, "--record")
    assert run("heads", *arguments).status == 0
    path, weights = checkpoint / "heads-mine.json", content_hash(checkpoint)
    whole = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**whole, "set": {**whole["set"], "rule": "near"}}))
    assert recorded_sets(checkpoint, weights) == []
    with pytest.raises(ValueError, match=r"heads-mine.json: rule is 'near'"):
        load_record(checkpoint, "mine", weights)
    path.write_text(json.dumps({**whole, "set": {**whole["set"], "name": "other"}}))
    assert recorded_sets(checkpoint, weights) == []


def test_of_the_strongest_heads_is_said_what_was_measured_and_what_not(
    run: Run, checkpoint: Path, questions: Path
):
    arguments = ("heads", "--checkpoint", checkpoint, "--questions", questions)
    whole = run(*arguments, "--json").report
    report = run(*arguments, "--top", 1, "--json").report
    (measured,) = report["measured"]
    assert (report["not_measured"], report["chosen_by"]) == (1, "direct attribution")
    heads = every_head(load_checkpoint(checkpoint).model.shape)
    assert [(row["layer"], row["head"]) for row in report["heads"]] == heads
    strongest = max(whole["heads"], key=lambda row: abs(row["attribution"]))
    for row, full in zip(report["heads"], whole["heads"], strict=True):
        was_off = row["accuracy_without"] is not None
        assert was_off == (measured == f"L{row['layer']}·H{row['head']}")
        assert was_off == (full == strongest)
        assert {**full, "accuracy_without": row["accuracy_without"]} == row
    out = run(*arguments, "--top", 1).out
    assert "switched off alone were the 1 heads of 2 with the largest direct attribution" in out
    assert "of the other 1 nobody knows here what they are worth" in out


def test_a_shipped_set_is_named_by_its_name(run: Run, trained: Path, tmp_path: Path):
    report = run("evaluate", "--checkpoint", trained, "--questions", "capitals", "--json").report
    assert (report["split"], report["questions"]) == ("capitals", 62)


def test_how_long_it_will_take_is_said_from_the_second_head_on(
    run: Run, checkpoint: Path, questions: Path, monkeypatch: pytest.MonkeyPatch
):
    arguments = ("heads", "--checkpoint", checkpoint, "--questions", questions, "--json")
    err = run(*arguments).err
    said = r"2 heads, each off alone over 3 questions: one takes .* s, all that are left about 0 s"
    assert re.match(said, err)
    assert err.count("\n") == 1
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run(*arguments).err.endswith("\r2 of 2 heads\n")


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("heads", ["--split", "dev"], "in the place of a task's questions: leave out --split"),
        ("evaluate", ["--corpus", "."], "in the place of a task's questions: leave out --corpus"),
        ("heads", ["--right", "near"], "argument --right: invalid choice: 'near'"),
        ("heads", ["--top", "0"], "0 heads: at least one has to be switched off"),
        ("heads", ["--top", "1", "--record"], "a table of every head: leave out --top"),
        ("heads", ["--top", "1", "--off", "L0H0"], "names the heads itself: leave out --top"),
        ("evaluate", ["--record"], "--record is for the questions of a task"),
        ("evaluate", ["--before", "Hm. "], "--before is for the questions of a task"),
    ],
)
def test_what_does_not_go_with_a_set_is_refused(
    run: Run, trained: Path, tmp_path: Path, verb: str, arguments: list[str], message: str
):
    path = tmp_path / "mine.tsv"
    write_set(path, "Lagos", "Kyoto", "Lima")
    outcome = run(verb, "--checkpoint", trained, "--questions", path, *arguments)
    assert message in outcome.error
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--questions", "nowhere.tsv"], "nowhere.tsv: cannot be read (No such file"),
        (["--right", "exact"], "--right is for a question set: name its file with --questions"),
    ],
)
def test_a_set_that_is_not_there_is_one_line(
    run: Run, trained: Path, arguments: list[str], message: str
):
    for verb in ("heads", "evaluate"):
        assert message in run(verb, "--checkpoint", trained, *arguments).error


def test_without_a_task_a_set_is_asked_for(run: Run, trained: Path):
    card = json.loads((trained / CARD).read_text(encoding="utf-8"))
    write_card(trained, {**card, "recipe": {**card["recipe"], "kind": "texts"}})
    error = run("heads", "--checkpoint", trained).error
    assert error.endswith("name a question set with --questions FILE")
