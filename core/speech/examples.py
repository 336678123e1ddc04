"""Sounds that are shipped: questions about people never spoken in training, and sounds that hold
little or nothing to hear.

    sounds.json   what made them (version of espeak-ng), and of each sound name, title, kind, voice
    NAME.wav      each of them, as core.speech.sound writes it
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

from core.files import read_json, write_json, write_whole
from core.from_json import dataclass_from_dict
from core.paths import SOUNDS
from core.reading import read_bytes
from core.speech.sound import MOST_WAV_BYTES, Sound, read_wav, write_wav
from core.speech.voices import NEW, Voice

INDEX = "sounds.json"
MOST_SOUNDS = 40
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

Kind = Literal["question", "hard", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A shipped sound.

    kind: a question; one that is hard to hear; nothing that anybody says. `text` is what is right
    to write of it in plain letters, None where nothing is. `person` is who is asked about; `voice`
    speaks, None where nobody does.
    """

    name: str
    title: str
    kind: Kind
    text: str | None
    person: str
    voice: Voice | None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name {self.name!r:.40}: small letters, figures and hyphens are")

    @property
    def is_new_voice(self) -> bool:
        return self.voice is not None and self.voice.name in NEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """All of them, and the version of the program that spoke."""

    version: str
    sounds: tuple[Example, ...]

    def named(self, name: str) -> Example:
        """Raises ValueError for a name that none has."""
        for one in self.sounds:
            if one.name == name:
                return one
        raise ValueError(f"no sound {name!r:.40}; sounds: {', '.join(s.name for s in self.sounds)}")


def load_examples(folder: Path = SOUNDS) -> Shelf:
    """What is shipped, without the sounds themselves. Raises ValueError for another form."""
    data = read_json(folder / INDEX)
    try:
        return _shelf(data)
    except ValueError as error:
        raise ValueError(f"{folder / INDEX}: {error}") from None


def load_sound(example: Example, folder: Path = SOUNDS) -> Sound:
    """Its samples. Raises ValueError as `read_wav`."""
    path = folder / f"{example.name}.wav"
    return read_wav(read_bytes(path, MOST_WAV_BYTES), path.name)


def save_examples(folder: Path, version: str, sounds: Sequence[tuple[Example, Sound]]) -> None:
    """Write them into a folder that is there."""
    for example, samples in sounds:
        wav = write_wav(samples)
        write_whole(folder / f"{example.name}.wav", lambda path, wav=wav: _write(path, wav))
    write_json(folder / INDEX, {"version": version, "sounds": [asdict(one) for one, _ in sounds]})


def _shelf(data: dict[str, Any]) -> Shelf:
    rows, version = data.pop("sounds", None), data.pop("version", None)
    if data or not isinstance(rows, list) or not isinstance(version, str):
        raise ValueError("version and a list of sounds are needed, and nothing else")
    found = tuple(map(_example, cast(list[Any], rows)))
    if not 1 <= len(found) <= MOST_SOUNDS or len({one.name for one in found}) < len(found):
        raise ValueError(f"{len(found)} sounds; 1 to {MOST_SOUNDS} of different names are read")
    return Shelf(version=version, sounds=found)


def _example(row: Any) -> Example:
    if not isinstance(row, dict):
        raise ValueError(f"a sound is {row!r:.40}, an object is needed")
    told = cast(dict[str, Any], row)
    doors = {} if told.get("voice") is None else {"voice": _voice}
    return dataclass_from_dict(Example, told, doors=doors)


def _voice(data: dict[str, Any]) -> Voice:
    return dataclass_from_dict(Voice, data)


def _write(path: Path, wav: bytes) -> None:
    path.write_bytes(wav)
