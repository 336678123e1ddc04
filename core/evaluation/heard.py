"""What a recogniser writes of sentences that nothing learned from, as figures.

Of voices of training and of new ones these are the dev questions, as they were spoken into the
folder, or spoken anew where there is none: the sentences are the same. Of the real voice they are
the recordings that no variant learns from.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.checkpoints.store import Checkpoint
from core.generation.beam import BEAM
from core.generation.hearing import SOUNDS_AT_ONCE, hear
from core.paths import spoken_folder
from core.speech.distances import Span
from core.speech.features import log_mel
from core.speech.real_split import measured_real
from core.speech.record import SpeechFigures, Voices, measure_texts
from core.speech.sentences import Sentence, plain
from core.speech.spoken import N_THREADS, SPOKEN, load_spoken, planned
from core.speech.voices import NEW, TRAINED, speak

Told = Callable[[str], None]
NAMES = {"trained": TRAINED, "new": NEW}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A sentence: what is said, its frames (frames, N_BANDS), and whom it is about; no name in what
    the real voice says.
    """

    text: str
    frames: NDArray[np.floating]
    name: str = ""


def asked_of(voices: Voices, *, folder: Path | None = None, told: Told) -> list[Asked]:
    """What is measured of these voices. `folder` is that of spoken sentences, this machine's own
    unless told.

    Raises ValueError where neither a folder nor a voice is there.
    """
    if voices == "real":
        return [Asked(text=one.text, frames=one.frames) for one in measured_real()]
    folder = spoken_folder() if folder is None else folder
    if (folder / SPOKEN).is_file():
        found = load_spoken(folder).of_voices("dev", NAMES[voices])
        return [_asked(one.sentence, one.frames) for one in found]
    return _speak(dev_sentences(voices), told)


def dev_sentences(voices: Voices) -> list[Sentence]:
    """The dev questions that these voices speak; they do not depend on how many train."""
    names = NAMES[voices]
    return [one for one in planned(n_train=1) if one.split == "dev" and one.voice.name in names]


def measure_voices(
    stored: Checkpoint,
    voices: Voices,
    asked: Sequence[Asked],
    *,
    machine: str,
    told: Told,
    beam: int = BEAM,
) -> SpeechFigures:
    """Figures of what it writes, the best of a beam. Intervals draw people, of the real voice
    texts.

    Raises ValueError for a checkpoint that hears nothing.
    """
    pairs: list[tuple[str, str]] = []
    for first in range(0, len(asked), SOUNDS_AT_ONCE):
        told(f"{voices}: {first} of {len(asked)} sentences heard")
        part = asked[first : first + SOUNDS_AT_ONCE]
        heard = hear(stored, [one.frames for one in part], beam=beam)
        pairs += [(one.text, found.text) for one, found in zip(part, heard, strict=True)]
    return measure_texts(
        pairs,
        [one.name or one.text for one in asked],
        None if voices == "real" else [_span(one) for one in asked],
        checkpoint=stored.name,
        voices=voices,
        machine=machine,
        beam=beam,
    )


def _speak(sentences: Sequence[Sentence], told: Told) -> list[Asked]:
    def heard(sentence: Sentence) -> Asked:
        return _asked(sentence, log_mel(speak(sentence.text, sentence.voice)))

    found: list[Asked] = []
    with ThreadPoolExecutor(N_THREADS) as pool:
        for one in pool.map(heard, sentences):
            found.append(one)
            told(f"{len(found)} of {len(sentences)} sentences spoken")
    return found


def _asked(sentence: Sentence, frames: NDArray[np.floating]) -> Asked:
    return Asked(text=sentence.plain, frames=frames, name=sentence.name)


def _span(asked: Asked) -> Span:
    """Where the name stands. Raises ValueError where it does not."""
    name = plain(asked.name)
    start = asked.text.index(name)
    return start, start + len(name)
