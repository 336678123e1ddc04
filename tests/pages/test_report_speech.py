"""Recognisers on the report card: their errors, the three similarities, and no figures at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import WEIGHTS
from core.files import sha256
from core.speech.record import SpeechFigures, Voices, save_speech, speech_file
from core.speech.verdict import WITHOUT
from tests.recognised import figures_of

Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]
ATTENTION = ["where was mihai born", "where was ida born"]
LSTM = ["where was mahi bone", "where was adele born"]


@pytest.fixture
def put(card_tables: Path) -> Callable[..., Path]:
    """Figures of a recogniser beside weights that nobody loads."""

    def put_(name: str, heard: list[str], *voices: Voices, weights: str = "") -> Path:
        folder = card_tables.parent / "checkpoints" / name
        folder.mkdir()
        (folder / WEIGHTS).write_bytes(name.encode())
        told: tuple[Voices, ...] = voices or ("trained",)
        rows: dict[Voices, SpeechFigures] = {
            one: figures_of(heard, checkpoint=name, voices=one) for one in told
        }
        save_speech(folder, weights or sha256(folder / WEIGHTS), rows)
        return folder

    return put_


def chart_of(app: AppTest) -> str:
    """The alternative text of the picture of this part; empty where there is none."""
    alts = [chart.proto.alt for chart in app.get("vega_lite_chart")]
    return next((alt for alt in alts if alt.startswith("Four measures")), "")


def test_where_nothing_is_recorded_it_is_said_how_to(open_card: Open, said: Said):
    app = open_card()
    assert "No recogniser of speech is measured yet" in said(app)
    assert "python -m core speech evaluate --checkpoint speech-attention --record" in said(app)
    assert chart_of(app) == ""


def test_errors_stand_with_their_intervals_in_names_and_elsewhere(
    put: Callable[..., Path], open_card: Open, said: Said
):
    put("speech-lstm", LSTM)
    put("speech-attention", ATTENTION, "trained", "real")
    lines = [line for line in said(open_card()).split("\n") if line.startswith("| speech-")]
    assert [line.split(" | ")[:3] for line in lines] == [
        ["| speech-attention", "voices of training", "2"],
        ["| speech-attention", "a real voice", "2"],
        ["| speech-lstm", "voices of training", "2"],
    ]
    assert lines[0].split(" | ")[3:6] == ["**2.6 %** (0.0–5.6)", "12.5 %", "0 %"]
    assert lines[1].split(" | ")[4:6] == ["–", "–"]


def test_each_measure_stands_beside_what_needs_no_recogniser(
    put: Callable[..., Path], open_card: Open
):
    put("speech-lstm", LSTM)
    put("speech-attention", ATTENTION)
    assert chart_of(open_card()) == (
        "Four measures of the same sentences, voices of training: speech-attention, speech-lstm, "
        + ", ".join(WITHOUT.values())
    )


def test_the_question_of_the_homework_is_answered_with_numbers(
    put: Callable[..., Path], open_card: Open, said: Said
):
    put("speech-attention", ATTENTION)
    text = said(open_card())
    assert "Is there a big difference between the three similarities?" in text
    assert "speech-attention reaches 0.95 by Jaccard, 0.97 by cosine, 0.97 by Damerau" in text
    assert "Jaccard −0.05 (most: the right letters in random order, 1.00)" in text
    assert "Damerau–Levenshtein +0.0" in text
    assert "Between speech-attention and" not in text
    put("speech-lstm", LSTM)
    text = said(open_card())
    assert "Between speech-attention and speech-lstm: Jaccard +0." in text
    assert "character error 2.6 % and 18.4 %." in text


def test_other_voices_are_chosen_and_stand_in_the_address(
    put: Callable[..., Path], open_card: Open, address: Callable[[AppTest], dict[str, Any]]
):
    put("speech-attention", ATTENTION, "trained", "new", "real")
    put("speech-lstm", LSTM)
    app = open_card()
    app.button_group(key="card-voices").set_value("real").run()
    assert not app.exception
    assert chart_of(app).startswith("Four measures of the same sentences, a real voice: speech-at")
    assert "speech-lstm" not in chart_of(app)
    assert address(app) == {"card-voices": ["a real voice"]}


def test_figures_that_cannot_be_used_are_named(
    put: Callable[..., Path], open_card: Open, said: Said
):
    put("stale", ATTENTION, weights="others")
    speech_file(put("broken", ATTENTION)).write_text("{", encoding="utf-8")
    app = open_card()
    told = " ".join(warning.value.replace("\\", "") for warning in app.warning)
    assert "stale: speech.json: the weights have changed since it was recorded" in told
    assert "broken: speech.json: not JSON" in told
    assert "No recogniser of speech is measured yet" in said(app)


RUN = {"preset": "", "n_steps": 800, "total": 200, "correct": 4}
HEARING: dict[str, Any] = {
    "minutes": None,
    "seed": 0,
    "machine": "a machine",
    "split": "held-out",
    "runs": [
        {
            **RUN,
            "label": "attention decoder",
            "differs": "all of it",
            "n_parameters": 1514478,
            "character_error": 0.143,
            "character_error_range": [0.131, 0.156],
        },
        {
            **RUN,
            "label": "LSTM, no cross-attention",
            "differs": "the mean of the sound",
            "n_parameters": 1500000,
            "character_error": 0.41,
            "character_error_range": [0.39, 0.43],
        },
    ],
}


def test_what_a_decoder_needs_stands_in_a_table_once_it_was_run(
    put: Callable[..., Path], card_tables: Path, open_card: Open, said: Said
):
    put("speech-attention", ATTENTION)
    assert "What does the decoder need?" not in said(open_card())
    (card_tables / "hearing.json").write_text(json.dumps(HEARING), encoding="utf-8")
    text = said(open_card())
    assert "800 steps each, from the beginning, seed 0; 200 held-out sentences" in text
    rows = [line.split(" | ") for line in text.split("\n") if line.startswith(("| att", "| LSTM"))]
    assert rows[0][2:] == ["1,514,478", "**14.3 %** (13.1–15.6)", "2.0 % |"]
    assert rows[1][3] == "**41.0 %** (39.0–43.0)"


def test_a_table_that_is_none_is_named(
    put: Callable[..., Path], card_tables: Path, open_card: Open, said: Said
):
    put("speech-attention", ATTENTION)
    broken = [{**HEARING["runs"][0], "character_error_range": [0.1]}]
    table = {**HEARING, "runs": broken}
    (card_tables / "hearing.json").write_text(json.dumps(table), encoding="utf-8")
    app = open_card()
    assert "not the result of an ablation" in app.error[0].value
    assert "What does the decoder need?" not in said(app)
