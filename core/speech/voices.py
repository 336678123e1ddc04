"""Voices of espeak-ng (GPL, a program of its own): a text is spoken into samples at our rate.

The program is started for each text, which it gets as its input and never as an argument. Where it
is not installed a sentence says so.
"""

import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.speech.sound import Sound, resampled

PROGRAM = "espeak-ng"
# Accents and speakers of training, and two of which a recogniser never hears anything before it is
# measured.
TRAINED = (
    "en-gb",
    "en-us",
    "en-gb-scotland",
    "en-gb-x-rp",
    "en-us+f2",
    "en-gb+f3",
    "en-us+m3",
    "en-gb+m5",
    "en-us+f5",
    "en-gb-x-gbclan+m7",
)
NEW = ("en-029", "en-gb-x-gbcwmd+f4")
WORDS_A_MINUTE, PITCHES = range(145, 206), range(25, 76)  # what is drawn of
LONGEST_TEXT = 200
MOST_SECONDS = 30.0  # that the program may take for a sentence
_HEADER = 44  # of the WAV that the program writes
_RATE_AT = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Who speaks, how fast (words a minute) and how high (0 to 99)."""

    name: str = TRAINED[0]
    speed: int = 175
    pitch: int = 50

    def __post_init__(self) -> None:
        if self.name not in (*TRAINED, *NEW):
            raise ValueError(f"voice {self.name!r:.40}; voices: {', '.join((*TRAINED, *NEW))}")
        if not 80 <= self.speed <= 400:
            raise ValueError(f"{self.speed} words a minute: 80 to 400 are possible")
        if not 0 <= self.pitch <= 99:
            raise ValueError(f"pitch {self.pitch}: 0 to 99 are possible")


def drawn_voice(names: Sequence[str], generator: random.Random) -> Voice:
    """One of these speakers at a speed and a pitch of its own."""
    return Voice(
        name=generator.choice(names),
        speed=generator.choice(WORDS_A_MINUTE),
        pitch=generator.choice(PITCHES),
    )


def why_silent() -> str:
    """Why nothing can be spoken here, in one sentence; empty where the program is there."""
    if shutil.which(PROGRAM) is None:
        return f"{PROGRAM} is not installed: on Debian, apt-get install {PROGRAM}"
    return ""


def version() -> str:
    """What the program says of itself, for cards. Raises ValueError where it is not installed."""
    said = _started(["--version"], b"").decode(errors="replace")
    match = re.search(r"\d+\.\d+(\.\d+)?", said)
    return f"{PROGRAM} {match[0] if match else 'of unknown version'}"


def speak(text: str, voice: Voice) -> Sound:
    """The text as it sounds, at RATE; the same text, voice and version give the same samples.

    Raises ValueError for a text that is none, where the program is missing, or fails.
    """
    if not text.strip() or len(text) > LONGEST_TEXT:
        raise ValueError(f"{len(text)} characters to speak: 1 to {LONGEST_TEXT} are needed")
    options = ["-v", voice.name, "-s", str(voice.speed), "-p", str(voice.pitch), "--stdin"]
    wav = _started([*options, "--stdout"], text.encode())
    rate = int.from_bytes(wav[_RATE_AT : _RATE_AT + 4], "little")
    if wav[:4] != b"RIFF" or rate == 0:
        raise ValueError(f"{PROGRAM} gave no sound for {text!r:.80}")
    whole = np.frombuffer(wav[_HEADER : len(wav) - len(wav) % 2], dtype="<i2")
    return resampled((whole / 2**15).astype(np.float32), rate)


def _started(options: list[str], given: bytes) -> bytes:
    program = _found()
    try:
        done = subprocess.run(  # noqa: S603 - a list, no shell; a text is input only
            [program, *options], input=given, capture_output=True, check=True, timeout=MOST_SECONDS
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise ValueError(f"{PROGRAM} failed: {error}") from None
    return done.stdout


@lru_cache(maxsize=1)
def _found() -> str:
    if why := why_silent():
        raise ValueError(why)
    return shutil.which(PROGRAM) or PROGRAM
