"""`speech evaluate`: the object that is promised, the file beside the weights, refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import content_hash
from core.evaluation import heard
from core.speech.record import figures_dict, load_speech, speech_file
from tests.recognised import plan, real_of, save_recogniser, whisper

Run = Callable[..., Any]
KEYS = "n character_error word_error exact jaccard cosine damerau_levenshtein baselines".split()


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    monkeypatch.setattr(heard, "planned", plan)
    monkeypatch.setattr(heard, "speak", whisper)
    monkeypatch.setattr(heard, "measured_real", real_of)
    monkeypatch.setattr(heard, "spoken_folder", lambda: tmp_path / "spoken")


@pytest.fixture
def recogniser(tmp_path) -> Path:
    return save_recogniser(tmp_path / "tiny-speech")


@pytest.mark.parametrize(("voices", "n"), [("trained", 6), ("new", 6), ("real", 4)])
def test_the_object_has_the_promised_keys_first(run: Run, recogniser: Path, voices: str, n: int):
    report = run(
        "speech", "evaluate", "--checkpoint", recogniser, "--voices", voices, "--json"
    ).report
    assert [*report][:8] == KEYS
    assert (report["n"], report["voices"], report["checkpoint"]) == (n, voices, "tiny-speech")
    assert report["character_error_low"] <= report["character_error"]
    assert (report["name_error"] is None) == (voices == "real")
    assert not speech_file(recogniser).exists()


def test_voices_of_training_are_measured_unless_others_are_told(run: Run, recogniser: Path):
    report = run("speech", "evaluate", "--checkpoint", recogniser, "--json").report
    assert report["voices"] == "trained"


def test_a_record_holds_all_three_and_is_what_is_printed(run: Run, recogniser: Path):
    report = run("speech", "evaluate", "--checkpoint", recogniser, "--record", "--json").report
    found = load_speech(recogniser, content_hash(recogniser))
    assert list(found or ()) == ["trained", "new", "real"]
    assert json.loads(json.dumps(figures_dict((found or {})["trained"]))) == report


def test_one_row_is_measured_anew_and_the_others_stay(run: Run, recogniser: Path):
    run("speech", "evaluate", "--checkpoint", recogniser, "--record")
    before = load_speech(recogniser, content_hash(recogniser))
    run("speech", "evaluate", "--checkpoint", recogniser, "--voices", "new", "--record")
    assert load_speech(recogniser, content_hash(recogniser)) == before


def test_without_the_real_voice_the_others_are_recorded_and_it_is_said(
    run: Run, recogniser: Path, monkeypatch: pytest.MonkeyPatch
):
    def missing():
        raise ValueError("no real voice here")

    monkeypatch.setattr(heard, "measured_real", missing)
    done = run("speech", "evaluate", "--checkpoint", recogniser, "--record")
    assert done.status == 0
    assert "left out: no real voice here" in done.err
    assert list(load_speech(recogniser, content_hash(recogniser)) or ()) == ["trained", "new"]
    refused = run("speech", "evaluate", "--checkpoint", recogniser, "--voices", "real")
    assert refused.error == "error: no real voice here"


def test_the_text_says_errors_and_what_needs_no_recogniser(run: Run, recogniser: Path):
    done = run("speech", "evaluate", "--checkpoint", recogniser, "--record")
    assert done.status == 0
    for part in (
        "tiny-speech: 6 sentences of voices of training about 3 people never spoken of in training",
        "tiny-speech: 4 sentences of a real voice, 3 different texts",
        "character error",
        "in names",
        "1.000: the right letters in random order",
    ):
        assert part in done.out


def test_a_model_that_reads_texts_is_refused_before_anything_is_spoken(
    run: Run, saved: Path, monkeypatch: pytest.MonkeyPatch
):
    def speak(_text, _voice):
        raise AssertionError("spoken for nothing")

    monkeypatch.setattr(heard, "speak", speak)
    refused = run("speech", "evaluate", "--checkpoint", saved)
    assert refused.error == "error: tiny reads texts: it hears nothing"


@pytest.mark.parametrize("words", [["speech"], ["speech", "evaluate", "--voices", "loud"]])
def test_other_words_are_refused_in_one_line(run: Run, words: list[str]):
    refused = run(*words)
    assert refused.status == 2
    assert refused.err.startswith("error: ")
