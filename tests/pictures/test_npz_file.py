"""Sets of pictures in MedMNIST's layout, read as they were written."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.pictures.npz_file import MOST_CLASSES, read_npz

RNG = np.random.default_rng(3)
SIZES = {"train": 30, "val": 5, "test": 8}
PICTURES = {part: RNG.integers(0, 256, (n, 28, 28), np.uint8) for part, n in SIZES.items()}
LABELS = {part: np.arange(n) % 4 for part, n in SIZES.items()}


def keep(folder: Path, *, compressed: bool = True, **changed: Any) -> Path:
    path = folder / "octmnist.npz"
    arrays: dict[str, Any] = {}
    for part in SIZES:
        arrays |= {f"{part}_images": PICTURES[part], f"{part}_labels": LABELS[part][:, None]}
    (np.savez_compressed if compressed else np.savez)(path, **(arrays | changed))
    return path


@pytest.mark.parametrize("compressed", [True, False])
def test_pictures_and_labels_are_those_of_the_file(tmp_path: Path, compressed: bool):
    pictures = read_npz(keep(tmp_path, compressed=compressed))
    assert (pictures.name, pictures.source) == ("octmnist", "the file octmnist.npz")
    assert pictures.classes == ("0", "1", "2", "3")
    parts = {"train": pictures.train, "val": pictures.validation, "test": pictures.test}
    for part, split in parts.items():
        assert np.array_equal(split.pictures, PICTURES[part])
        assert np.array_equal(split.labels, LABELS[part])
        assert (split.pictures.dtype, split.labels.dtype) == (np.uint8, np.int64)


@pytest.mark.parametrize(
    "labels",
    [
        LABELS["train"],
        LABELS["train"].astype(np.uint8)[:, None],
        LABELS["train"].astype(">i4"),
        np.asfortranarray(LABELS["train"].astype("<i2")[:, None]),
    ],
)
def test_labels_come_in_a_row_or_a_column_and_of_any_whole_kind(tmp_path: Path, labels: Any):
    assert np.array_equal(read_npz(keep(tmp_path, train_labels=labels)).train.labels, labels.flat)


def test_pictures_written_column_by_column_are_the_same(tmp_path: Path):
    turned = np.asfortranarray(PICTURES["val"])
    split = read_npz(keep(tmp_path, val_images=turned)).validation
    assert np.array_equal(split.pictures, PICTURES["val"])
    assert split.pictures.flags.c_contiguous


def test_the_digest_tells_pictures_labels_and_parts_apart(tmp_path: Path):
    whole = read_npz(keep(tmp_path))
    assert read_npz(keep(tmp_path, compressed=False)).digest == whole.digest
    darker = PICTURES["test"] // 2
    others = [
        keep_and_read(tmp_path, test_images=darker),
        keep_and_read(tmp_path, test_labels=LABELS["test"][::-1]),
        keep_and_read(tmp_path, val_images=PICTURES["val"][:4], val_labels=LABELS["val"][:4]),
    ]
    assert len({whole.digest, *(other.digest for other in others)}) == 4


def keep_and_read(folder: Path, **changed: Any) -> Any:
    return read_npz(keep(folder, **changed))


def test_as_many_classes_as_are_allowed_are_read(tmp_path: Path):
    labels = np.arange(SIZES["train"]) % MOST_CLASSES
    assert len(read_npz(keep(tmp_path, train_labels=labels)).classes) == MOST_CLASSES
    labels = np.arange(SIZES["train"]) % (MOST_CLASSES + 1)
    with pytest.raises(
        ValueError, match=r"octmnist\.npz: train_labels run from 0 to 20; .* most 20"
    ):
        read_npz(keep(tmp_path, train_labels=labels))


def test_other_members_are_left_alone(tmp_path: Path):
    path = keep(tmp_path, about=np.array([{"pickled": True}], object))
    assert len(read_npz(path).train) == SIZES["train"]


def test_what_is_no_file_is_said(tmp_path: Path):
    with pytest.raises(ValueError, match=r"none\.npz: cannot be read \(No such file"):
        read_npz(tmp_path / "none.npz")
    with pytest.raises(ValueError, match=r"cannot be read \(Is a directory\)"):
        read_npz(tmp_path)
