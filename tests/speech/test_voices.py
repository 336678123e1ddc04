"""Voices: what they may be, that the same is spoken again, what is said where there are none."""

import random
import shutil

import numpy as np
import pytest

from core.speech import voices
from core.speech.sound import RATE
from core.speech.voices import NEW, TRAINED, Voice, drawn_voice, speak, version, why_silent

spoken = pytest.mark.skipif(
    shutil.which(voices.PROGRAM) is None, reason="espeak-ng is not installed here"
)


def test_there_are_eight_voices_or_more_and_new_ones_are_none_of_them():
    assert len(set(TRAINED)) >= 8
    assert len(set(NEW)) == 2
    assert not set(NEW) & set(TRAINED)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"name": "de"}, "voice 'de'; voices: en-gb, "),
        ({"speed": 5}, "5 words a minute: 80 to 400 are possible"),
        ({"pitch": 100}, "pitch 100: 0 to 99 are possible"),
    ],
)
def test_a_voice_that_is_none_is_refused(wrong: dict, match: str):
    with pytest.raises(ValueError, match=match):
        Voice(**wrong)


def test_drawn_voices_are_the_generator_s():
    one, other = (drawn_voice(TRAINED, random.Random(4)) for _ in range(2))
    assert one == other
    assert len({drawn_voice(TRAINED, random.Random(i)).name for i in range(80)}) == len(TRAINED)


@spoken
def test_a_text_is_spoken_and_the_same_again():
    voice = Voice(name="en-us+f2", speed=170, pitch=40)
    one, other = (speak("where was ada lovelace born?", voice) for _ in range(2))
    assert 0.8 * RATE < len(one) < 5 * RATE
    assert np.abs(one).max() > 0.05
    np.testing.assert_array_equal(one, other)
    assert version().startswith("espeak-ng 1.")


@spoken
def test_a_text_is_no_option_and_no_command():
    assert len(speak("--help; rm -rf / $(ls)", Voice())) > RATE / 2


@pytest.mark.parametrize("text", ["", "   ", "a" * 201])
def test_what_is_no_sentence_is_refused(text: str):
    with pytest.raises(ValueError, match="characters to speak: 1 to 200 are needed"):
        speak(text, Voice())


def test_without_the_program_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(voices.shutil, "which", lambda _: None)
    voices._found.cache_clear()
    assert why_silent() == "espeak-ng is not installed: on Debian, apt-get install espeak-ng"
    with pytest.raises(ValueError, match="espeak-ng is not installed"):
        speak("hello", Voice())


def test_a_program_that_fails_or_gives_no_sound_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(voices, "_found", lambda: shutil.which("false"))
    with pytest.raises(ValueError, match="espeak-ng failed"):
        speak("hello", Voice())
    monkeypatch.setattr(voices, "_found", lambda: shutil.which("true"))
    with pytest.raises(ValueError, match="espeak-ng gave no sound for 'hello'"):
        speak("hello", Voice())
