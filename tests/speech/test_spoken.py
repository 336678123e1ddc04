"""Spoken sentences as a folder: whole or not there, refused when they do not fit."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.data.people import load_people
from core.paths import PEOPLE
from core.speech.features import N_BANDS, log_mel
from core.speech.sentences import Sentence
from core.speech.spoken import FRAMES, SPOKEN, load_spoken, make, planned, settings_of
from core.speech.voices import TRAINED, Voice
from tests.tiny_speech import tone_folder, tones


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tone_folder(tmp_path / "spoken", load_people(PEOPLE))


def test_what_was_spoken_comes_back_sentence_by_sentence(folder: Path):
    spoken = load_spoken(folder)
    assert {s: len(found) for s, found in spoken.utterances.items()} == {
        "train": 8,
        "tune": 4,
        "dev": 8,
        "test": 4,
    }
    one = spoken.utterances["train"][0]
    expected = log_mel(tones(one.sentence.text, one.sentence.voice))
    np.testing.assert_allclose(one.frames, expected, atol=0.01)
    assert one.text == one.sentence.plain
    assert len(spoken.of_voices("dev", TRAINED[:1])) == 4
    assert spoken.minutes > 0


def test_the_digest_is_that_of_what_was_asked_for(folder: Path, tmp_path: Path):
    other = tone_folder(tmp_path / "other", load_people(PEOPLE)[20:])
    assert load_spoken(folder).digest == load_spoken(other).digest  # the settings say so
    data = json.loads((other / SPOKEN).read_text())
    (other / SPOKEN).write_text(json.dumps({**data, "seed": 1}))
    assert load_spoken(folder).digest != load_spoken(other).digest


def test_a_voice_that_fails_leaves_nothing_and_what_was_there_stays(folder: Path):
    before = (folder / SPOKEN).read_bytes()

    def fails(_text: str, _voice: Voice) -> np.ndarray:
        raise ValueError("no voice")

    sentence = Sentence(text="a", voice=Voice(), split="train")
    with pytest.raises(ValueError, match="no voice"):
        make(folder, [sentence], settings={}, speaker=fails)
    assert (folder / SPOKEN).read_bytes() == before
    assert [path.name for path in folder.parent.iterdir()] == ["spoken"]


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds something else: name another folder"):
        make(tmp_path, [], settings={}, speaker=tones)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_nothing_spoken_is_said_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EXPLORER_SPEECH", str(tmp_path))
    with pytest.raises(ValueError, match="nothing is spoken yet in .*core speech make"):
        load_spoken()


def test_files_that_do_not_belong_together_are_refused(folder: Path):
    np.save(folder / FRAMES, np.zeros((3, N_BANDS), np.float16))
    with pytest.raises(ValueError, match="do not belong together; make them anew"):
        load_spoken(folder)


@pytest.mark.parametrize("n", [0, 200_001])
def test_a_number_of_sentences_beyond_all_use_is_refused(n: int):
    with pytest.raises(ValueError, match="sentences of training: 1 to 200,000 are possible"):
        planned(n_train=n)


def test_settings_tell_texts_by_their_digest(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.speech.spoken.version", lambda: "espeak-ng 0")
    one = Sentence(text="a", voice=Voice(), split="train")
    other = Sentence(text="b", voice=Voice(), split="train")
    found = [settings_of([s], n_train=1, seed=0)["sentences_sha256"] for s in (one, other, one)]
    assert found[0] == found[2] != found[1]
