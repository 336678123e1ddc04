"""Recorded figures of recognisers: whole, of other weights, broken, without weights."""

import json

import pytest

from core.checkpoints.shelf import CARD, WEIGHTS
from core.evaluation.report_card import STALE
from core.evaluation.speech_rows import load_speech_rows
from core.files import sha256
from core.speech.record import save_speech, speech_file
from tests.recognised import figures_of

RIGHT = ["where was mihai born", "where was ada born"]
WRONG = ["where was mahi born", "where was adele born"]


@pytest.fixture
def put(tmp_path):
    def put_(name, heard, **changes):
        folder = tmp_path / name
        folder.mkdir()
        (folder / WEIGHTS).write_bytes(name.encode())
        weights = changes.get("weights", sha256(folder / WEIGHTS))
        save_speech(folder, weights, {"trained": figures_of(heard, checkpoint=name)})
        return folder

    return put_


def test_the_fewest_errors_come_first(put, tmp_path):
    put("a", WRONG)
    put("b", RIGHT)
    (tmp_path / "c").mkdir()
    found = load_speech_rows(tmp_path)
    assert [row.name for row in found] == ["b", "a"]
    assert found[1].figures["trained"] == figures_of(WRONG, checkpoint="a")
    assert not any(row.problem for row in found)


def test_figures_of_other_weights_are_said_to_be_stale(put, tmp_path):
    put("a", RIGHT, weights="others")
    put("b", WRONG)
    found = load_speech_rows(tmp_path)
    assert [(row.name, row.problem) for row in found] == [("b", ""), ("a", f"speech.json: {STALE}")]
    assert found[1].figures == {}


def test_without_weights_those_of_the_card_count(put, tmp_path):
    folder = put("a", RIGHT)
    card = {"files": {WEIGHTS: sha256(folder / WEIGHTS)}}
    (folder / WEIGHTS).unlink()
    (folder / CARD).write_text(json.dumps(card))
    (row,) = load_speech_rows(tmp_path)
    assert [*row.figures] == ["trained"]
    (folder / CARD).write_text("{}")
    (row,) = load_speech_rows(tmp_path)
    assert row.problem == f"speech.json: {STALE}"


@pytest.mark.parametrize(
    ("text", "problem"), [("[]", "a JSON object is needed"), ("{", "not JSON")]
)
def test_a_broken_file_is_named_without_its_folder(put, tmp_path, text, problem):
    speech_file(put("a", RIGHT)).write_text(text)
    (row,) = load_speech_rows(tmp_path)
    assert row.problem.startswith("speech.json: ")
    assert problem in row.problem
