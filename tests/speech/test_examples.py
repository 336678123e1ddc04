"""Sounds that are shipped: about people never spoken in training, small, and read strictly."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from core.data.people import load_people
from core.paths import PEOPLE, SOUNDS
from core.speech.examples import INDEX, load_examples, load_sound, save_examples
from core.speech.sentences import QUESTION, plain, split_people
from core.speech.sound import RATE
from core.speech.voices import NEW, TRAINED, version, why_silent

MOST_BYTES = 1_000_000


def test_twenty_sounds_are_shipped_and_are_small():
    shelf = load_examples()
    assert len(shelf.sounds) == 20
    assert shelf.version.startswith("espeak-ng ")
    assert {path.stem for path in SOUNDS.glob("*.wav")} == {one.name for one in shelf.sounds}
    assert sum(path.stat().st_size for path in SOUNDS.iterdir()) < MOST_BYTES
    for one in shelf.sounds:
        assert RATE / 2 <= len(load_sound(one)) < 5 * RATE


def test_questions_are_about_people_who_were_never_spoken_in_training():
    dev = {person.name for person in split_people(load_people(PEOPLE), 0)["dev"]}
    asked = [one for one in load_examples().sounds if one.person]
    assert {one.person for one in asked} <= dev
    assert {one.text for one in asked} == {plain(QUESTION.format(name=p.person)) for p in asked}


def test_voices_of_training_and_both_new_ones_speak():
    spoken = {one.voice.name for one in load_examples().sounds if one.voice}
    assert {*NEW} <= spoken
    assert len(spoken & {*TRAINED}) >= 6


def test_silence_is_silent_and_what_has_no_right_text_says_so():
    shelf = load_examples()
    assert not load_sound(shelf.named("silence")).any()
    assert np.std(load_sound(shelf.named("noise"))) == pytest.approx(0.1, abs=0.005)
    assert shelf.named("noise").text == ""
    assert {one.name for one in shelf.sounds if one.text is None} == {"two-at-once", "backwards"}


def test_the_pause_lies_inside_of_its_question():
    quiet = np.abs(load_sound(load_examples().named("pause"))) < 1e-4
    edges = np.flatnonzero(np.diff(quiet.astype(int)))
    assert max(np.diff(edges)) > RATE


def test_a_name_that_no_sound_has_is_refused():
    with pytest.raises(ValueError, match="no sound 'nobody'; sounds: alfred-hitchcock"):
        load_examples().named("nobody")


def test_what_is_written_is_read_again(tmp_path: Path):
    shelf = load_examples()
    one, samples = shelf.sounds[0], np.linspace(-1, 1, RATE, dtype=np.float32)
    save_examples(tmp_path, "espeak-ng 9", [(one, samples)])
    again = load_examples(tmp_path)
    assert again.sounds == (one,)
    assert np.abs(load_sound(one, tmp_path) - samples).max() < 1e-4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sounds": []}, "0 sounds; 1 to 40"),
        ({"sounds": {}}, "version and a list of sounds"),
        ({"version": 3}, "version and a list of sounds"),
        ({"more": 1}, "version and a list of sounds"),
        ({"sounds": [3]}, "a sound is 3, an object is needed"),
        ({"sounds": [{"name": "a"}]}, "missing keys: title, kind, text, person, voice"),
    ],
)
def test_another_form_is_refused(tmp_path: Path, change: dict[str, object], message: str):
    whole = json.loads((SOUNDS / INDEX).read_text())
    (tmp_path / INDEX).write_text(json.dumps(whole | change))
    with pytest.raises(ValueError, match=message):
        load_examples(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "../evil"}, "small letters, figures and hyphens"),
        ({"kind": "song"}, "one of question, hard, nothing is needed"),
        ({"voice": {"name": "de", "speed": 100, "pitch": 5}}, "voice 'de'"),
        ({"voice": "en-gb"}, "an object is needed"),
        ({"text": 3}, "text is 3"),
    ],
)
def test_a_row_of_another_form_is_refused(tmp_path: Path, change: dict[str, object], message: str):
    whole = json.loads((SOUNDS / INDEX).read_text())
    whole["sounds"][0] |= change
    (tmp_path / INDEX).write_text(json.dumps(whole))
    with pytest.raises(ValueError, match=message):
        load_examples(tmp_path)


def test_two_sounds_of_one_name_are_refused(tmp_path: Path):
    whole = json.loads((SOUNDS / INDEX).read_text())
    whole["sounds"][1]["name"] = whole["sounds"][0]["name"]
    (tmp_path / INDEX).write_text(json.dumps(whole))
    with pytest.raises(ValueError, match="of different names"):
        load_examples(tmp_path)


def test_the_script_makes_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if why_silent() or version() != load_examples().version:
        pytest.skip(f"needs {load_examples().version}: another version speaks otherwise")
    spec = importlib.util.spec_from_file_location("make_sounds", SOUNDS.parent / "make_sounds.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "SOUNDS", tmp_path / "sounds")
    script.main()
    made = {path.name: path.read_bytes() for path in (tmp_path / "sounds").iterdir()}
    assert made == {path.name: path.read_bytes() for path in SOUNDS.iterdir()}
