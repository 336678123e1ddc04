"""The recordings of a real voice that are measured, and those a marked variant may learn from.

By the name of a recording alone one of four is measured, whoever is measured on it.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.speech.features import log_mel
from core.speech.real import Recording, real_recordings
from core.speech.sentences import LONGEST

_OF = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RealUtterance:
    """What is said and its frames (frames, N_BANDS)."""

    name: str
    text: str
    frames: NDArray[np.float32]


def measured_real(folder: Path | None = None) -> list[RealUtterance]:
    """Those that nothing learns from. Raises ValueError as `real_recordings`."""
    return _utterances([one for one in _short(folder) if _is_measured(one.name)])


def learned_real(folder: Path | None = None) -> list[RealUtterance]:
    """All others of at most LONGEST characters. Raises ValueError as `real_recordings`."""
    return _utterances([one for one in _short(folder) if not _is_measured(one.name)])


def _short(folder: Path | None) -> list[Recording]:
    return [one for one in real_recordings(folder) if len(one.text) <= LONGEST]


def _is_measured(name: str) -> bool:
    return zlib.crc32(name.encode()) % _OF == 0


def _utterances(recordings: Sequence[Recording]) -> list[RealUtterance]:
    return [
        RealUtterance(name=one.name, text=one.text, frames=log_mel(one.samples))
        for one in recordings
    ]
