"""`repeated`: one JSON object, or a table; what cannot be measured is one line."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import content_hash
from core.checkpoints.store import load_checkpoint
from core.inspection.repeated import measure_repeated
from core.inspection.repeated_record import load_repeated, repeated_dict
from core.paths import CHECKPOINTS

Run = Callable[..., Any]
FEW = ("--sequences", "3")


def test_the_object_is_the_whole_result(run: Run, trained: Path):
    report = run("repeated", "--checkpoint", trained, *FEW, "--seed", "2", "--json").report
    assert report == repeated_dict(
        measure_repeated(load_checkpoint(trained), n_sequences=3, seed=2)
    )
    assert set(report) == {
        *("checkpoint", "mechanism", "sequences", "tokens", "seed", "begin", "ordinary_tokens"),
        *("chance", "heads", "losses"),
    }
    assert [(row["layer"], row["head"]) for row in report["heads"]] == [(0, 0), (0, 1)]
    assert [draw["seed"] for draw in report["losses"]["draws"]] == list(range(3, 23))
    assert re.fullmatch("L0·H[01]", report["losses"]["best"][0])
    assert run("repeated", "--checkpoint", trained, "--json").report["sequences"] == 50


def test_in_text_the_best_head_for_induction_comes_first_and_the_losses_last(
    run: Run, trained: Path
):
    report = run("repeated", "--checkpoint", trained, *FEW, "--json").report
    out = run("repeated", "--checkpoint", trained, *FEW).out.splitlines()
    assert out[0].startswith("trained: 3 sequences of 25 random tokens said twice, seed 0; ")
    assert out[1].split()[:3] == ["head", "previous", "token"]
    ranked = sorted(report["heads"], key=lambda row: -row["induction"]["weight"])
    names = [f"L{row['layer']}·H{row['head']}" for row in ranked]
    assert [line.split()[0] for line in out[2:4]] == names
    assert out[6] == "induction: no head does it (at least 0.3, and twice uniform)"
    assert out[7].startswith("nats a token (95 % interval over sequences): ")
    assert re.fullmatch(r"  first half: [\d.]+ \([\d.]+ to [\d.]+\)", out[8])
    assert f"without the 1 best for induction ({names[0]})" in out[10]
    assert "without 1 random heads (20 draws, seeds 1 to 20)" in out[11]
    assert len(out) == 13


def test_a_token_can_stand_in_front(run: Run, trained: Path):
    outcome = run("repeated", "--checkpoint", trained, *FEW, "--begin", "7")
    assert "said twice behind token 7, seed 0" in outcome.out
    report = run("repeated", "--checkpoint", trained, *FEW, "--begin", "7", "--json").report
    assert report["begin"] == 7


def test_a_record_belongs_to_its_weights_and_is_written_only_if_asked_for(run: Run, trained: Path):
    before = sorted(trained.iterdir())
    report = run("repeated", "--checkpoint", trained, *FEW, "--json").report
    assert sorted(trained.iterdir()) == before
    assert run("repeated", "--checkpoint", trained, *FEW, "--record", "--json").report == report
    (added,) = set(trained.iterdir()) - {*before}
    assert added.name == "repeated.json"
    record = load_repeated(trained, content_hash(trained))
    assert record is not None
    assert "torch" in record.machine
    assert record.result.losses.second.mean == pytest.approx(
        report["losses"]["second"]["mean"], rel=1e-4
    )
    assert load_repeated(trained, "of other weights") is None


def test_progress_goes_to_a_terminal_only(run: Run, trained: Path, monkeypatch: pytest.MonkeyPatch):
    assert run("repeated", "--checkpoint", trained, *FEW).err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    outcome = run("repeated", "--checkpoint", trained, *FEW, "--json")
    assert outcome.err.startswith("\r1 of 22 passes\r2 of 22 passes")
    assert outcome.err.endswith("\r22 of 22 passes\n")
    assert outcome.report["sequences"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--checkpoint", "nowhere"], "there is no checkpoint 'nowhere'"),
        (["--sequences", "1"], "1 sequences; 2 to 1000 are allowed"),
        (["--sequences", "many"], "argument --sequences: invalid int value: 'many'"),
        (["--seed", "-1"], "seed -1; 0 and more are allowed"),
        (["--begin", "100000"], "100000 is no token of this model: ids are 0 to "),
        (["--checkpoint", CHECKPOINTS / "course-perceiver"], "a Perceiver looks at latents"),
    ],
)
def test_what_cannot_be_measured_is_one_line_and_status_2(
    run: Run, arguments: list[str], message: str
):
    outcome = run("repeated", *arguments)
    assert message in outcome.error
    assert outcome.err.count("\n") == 1
