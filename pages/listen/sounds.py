"""Which sound: one that is shipped, a sentence spoken on the spot, a file, the microphone."""

import hashlib
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.paths import SOUNDS
from core.speech.examples import INDEX, Example, Kind, Shelf, load_examples, load_sound
from core.speech.features import HOP, RATE, log_mel
from core.speech.sentences import plain
from core.speech.sound import MOST_SECONDS, MOST_WAV_BYTES, read_wav, write_wav
from core.speech.voices import NEW, TRAINED, Voice, speak, why_silent
from pages.shared import bound, who
from pages.shared.text import plain as escaped
from pages.shared.uploads import File, choose_file, choose_recording

PREFIX = "listen-"
FILE, MICROPHONE = f"{PREFIX}file", f"{PREFIX}microphone"
READY, TYPED, UPLOADED, RECORDED = "ready", "typed", "file", "microphone"
SOURCES = {
    READY: "a ready one",
    TYPED: "a sentence to type",
    UPLOADED: "a WAV file",
    RECORDED: "the microphone",
}
SENTENCE = "Where was Ada Lovelace born?"
SPEEDS, PITCHES = (80, 400, 165, 5), (0, 99, 50)
SECONDS_A_FRAME = HOP / RATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A sound at RATE with its digest, the frames that are heard of it, and what is known of it.

    `said` is what is right to write, None where that is not known; `kind` and `person` as in
    core.speech.examples. Nothing of it may be written to.
    """

    samples: NDArray[np.float32]
    frames: NDArray[np.float32]
    digest: str
    title: str
    said: str | None = None
    kind: Kind = "question"

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE

    @property
    def wav(self) -> bytes:
        return write_wav(self.samples)


def choose_sound() -> Given | None:
    """The controls of the side bar; None while there is none.

    Raises ValueError for a sound that cannot be read or spoken.
    """
    source = bound.selectbox(
        "Sound", list(SOURCES), format_func=SOURCES.__getitem__, key=f"{PREFIX}source"
    )
    if source == READY:
        return _ready()
    if source == TYPED:
        return _typed()
    if source == UPLOADED:
        said = f"WAV, {MOST_SECONDS:g} s at most, any rate. It stays in memory and is not kept."
        return _file(choose_file("A recording", FILE, MOST_WAV_BYTES, said=said))
    said = f"{MOST_SECONDS:g} s at most. It stays in memory and is not kept."
    return _file(choose_recording("Speak", MICROPHONE, MOST_WAV_BYTES, rate=RATE, said=said))


def shelf() -> Shelf:
    """What is shipped, read again when its list is another."""
    return _shelf((SOUNDS / INDEX).stat().st_mtime_ns)


@st.cache_resource(max_entries=2, show_spinner=False)
def _shelf(modified: int) -> Shelf:
    return load_examples()


def _ready() -> Given:
    named = {one.name: one for one in shelf().sounds}
    name = bound.selectbox(
        "Ready sound",
        list(named),
        format_func=lambda option: label(named[option]),
        key=f"{PREFIX}sound",
        help="Nobody here was spoken of in training. What follows the questions is hard to hear, "
        "or nothing is there to hear.",
    )
    return _shipped(named[name], (SOUNDS / f"{name}.wav").stat().st_mtime_ns)


def label(one: Example) -> str:
    """A shipped sound as it is offered."""
    if one.voice is None or one.kind != "question":
        return one.title
    return f"{one.person}: {one.voice.name}{' (new voice)' if one.is_new_voice else ''}"


@st.cache_resource(max_entries=32, show_spinner=False)
def _shipped(one: Example, modified: int) -> Given:
    return _given(load_sound(one), label(one), said=one.text, kind=one.kind)


def _typed() -> Given | None:
    lacking = why_silent() or who.refusal("measure")
    text = bound.text_input(
        "Sentence", SENTENCE, key=f"{PREFIX}text", max_chars=99, disabled=bool(lacking)
    )
    voice = bound.selectbox(
        "Voice",
        [*TRAINED, *NEW],
        format_func=lambda name: f"{name} (new)" if name in NEW else name,
        key=f"{PREFIX}voice",
        disabled=bool(lacking),
        help="Voices of espeak-ng; two of them were never heard in training.",
    )
    speed = bound.slider("Words a minute", *SPEEDS, key=f"{PREFIX}speed", disabled=bool(lacking))
    pitch = bound.slider("Pitch", *PITCHES, key=f"{PREFIX}pitch", disabled=bool(lacking))
    if lacking:
        st.caption(f":material/lock: {escaped(lacking)}")
        return None
    return _spoken(text, Voice(name=voice, speed=speed, pitch=pitch))


@st.cache_resource(max_entries=32, show_spinner="Speaking")
def _spoken(text: str, voice: Voice) -> Given:
    samples = speak(text, voice)
    if len(samples) > MOST_SECONDS * RATE:
        seconds = len(samples) / RATE
        raise ValueError(f"{seconds:.1f} s of speech; at most {MOST_SECONDS:g} s are heard")
    return _given(samples, f"“{text}”, {voice.name}", said=plain(text))


def _file(file: File | None) -> Given | None:
    if file is None:
        return None
    if file.size > len(file.data):
        raise ValueError(f"{file.size:,} bytes; at most {MOST_WAV_BYTES:,} are read")
    return _read(file.digest, file.name[:80], file)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(digest: str, name: str, _file: File) -> Given:
    return _given(read_wav(_file.data, name), name)


def _given(
    samples: NDArray[np.float32], title: str, *, said: str | None = None, kind: Kind = "question"
) -> Given:
    frames = log_mel(samples)
    for array in (samples, frames):
        array.setflags(write=False)
    digest = hashlib.sha256(samples.tobytes()).hexdigest()
    return Given(samples=samples, frames=frames, digest=digest, title=title, said=said, kind=kind)
