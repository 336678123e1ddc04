import gzip

import numpy as np
import pytest

from core.speech.real import INSTALL, SOUNDS, TEXTS, real_recordings, spoken_text
from core.speech.sound import RATE, read_wav, wav_seconds, write_wav

LINES = """; Sounds

hello: Hello, World.
digits/1: one
menu: Press 1 (softly) to speak
beep: [a beep]
long: A long story.
missing: There is no such file.
../evil: Outside
a line without a name
"""


@pytest.fixture
def folder(tmp_path):
    sounds = tmp_path / "sounds"
    (sounds / "digits").mkdir(parents=True)
    (sounds / TEXTS.name).write_bytes(gzip.compress(LINES.encode()))
    for name, seconds in (
        ("hello", 1.0),
        ("digits/1", 0.5),
        ("menu", 2),
        ("beep", 1),
        ("long", 15.1),
        ("../evil", 1),
    ):
        samples = np.full(int(seconds * RATE), 0.25, np.float32)
        (sounds / f"{name}.wav").write_bytes(write_wav(samples))
    return sounds


def test_recordings_come_with_plain_texts_in_the_order_of_the_file(folder):
    found = real_recordings(folder)
    assert [(row.name, row.text, row.seconds) for row in found] == [
        ("hello", "hello world", 1.0),
        ("digits/1", "one", 0.5),
        ("menu", "press one to speak", 2.0),
    ]
    assert np.allclose(found[0].samples, 0.25, atol=1e-4)


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("Press 1 for", "press one for"),
        ("H.323", "h three two three"),
        ("press * to toggle, # to exit", "press star to toggle pound to exit"),
        ("at [@]", "at"),
        ('IAX (note: does not say "2")', "iax"),
        ("<beep ascending>", ""),
        ("(10 seconds of silence)", ""),
        ("I'm sorry; that's ...", "i'm sorry that's"),
        ("A.M.", "a m"),
    ],
)
def test_figures_and_signs_are_spelled_and_descriptions_are_no_speech(line, plain):
    assert spoken_text(line) == plain


@pytest.mark.parametrize("missing", ["sounds", "texts"])
def test_without_the_packages_it_is_said_how_to_get_them(folder, missing):
    if missing == "texts":
        (folder / TEXTS.name).unlink()
    place = folder if missing == "texts" else folder / "elsewhere"
    with pytest.raises(ValueError, match=f"no real voice: .* is not there; {INSTALL}"):
        real_recordings(place)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"hello: Hello", "no text that gzip made"),
        (gzip.compress(b"\xff\xfe"), "no text that gzip made"),
        (gzip.compress(LINES.encode())[:-9], "cut off, or more than 1,000,000"),
        (gzip.compress(b"a" * 1_000_001), "cut off, or more than 1,000,000"),
    ],
    ids=["not packed", "no text", "cut off", "too long"],  # gzip writes the time into its frame
)
def test_another_file_in_the_place_of_the_texts_is_refused(folder, data, why):
    (folder / TEXTS.name).write_bytes(data)
    with pytest.raises(ValueError, match=why):
        real_recordings(folder)


def test_a_recording_that_is_none_is_refused_by_name(folder):
    (folder / "hello.wav").write_bytes(b"RIFF")
    with pytest.raises(ValueError, match=r"^hello\.wav: no WAV file"):
        real_recordings(folder)


def test_the_length_is_read_of_the_head_alone():
    data = write_wav(np.zeros(20 * RATE, np.float32))
    assert wav_seconds(data, "x") == 20
    with pytest.raises(ValueError, match="20 s; 0.1 to 15 s"):
        read_wav(data, "x")


@pytest.mark.skipif(
    not (SOUNDS.is_dir() and TEXTS.is_file()), reason=f"no recordings here; {INSTALL}"
)
def test_the_packages_hold_more_than_five_hundred_recordings_of_speech():
    found = real_recordings()
    assert len(found) == 538  # of version 1.6.1
    assert 18 < sum(row.seconds for row in found) / 60 < 19
    texts = {row.name: row.text for row in found}
    assert texts["vm-goodbye"] == "goodbye"
    assert texts["vm-next"] == "press six to play the next message"
    assert "tt-monkeys" not in texts
