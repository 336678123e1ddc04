"""A real voice: the English prompts of Asterisk, one speaker at 8,000 samples a second.

Debian's packages asterisk-core-sounds-en (the texts) and asterisk-core-sounds-en-wav (CC-BY-SA 3.0)
hold them; they are read from where the packages put them, and nothing of them is kept. Of the 568
recordings of version 1.6.1 538 are used: 17 have no speech in them, 13 more are longer than 15 s.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.reading import read_bytes
from core.speech.sentences import plain
from core.speech.sound import MOST_SECONDS, MOST_WAV_BYTES, RATE, Sound, read_wav, wav_seconds

SOUNDS = Path("/usr/share/asterisk/sounds/en_US_f_Allison")
TEXTS = Path("/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz")
INSTALL = "apt-get install asterisk-core-sounds-en asterisk-core-sounds-en-wav"
MOST_TEXT_BYTES = 1_000_000  # the file has 26,000

_LINE = re.compile(r"([\w/-]+):\s*(.*)")  # no dots: a name leads nowhere else
_DESCRIBED = re.compile(r"\[[^]]*\]|\([^)]*\)|<[^>]*>")
_SPOKEN = dict(
    zip(
        "0123456789*#",
        "zero one two three four five six seven eight nine star pound".split(),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What is said, as plain text, and its sound at RATE samples a second."""

    name: str
    text: str
    samples: Sound

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


def real_recordings(folder: Path | None = None) -> list[Recording]:
    """All that have speech and at most MOST_SECONDS, in the order of their texts.

    `folder` has the recordings and beside them core-sounds-en.txt.gz; without one the packages'
    places are read. Raises ValueError where they are not installed.
    """
    sounds, texts = (SOUNDS, TEXTS) if folder is None else (folder, folder / TEXTS.name)
    for path, there in ((sounds, sounds.is_dir()), (texts, texts.is_file())):
        if not there:
            raise ValueError(
                f"no real voice: {path} is not there; {INSTALL} puts it there (images without "
                "/usr/share/doc lack the texts)"
            )
    return [*_recordings(sounds, _texts(texts))]


def spoken_text(text: str) -> str:
    """The plain text of a line: figures one by one and * and # as words, nothing in brackets.

    Empty where all of it describes a sound. What is misspelled stays so.
    """
    said = "".join(
        f" {_SPOKEN[letter]} " if letter in _SPOKEN else letter
        for letter in _DESCRIBED.sub(" ", text)
    )
    return plain(said)


def _recordings(sounds: Path, texts: dict[str, str]) -> Iterator[Recording]:
    for name, text in texts.items():
        path = sounds / f"{name}.wav"
        if not text or not path.is_file():
            continue
        data = read_bytes(path, MOST_WAV_BYTES)
        if wav_seconds(data, path.name) > MOST_SECONDS:
            continue
        yield Recording(name=name, text=text, samples=read_wav(data, path.name))


def _texts(path: Path) -> dict[str, str]:
    """What is said under each name. Raises ValueError for another kind of file."""
    stream = zlib.decompressobj(zlib.MAX_WBITS | 16)  # 16: the frame that gzip writes
    try:
        data = stream.decompress(read_bytes(path, MOST_TEXT_BYTES), MOST_TEXT_BYTES)
        lines = data.decode().splitlines()
    except (zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: no text that gzip made ({error})") from None
    if not stream.eof:
        raise ValueError(f"{path}: cut off, or more than {MOST_TEXT_BYTES:,} bytes of text")
    found = (_LINE.fullmatch(line.strip()) for line in lines if not line.startswith(";"))
    return {match[1]: spoken_text(match[2]) for match in found if match is not None}
