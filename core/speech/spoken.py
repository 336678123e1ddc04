"""What has been spoken, as a folder: frames of all sentences in one array, and what they say.

    frames.npy    (frames of all, N_BANDS) in float16
    spoken.json   what made it (texts, voices, version of espeak-ng), and where each sentence ends

`make` speaks it all anew, the same on every machine with the same version; the digest is that of
the texts, voices and settings, so that one can be told before a single sentence is spoken.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.data.people import load_people
from core.files import read_json, write_json
from core.paths import PEOPLE, spoken_folder
from core.speech.features import FRAMES_PER_SECOND, N_BANDS, log_mel
from core.speech.sentences import SPLITS, Sentence, Split, places_to_say, sentences
from core.speech.voices import NEW, TRAINED, Voice, speak, version

FRAMES, SPOKEN = "frames.npy", "spoken.json"
N_TRAIN, MOST_TRAIN = 40_000, 200_000
N_THREADS = 2  # each waits for a process of its own
SETTINGS = ("n_train", "seed", "version", "sentences_sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A sentence with what is heard of it: frames (frames, N_BANDS) in float16."""

    sentence: Sentence
    frames: NDArray[np.float16]

    @property
    def text(self) -> str:
        return self.sentence.plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """All utterances by split, and what made them."""

    utterances: dict[Split, tuple[Utterance, ...]]
    settings: dict[str, Any]

    @property
    def digest(self) -> str:
        return _digest(self.settings)

    @property
    def minutes(self) -> float:
        """How long all of it is heard."""
        n_frames = sum(len(u.frames) for split in self.utterances.values() for u in split)
        return n_frames / FRAMES_PER_SECOND / 60

    def of_voices(self, split: Split, voices: Sequence[str]) -> tuple[Utterance, ...]:
        """Those of a split that these voices speak."""
        return tuple(u for u in self.utterances[split] if u.sentence.voice.name in voices)


def planned(*, n_train: int = N_TRAIN, seed: int = 0) -> list[Sentence]:
    """What `make` speaks. Raises ValueError for a number of sentences beyond all use."""
    if not 1 <= n_train <= MOST_TRAIN:
        raise ValueError(f"{n_train} sentences of training: 1 to {MOST_TRAIN:,} are possible")
    people = load_people(PEOPLE)
    return sentences(people, places_to_say(people), n_train=n_train, seed=seed)


def make(
    folder: Path,
    planned: Sequence[Sentence],
    *,
    settings: dict[str, Any],
    speaker: Callable[[str, Voice], NDArray[np.float32]] = speak,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> None:
    """Speak all sentences into a folder, which is whole or is not there.

    Cost: about 40 minutes of speech a minute of two cores. Raises ValueError where nothing can be
    spoken, or the folder holds something else.
    """
    if folder.exists() and not (folder / SPOKEN).is_file() and any(folder.iterdir()):
        raise ValueError(f"{folder} holds something else: name another folder")

    def heard(sentence: Sentence) -> NDArray[np.float16]:
        return log_mel(speaker(sentence.text, sentence.voice)).astype(np.float16)

    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        found: list[NDArray[np.float16]] = []
        with ThreadPoolExecutor(N_THREADS) as pool:
            for frames in pool.map(heard, planned):
                found.append(frames)
                progress(len(found), len(planned))
        np.save(part / FRAMES, np.concatenate(found))
        rows = [{**asdict(s), "n_frames": len(f)} for s, f in zip(planned, found, strict=True)]
        write_json(part / SPOKEN, {**settings, "sentences": rows})
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def settings_of(planned: Sequence[Sentence], *, n_train: int, seed: int) -> dict[str, Any]:
    """What a card holds of it: enough to make the same again, or to see that it is not."""
    texts = json.dumps([asdict(sentence) for sentence in planned], ensure_ascii=False)
    return {
        "n_train": n_train,
        "seed": seed,
        "version": version(),
        "voices": list(TRAINED),
        "new_voices": list(NEW),
        "sentences_sha256": hashlib.sha256(texts.encode()).hexdigest(),
    }


def found_spoken(folder: Path | None = None) -> Path:
    """The folder, or that of this machine. Raises ValueError where nothing was spoken, naming the
    command.
    """
    folder = spoken_folder() if folder is None else folder
    if not (folder / SPOKEN).is_file():
        raise ValueError(
            f"nothing is spoken yet in {folder}: run python -m core speech make, which needs "
            "espeak-ng and some minutes"
        )
    return folder


def load_spoken(folder: Path | None = None) -> Spoken:
    """Of the folder, or of this machine's own. Raises ValueError as `found_spoken`, and for files
    that do not belong together.
    """
    folder = found_spoken(folder)
    data = read_json(folder / SPOKEN)
    rows: list[dict[str, Any]] = data.pop("sentences")
    frames: NDArray[np.float16] = np.load(folder / FRAMES, mmap_mode="r", allow_pickle=False)
    ends = np.cumsum([row["n_frames"] for row in rows])
    if frames.ndim != 2 or frames.shape != (int(ends[-1]), N_BANDS):
        raise ValueError(f"{folder}: {FRAMES} and {SPOKEN} do not belong together; make them anew")
    by_split: dict[Split, list[Utterance]] = {split: [] for split in SPLITS}
    for row, end in zip(rows, ends, strict=True):
        n_frames, voice = row.pop("n_frames"), Voice(**row.pop("voice"))
        sentence = Sentence(voice=voice, **row)
        utterance = Utterance(sentence=sentence, frames=frames[end - n_frames : end])
        by_split[sentence.split].append(utterance)
    return Spoken(utterances={s: tuple(found) for s, found in by_split.items()}, settings=data)


def _digest(settings: dict[str, Any]) -> str:
    told = {name: settings[name] for name in SETTINGS}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
