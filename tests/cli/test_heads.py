"""`heads`: one row a head, in JSON and in text; what cannot be measured is one line."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import content_hash
from core.checkpoints.store import load_checkpoint
from core.cli.heads import KEYS
from core.data.people import load_people, questions_of
from core.inspection.head_record import load_record
from core.inspection.head_table import measure_heads, prepare

Run = Callable[..., Any]


@pytest.mark.parametrize("split", ["dev", "held-out", "train", "test"])
def test_heads_reports_one_row_a_head_beside_the_accuracy_of_all(
    run: Run, trained: Path, split: str
):
    report = run("heads", "--checkpoint", trained, "--split", split, "--json").report
    assert set(report) == {
        *("checkpoint", "split", "total", "mode", "accuracy", "heads", "rank_agreement"),
        "together",
    }
    assert (report["checkpoint"], report["split"], report["mode"]) == ("trained", split, "zero")
    assert [(row["layer"], row["head"]) for row in report["heads"]] == [(0, 0), (0, 1)]
    assert all(set(row) == {*KEYS} for row in report["heads"])
    evaluated = run("evaluate", "--checkpoint", trained, "--split", split, "--json").report
    assert (report["accuracy"], report["total"]) == (evaluated["accuracy"], evaluated["total"])


def test_the_rows_are_those_of_the_table(run: Run, trained: Path, people_file: Path):
    report = run("heads", "--checkpoint", trained, "--json").report
    stored = load_checkpoint(trained)
    asked = questions_of(load_people(people_file), "dev")
    table = measure_heads(stored, prepare(stored, asked))
    for shown, row in zip(report["heads"], table.rows, strict=True):
        for key in KEYS:
            assert shown[key] == pytest.approx(getattr(row, key))
    assert report["rank_agreement"] == dict.fromkeys(table.agreement)  # two heads have no order


def test_heads_may_be_replaced_by_their_means_over_the_dev_questions(run: Run, trained: Path):
    arguments = ("heads", "--checkpoint", trained, "--split", "held-out", "--mode", "mean")
    report = run(*arguments, "--json").report
    zero = run(*arguments[:-1], "zero", "--json").report
    assert (report["mode"], report["accuracy"]) == ("mean", zero["accuracy"])
    for one, other in zip(report["heads"], zero["heads"], strict=True):
        assert one["attribution"] == other["attribution"]
    assert "gives its mean over the dev questions" in run(*arguments).out


def test_in_text_the_head_that_matters_most_comes_first(run: Run, trained: Path):
    out = run("heads", "--checkpoint", trained).out.splitlines()
    assert out[0].startswith("trained, dev: ")
    assert out[0].endswith("a head that is off gives zero")
    assert out[1].split("  ")[0] == "head"
    assert {line.split()[0] for line in out[2:4]} == {"L0·H0", "L0·H1"}
    assert re.fullmatch(r"those that matter most, off together \(L0·H[01]\): .*%", out[4])
    assert re.fullmatch(r"those that matter least, off together \(L0·H[01]\): .*%", out[5])
    assert out[6] == (
        "rank agreement (Spearman): weight on name, contribution: not defined; "
        "weight on name, effect: not defined; contribution, effect: not defined"
    )
    assert len(out) == 7


def test_a_record_holds_both_modes_and_belongs_to_its_weights(run: Run, trained: Path):
    arguments = ("heads", "--checkpoint", trained, "--json")
    plain, report = run(*arguments).report, run(*arguments, "--record").report
    assert report == plain
    record = load_record(trained, "dev", content_hash(trained))
    assert record is not None
    assert (record.checkpoint, record.split) == ("trained", "dev")
    assert "torch" in record.machine
    for mode in ("zero", "mean"):
        shown = run(*arguments, "--mode", mode).report
        table = record.tables[mode]
        without = [row["accuracy_without"] for row in shown["heads"]]
        assert [row.accuracy_without for row in table.rows] == without
        assert shown["together"]["most"]["accuracy_without"] == table.most.accuracy_without
    assert run("ask", "Who?", "--checkpoint", trained, "--json").report  # the card still fits


def test_nothing_is_written_unless_it_is_asked_for(run: Run, trained: Path):
    before = sorted(trained.iterdir())
    run("heads", "--checkpoint", trained)
    assert sorted(trained.iterdir()) == before
    run("heads", "--checkpoint", trained, "--split", "held-out", "--record")
    (added,) = set(trained.iterdir()) - {*before}
    assert added.name == "heads-held-out.json"


@pytest.mark.parametrize("typed", ["L0·H1", "L0H1", "l0.h1"])
def test_a_chosen_set_goes_off_together(run: Run, trained: Path, typed: str):
    report = run("heads", "--checkpoint", trained, "--off", typed, "L0H0", "--json").report
    assert report["off"] == ["L0·H0", "L0·H1"]
    assert (report["split"], report["mode"]) == ("dev", "zero")
    alone = run("heads", "--checkpoint", trained, "--off", typed, "--json").report
    table = run("heads", "--checkpoint", trained, "--json").report
    assert alone["accuracy"] == table["accuracy"]
    assert alone["accuracy_without"] == table["heads"][1]["accuracy_without"]
    assert 0 <= alone["changed"] <= alone["total"] == table["total"]
    line = run("heads", "--checkpoint", trained, "--off", typed, "--mode", "mean").out
    assert "without L0·H1 (mean in their place)" in line
    assert line.count("\n") == 1


def test_progress_goes_to_a_terminal_only(run: Run, trained: Path, monkeypatch: pytest.MonkeyPatch):
    assert run("heads", "--checkpoint", trained).err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    outcome = run("heads", "--checkpoint", trained, "--json")
    assert outcome.err == "\r1 of 2 heads\r2 of 2 heads\n"
    assert len(outcome.report["heads"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--checkpoint", "nowhere"], "there is no checkpoint 'nowhere'"),
        (["--split", "all"], "argument --split: invalid choice: 'all'"),
        (["--mode", "half"], "argument --mode: invalid choice: 'half'"),
        (["--off", "first"], "'FIRST' is not a head such as L0·H3"),
    ],
)
def test_what_is_not_there_is_one_line_and_status_2(run: Run, arguments: list[str], message: str):
    outcome = run("heads", *arguments)
    assert message in outcome.error
    assert outcome.err.count("\n") == 1
