"""Labelled pictures in three parts: what is trained on, what chooses, and what is asked once."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Pictures, 0 for black to 255 for white, and the number of the class that each shows."""

    pictures: NDArray[np.uint8]  # (n, SIDE, SIDE)
    labels: NDArray[np.int64]  # (n,)

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """A set of pictures; `source` says in a few words where they are from."""

    name: str
    classes: tuple[str, ...]
    train: Split
    validation: Split
    test: Split
    source: str

    @property
    def digest(self) -> str:
        """Hex digest of every picture and label with its part, and of the names of the classes."""
        said = hashlib.sha256("\n".join(self.classes).encode())
        for split in (self.train, self.validation, self.test):
            said.update(len(split).to_bytes(8, "little"))
            said.update(np.ascontiguousarray(split.pictures).tobytes())
            said.update(split.labels.astype("<i8").tobytes())
        return said.hexdigest()
