"""A few real digits that are shipped, with what the shipped networks say of them: <name>.png holds
the pictures in rows of COLUMNS, <name>.json the rest. A page opens with them before torch is there.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.files import read_json, write_text, write_whole
from core.from_json import dataclass_from_dict
from core.paths import ASSETS
from core.pictures.pictures import SIDE
from core.reading import read_bytes

SAMPLE = ASSETS / "look_pictures.json"
COLUMNS = 20
MOST_SAMPLED, MOST_SHEET_BYTES = 2_000, 2_000_000
OFF = 0.01  # of a sum of rounded probabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Test pictures of a set, and how likely each class is to each network.

    numbers: the place of each in the `n_test` test pictures of the set with this `digest`. Those
    that a network gets wrong are all there. weights: digests of the files of the networks.
    """

    source: str
    digest: str
    classes: tuple[str, ...]
    n_test: int
    weights: Mapping[str, str]
    numbers: NDArray[np.int64]  # (n,)
    labels: NDArray[np.int64]  # (n,)
    pictures: NDArray[np.uint8]  # (n, SIDE, SIDE)
    probabilities: Mapping[str, NDArray[np.float64]]  # (n, classes)

    def __len__(self) -> int:
        return len(self.labels)

    def said(self, at: int) -> dict[str, NDArray[np.float64]]:
        """What each network says of the picture at a place of the sample."""
        return {name: likely[at] for name, likely in self.probabilities.items()}

    @property
    def wrong(self) -> list[int]:
        """Places of those that at least one network gets wrong; first those that most do."""
        missed = np.stack([one.argmax(1) != self.labels for one in self.probabilities.values()])
        counts = missed.sum(0)
        return [int(at) for at in np.argsort(-counts, kind="stable") if counts[at]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """As the JSON has it."""

    source: str
    digest: str
    classes: list[str]
    n_test: int
    weights: dict[str, str]
    numbers: list[int]
    labels: list[int]
    probabilities: dict[str, list[list[float]]]


def read_sample(path: Path = SAMPLE) -> Sample:
    """Raises ValueError naming the file and what is wrong with it."""
    data = read_json(path)
    try:
        stored = dataclass_from_dict(_Stored, data)
        _check(stored)
        pictures = _read_sheet(path.with_suffix(".png"), len(stored.labels))
    except ValueError as error:
        said = str(error)
        raise ValueError(said if str(path.parent) in said else f"{path}: {said}") from None
    return Sample(
        source=stored.source,
        digest=stored.digest,
        classes=tuple(stored.classes),
        n_test=stored.n_test,
        weights=stored.weights,
        numbers=np.array(stored.numbers, np.int64),
        labels=np.array(stored.labels, np.int64),
        pictures=pictures,
        probabilities={name: np.array(rows) for name, rows in stored.probabilities.items()},
    )


def write_sample(path: Path, sample: Sample) -> None:
    """Both files, the JSON last; probabilities to four digits."""
    rows = -(-len(sample) // COLUMNS)
    tiles = np.zeros((rows * COLUMNS, SIDE, SIDE), np.uint8)
    tiles[: len(sample)] = sample.pictures
    sheet = tiles.reshape(rows, COLUMNS, SIDE, SIDE).swapaxes(1, 2)
    image = Image.fromarray(sheet.reshape(rows * SIDE, COLUMNS * SIDE))
    write_whole(path.with_suffix(".png"), lambda to: image.save(to, "PNG", optimize=True))
    data: dict[str, Any] = {
        "source": sample.source,
        "digest": sample.digest,
        "classes": list(sample.classes),
        "n_test": sample.n_test,
        "weights": dict(sample.weights),
        "numbers": sample.numbers.tolist(),
        "labels": sample.labels.tolist(),
        "probabilities": {
            name: np.round(likely.astype(np.float64), 4).tolist()
            for name, likely in sample.probabilities.items()
        },
    }
    write_text(path, json.dumps(data, allow_nan=False) + "\n")


def _check(stored: _Stored) -> None:
    n, n_classes = len(stored.labels), len(stored.classes)
    if not 1 <= n <= MOST_SAMPLED or len(stored.numbers) != n:
        raise ValueError(f"{n:,} labels of {len(stored.numbers):,} pictures")
    if not all(0 <= label < n_classes for label in stored.labels):
        raise ValueError(f"a label is none of its {n_classes} classes")
    if not all(0 <= number < stored.n_test for number in stored.numbers):
        raise ValueError(f"a picture is none of the {stored.n_test:,} test pictures")
    if set(stored.probabilities) != set(stored.weights) or not stored.weights:
        raise ValueError("probabilities and weights are not of the same networks")
    for name, rows in stored.probabilities.items():
        whole = len(rows) == n and all(len(row) == n_classes for row in rows)
        if not whole or any(min(row) < 0 or abs(sum(row) - 1) > OFF for row in rows):
            raise ValueError(f"{name} has no probabilities of {n_classes} classes for each picture")


def _read_sheet(path: Path, n: int) -> NDArray[np.uint8]:
    """(n, SIDE, SIDE). Size and kind are asked before a point is decoded."""
    rows = -(-n // COLUMNS)
    size = (COLUMNS * SIDE, rows * SIDE)
    try:
        with Image.open(io.BytesIO(read_bytes(path, MOST_SHEET_BYTES)), formats=["PNG"]) as image:
            if image.size != size or image.mode != "L":
                raise ValueError(f"{path}: {image.mode} of {image.size}; grey of {size} is needed")
            sheet = np.asarray(image)
    except (OSError, SyntaxError):
        raise ValueError(f"{path}: not a whole PNG") from None
    tiles = sheet.reshape(rows, SIDE, COLUMNS, SIDE).swapaxes(1, 2)
    return cast("NDArray[np.uint8]", tiles.reshape(-1, SIDE, SIDE)[:n])
