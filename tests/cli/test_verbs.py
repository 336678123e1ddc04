"""Each verb: one JSON object, or text; one line and status 2 for what it cannot use."""

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import LONG, restart_with_quiet_threads
from core.checkpoints.shelf import WEIGHTS, content_hash
from core.cli import verbs
from core.inspection.trace_file import read_trace_file

Run = Callable[..., Any]
QUESTION = "Where was Ada Arden born?"


def test_ask_reports_five_keys_the_last_of_which_is_the_proof(run: Run, trained: Path):
    report = run("ask", "--checkpoint", trained, "--json", QUESTION).report
    assert list(report) == ["question", "answer", "probability", "expected", "proof"]
    assert (report["question"], report["expected"]) == (QUESTION, "Lagos")
    assert 0 < report["probability"] <= 1
    proof = report["proof"]
    assert proof["replay_max_difference"] < 1e-4
    assert proof["row_sum_max_error"] < 1e-5
    assert proof["head_sum_max_error"] < 1e-4
    assert proof["future_exactly_zero"] is proof["same_argmax"] is True


@pytest.mark.parametrize("verb", [("ask", QUESTION), ("evaluate",), ("heads",), ("repeated",)])
def test_a_checkpoint_whose_weights_are_not_shipped_names_the_command_that_trains_them(
    run: Run, trained: Path, verb: tuple[str, ...]
):
    (trained / WEIGHTS).unlink()
    name, *given = verb
    error = run(name, "--checkpoint", trained, *given).error
    assert error.startswith(
        "error: checkpoint trained: its weights are not shipped; train them again with: "
        "python -m core train --preset tiny --steps 10 --seed 0 "
    )


def test_the_number_of_tokens_is_counted_and_odd_ones_are_refused(run: Run, trained: Path):
    asked = ("ask", "--checkpoint", trained, "--json", QUESTION)
    short, longer = (run(*asked, "--tokens", n).report for n in ("1", "40"))
    assert longer["answer"].startswith(short["answer"])
    for odd in ("0", "-1", "ten", "10001", "9" * 50):
        refused = run("ask", "--checkpoint", trained, f"--tokens={odd}", QUESTION)
        assert "is no number of tokens: 1 to 10000 are allowed" in refused.err


def test_a_chat_needs_a_model_that_has_a_template(run: Run, trained: Path):
    refused = run("ask", "--checkpoint", trained, "--chat", QUESTION)
    assert "has no chat template: give it plain text" in refused.err


def _answers(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    traced = verbs.trace_model

    def trace(*of: Any, **told: Any) -> Any:
        return replace(traced(*of, **told), answer=written, probability=0.38)

    monkeypatch.setattr(verbs, "trace_model", trace)


def test_ask_prints_the_answer_alone_on_the_first_line(
    run: Run, trained: Path, monkeypatch: pytest.MonkeyPatch
):
    _answers(monkeypatch, "New York")
    report = run("ask", "--checkpoint", trained, "--json", QUESTION).report
    plain = run("ask", "--checkpoint", trained, QUESTION)
    first, second = plain.out.split("\n", 1)
    assert first == report["answer"] == "New York"
    assert second.startswith("probability ")


@pytest.mark.parametrize("written", ["", " \n"])
def test_an_empty_answer_is_said_aloud_and_stays_empty_in_json(
    run: Run, trained: Path, monkeypatch: pytest.MonkeyPatch, written: str
):
    _answers(monkeypatch, written)
    for verb, rest in (("ask", "probability 0.38, "), ("trace", "1 layers, 2 heads")):
        assert run(verb, "--checkpoint", trained, "--json", QUESTION).report["answer"] == written
        first, second, *_ = run(verb, "--checkpoint", trained, QUESTION).out.split("\n")
        assert first == "(nothing)"
        assert second.startswith(f"the model gives no answer; {rest}")


def test_ask_about_somebody_who_is_not_in_the_table_expects_nothing(run: Run, trained: Path):
    question = "Where was Nobody Atall born?"
    assert run("ask", "--checkpoint", trained, "--json", question).report["expected"] is None
    assert "nobody known to the table" in run("ask", "--checkpoint", trained, question).out


def test_trace_reports_its_proof_and_writes_the_whole_trace(
    run: Run, trained: Path, tmp_path: Path
):
    out = tmp_path / "trace.json"
    report = run("trace", "--checkpoint", trained, "--json", "--out", out, QUESTION).report
    keys = "answer replay_max_difference row_sum_max_error future_exactly_zero dtype n_layers"
    assert {*keys.split(), "n_heads", "tokens"} <= set(report)
    assert report["replay_max_difference"] < 1e-4
    assert (report["n_layers"], report["n_heads"]) == (1, 2)
    assert json.loads(out.read_text())["tokens"] == report["tokens"]


def test_trace_and_ask_give_the_same_answer(run: Run, trained: Path):
    answers = {
        run(verb, "--checkpoint", trained, "--json", QUESTION).report["answer"]
        for verb in ("ask", "trace")
    }
    assert len(answers) == 1


@pytest.mark.parametrize("verb", ["ask", "trace"])
def test_a_question_in_decomposed_letters_is_asked_in_composed_ones_and_said_on_stderr(
    run: Run, trained: Path, tmp_path: Path, verb: str
):
    out = [] if verb == "ask" else ["--out", tmp_path / "trace.json"]
    apart, composed = (
        run(verb, "--checkpoint", trained, "--json", *out, f"Where was {name} born?")
        for name in ("Ada A\u030arden", "Ada \u00c5rden")
    )
    assert apart.report == composed.report
    assert composed.err == ""
    assert apart.err.count("\n") == 1
    assert apart.err.startswith("typed with letters and accents apart; asked in composed letters")
    assert apart.err.endswith(": Where was Ada \u00c5rden born?\n")
    if verb == "ask":
        assert apart.report["question"] == "Where was Ada \u00c5rden born?"


def test_a_person_of_the_table_is_found_in_decomposed_letters(
    run: Run, trained: Path, people_file: Path, monkeypatch: pytest.MonkeyPatch
):
    text = people_file.read_text(encoding="utf-8").replace("Ada Arden", "Ada A\u030arden")
    people_file.write_text(text, encoding="utf-8")
    monkeypatch.setattr("core.cli.verbs.PEOPLE", people_file)
    for name in ("Ada A\u030arden", "Ada \u00c5rden"):
        report = run("ask", "--checkpoint", trained, "--json", f"Where was {name} born?").report
        assert report["expected"] == "Lagos"


def test_what_is_invisible_in_an_argument_stands_as_its_code_point_in_the_error(run: Run):
    assert "unrecognized arguments: a‹U+202E›b" in run("ask", "x", "a\u202eb").error
    assert (
        "there is no checkpoint 'a‹U+FE0F›b'" in run("ask", "--checkpoint", "a\ufe0fb", "x").error
    )


def test_corpus_writes_the_sentences(run: Run, tmp_path: Path):
    out = tmp_path / "corpus.txt"
    report = run("corpus", "--out", out, "--sentences", 3, "--json").report
    assert report == {"out": str(out), "lines": 120}
    assert len(out.read_text(encoding="utf-8").splitlines()) == 120


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "error: the question is empty: type a text"),
        ("Where was " + "Ada " * 100 + "born?", "error: the question has 3"),
        ("Where was ⁇ born?", "error: position 10: .*U\\+2047.* control character"),
    ],
)
@pytest.mark.parametrize("verb", ["ask", "trace"])
def test_a_question_that_cannot_be_asked_is_one_line_and_status_2(
    run: Run, trained: Path, verb: str, question: str, message: str
):
    outcome = run(verb, "--checkpoint", trained, "--json", question)
    assert_one_line(outcome, message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ask", "--checkpoint", "nowhere", QUESTION], "there is no checkpoint 'nowhere'"),
        (["evaluate", "--checkpoint", "nowhere"], "there is no checkpoint 'nowhere'"),
        (["evaluate", "--split", "all"], "argument --split: invalid choice: 'all'"),
        (["ask"], "the following arguments are required: question"),
        (["train", "--preset", "tiny", "--steps", "1"], "--out DIR is needed with --preset"),
        (["train", "--preset", "huge", "--out", "x"], "argument --preset: invalid choice: 'huge'"),
        (["train", "--out", "x"], "one of the arguments --preset --resume is required"),
        (["sing"], "invalid choice: 'sing'"),
        ([], "the following arguments are required: verb"),
        (["corpus", "--out", "x", "--sentences", "99"], "99 sentences a person: 1 to "),
        (["corpus", "--out", "/dev/null/x"], "/dev/null"),
    ],
)
def test_bad_input_is_one_line_and_status_2(run: Run, arguments: list[str], message: str):
    assert_one_line(run(*arguments), message)


def test_a_damaged_checkpoint_is_one_line_and_status_2(run: Run, saved: Path):
    (saved / "model.safetensors").write_bytes(b"")
    assert_one_line(run("ask", "--checkpoint", saved, QUESTION), "is not the file that the card")


def assert_one_line(outcome: Any, message: str) -> None:
    assert outcome.err.count("\n") == 1
    with pytest.raises(ValueError, match=message):
        raise ValueError(outcome.error)


@pytest.mark.skipif(sys.platform != "linux", reason="both settings are those of Linux")
@pytest.mark.parametrize(
    "verb", ["train", "seeds", "ablation", "bench", "evaluate", "heads", "ask"]
)
def test_long_verbs_begin_again_with_threads_that_wait_passively(
    verb: str, monkeypatch: pytest.MonkeyPatch
):
    begun: list[tuple[list[str], str | None]] = []
    monkeypatch.setattr(
        os, "execve", lambda _, words, env: begun.append((words[1:], env.get("OMP_WAIT_POLICY")))
    )
    monkeypatch.setattr(sys, "argv", ["core", verb, "--json"])
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    restart_with_quiet_threads()
    assert begun == ([(["-m", "core", verb, "--json"], "passive")] if verb in LONG else [])
    assert ("ask" in LONG, "seeds" in LONG) == (False, True)
    begun.clear()
    for name, value in (("OMP_WAIT_POLICY", "passive"), ("GLIBC_TUNABLES", "x=1")):
        monkeypatch.setenv(name, value)
    restart_with_quiet_threads()
    assert not begun
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_trace_writes_a_trace_file_by_its_name(run: Run, trained: Path, tmp_path: Path):
    out, all_of_it = tmp_path / "few.trace", tmp_path / "all.trace"
    asked = ("trace", "--checkpoint", trained, "--json", QUESTION)
    whole = run(*asked, "--out", all_of_it, "--vectors").report
    report = run(*asked, "--out", out, "--heads", "L0H1", "--precision", "float16").report
    assert report == whole
    few, found = read_trace_file(out), read_trace_file(all_of_it)
    assert (few.trace.recorded, few.precision) == (((0, 1),), "float16")
    assert found.trace.query is not None
    assert list(few.trace.labels) == list(found.trace.labels) == report["tokens"]
    assert found.trace.proof.replay_max_difference == report["replay_max_difference"]
    assert found.origin.model == "trained"
    assert found.origin.weights == f"sha256 of model.safetensors {content_hash(trained)}"
    assert out.stat().st_size < all_of_it.stat().st_size


@pytest.mark.parametrize(
    "option", [("--heads", "L0H1"), ("--precision", "float16"), ("--vectors",)]
)
def test_what_a_trace_file_keeps_is_no_option_of_another_file(
    run: Run, trained: Path, tmp_path: Path, option: tuple[str, ...]
):
    asked = ("trace", QUESTION, "--checkpoint", trained, *option)
    refused = f"error: {option[0]} goes with a trace file: --out FILE.trace"
    assert run(*asked).error == refused
    assert run(*asked, "--out", tmp_path / "x.json").error == refused
    assert not (tmp_path / "x.json").exists()
    out = ("--out", tmp_path / "x.trace")
    assert "'FIVE' is not a head" in run("trace", QUESTION, "--heads", "five", *out).error
    assert (
        "L0·H9 is not a head of this model"
        in run("trace", QUESTION, "--checkpoint", trained, *out, "--heads", "L0H9").error
    )
