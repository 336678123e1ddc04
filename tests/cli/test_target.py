"""`--target`: what a decoder beside an encoder is given, and how likely each of its tokens is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.inspection.trace_file import read_trace_file
from tests.models.saved import save_tiny

Run = Callable[..., Any]
SOURCE, TARGET = "w7 w9 w11 w13", "w8 w21"


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny("t5", tmp_path_factory.mktemp("models") / "t5")


def test_ask_says_that_the_target_was_given_and_how_likely_each_token_is(run: Run, t5: Path):
    asked = ("ask", "--checkpoint", t5, SOURCE, "--target", TARGET)
    report = run(*asked, "--json").report
    assert list(report)[-2:] == ["teacher_forced", "steps"]
    assert (report["answer"], report["teacher_forced"]) == (TARGET, True)
    first, second = report["steps"]
    assert (first["token"], second["token"]) == ("w8", "w21")
    likely = first["probability"] * second["probability"]
    assert report["probability"] == pytest.approx(likely)
    said, how, *tokens = run(*asked).out.splitlines()
    assert said == TARGET
    assert how.endswith(" of this target, which was given and not written")
    assert [line.split(":")[0] for line in tokens] == ["w8", "w21"]
    assert all("; next best w" in line for line in tokens)


def test_trace_says_so_and_its_files_do(run: Run, t5: Path, tmp_path: Path):
    asked = ("trace", "--checkpoint", t5, SOURCE, "--target", TARGET)
    report = run(*asked, "--json", "--out", tmp_path / "x.trace").report
    assert report["teacher_forced"] is True
    assert report["tokens"][-2:] == ["w8", "w21"]
    found = read_trace_file(tmp_path / "x.trace").trace
    assert (found.teacher_forced, found.answer) == (True, TARGET)
    plain = run(*asked, "--out", tmp_path / "x.json")
    assert " of this target, which was given and not written; 6 layers" in plain.out
    assert json.loads((tmp_path / "x.json").read_text())["teacher_forced"] is True


def test_without_a_target_nothing_is_said_of_one(run: Run, t5: Path):
    for verb in ("ask", "trace"):
        asked = (verb, "--checkpoint", t5, SOURCE, "--tokens", "3")
        assert not {"teacher_forced", "steps"} & set(run(*asked, "--json").report)
        assert "target" not in run(*asked).out


def test_a_target_in_decomposed_letters_is_composed_and_that_is_said(run: Run, t5: Path):
    outcome = run("ask", "--checkpoint", t5, "--json", SOURCE, "--target", "u\u0308")
    assert outcome.report["answer"] == "\u00fc"
    assert outcome.err.startswith("typed with letters and accents apart")


def test_a_model_without_a_source_refuses_a_target_in_one_line(
    run: Run, t5: Path, trained: Path, tmp_path: Path
):
    question = "Where was Ada Arden born?"
    for verb in ("ask", "trace"):
        refused = run(verb, "--checkpoint", trained, question, "--target", TARGET)
        assert refused.error.startswith("error: this model has no target: it reads one text")
    empty = run("ask", "--checkpoint", t5, SOURCE, "--target", " ")
    assert empty.error.startswith("error: the target is empty: type one")
