"""Sets of pictures from .npz files in MedMNIST's layout, from anywhere.

    train_images, val_images, test_images   uint8 (n, 28, 28)
    train_labels, val_labels, test_labels   whole numbers (n, 1) or (n,)

Nothing is unpickled. What the directory of the archive and the headers of the arrays claim is held
against each other and against the limits before memory is taken for a picture.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from core.pictures.pictures import SIDE, Pictures, Split
from core.reading import refuse_large

ENDING = ".npz"
PARTS = ("train", "val", "test")
MOST_PICTURES = 200_000  # of all three parts together
FEWEST_CLASSES, MOST_CLASSES = 2, 20
MOST_BYTES = MOST_PICTURES * (SIDE * SIDE + 8) + 100_000
MOST_MEMBERS, MOST_DIRECTORY_BYTES = 16, 16_384
MOST_HEADER_BYTES = 1_024
Numbers = NDArray[np.integer[Any]]
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_END = struct.Struct("<4s4H2LH")  # of the directory: mark, disks, members, size, place, comment
_HEADER = re.compile(
    rb"\{\s*'descr':\s*'(?P<dtype>[^']{1,16})',\s*'fortran_order':\s*(?P<fortran>True|False),\s*"
    rb"'shape':\s*\((?P<shape>[0-9, ]{0,80})\),?\s*\}\s*"
)
_ODD = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """An array as its header says it is."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    n_header: int


def read_npz(path: Path) -> Pictures:
    """The file as a set, classes named by their numbers.

    Raises ValueError in one sentence that names the file. Memory: what the pictures take, twice at
    most, and they are MOST_PICTURES at most.
    """
    with _said(path), path.open("rb") as file:
        refuse_large(path, MOST_BYTES)
        _refuse_long_directory(file)
        with zipfile.ZipFile(file) as archive:
            members = _members(archive)
            stored = {name: _header(archive, member) for name, member in members.items()}
            _refuse_shapes(stored)
            arrays = {name: _numbers(archive, members[name], stored[name]) for name in members}
        splits = {part: _split(part, arrays) for part in PARTS}
        n_classes = _n_classes(splits)
    return Pictures(
        name=path.stem,
        classes=tuple(str(label) for label in range(n_classes)),
        train=splits["train"],
        validation=splits["val"],
        test=splits["test"],
        source=f"the file {path.name}",
    )


@contextmanager
def _said(path: Path) -> Generator[None]:
    """Raise ValueError naming the file for whatever is wrong with it."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or 'broken'})") from None
    except _ODD:
        raise ValueError(f"{path}: not a whole {ENDING} file, or a broken one") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: a name in it is no text") from None
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None


def _refuse_long_directory(file: IO[bytes]) -> None:
    """Raise ValueError unless a short directory ends the file: zipfile believes what it claims.

    No file within the limits needs the longer form of the end (zip64), which could claim otherwise.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _END.size))
    tail = file.read(_END.size)
    if len(tail) < _END.size or not tail.startswith(b"PK\x05\x06"):
        raise ValueError(f"not an {ENDING} file: no directory of an archive ends it")
    _, _, _, _, n_members, n_bytes, place, _ = _END.unpack(tail)
    if n_members > MOST_MEMBERS or n_bytes > MOST_DIRECTORY_BYTES:
        raise ValueError(
            f"its directory claims {n_members:,} members in {n_bytes:,} bytes; at most "
            f"{MOST_MEMBERS} in {MOST_DIRECTORY_BYTES:,} are read"
        )
    if place + n_bytes + _END.size != size:
        raise ValueError(f"not a whole {ENDING} file: its directory is not where it says")
    file.seek(max(0, size - _END.size - 20))
    if file.read(4) == b"PK\x06\x07":
        raise ValueError("an archive of the form zip64, which no such file needs")
    file.seek(0)


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The six arrays by name. Raises ValueError for a missing or doubled one, or one that cannot be
    read plainly.
    """
    listed = archive.infolist()
    if len({member.filename for member in listed}) != len(listed):
        raise ValueError("two of its members have the same name")
    by_name = {member.filename: member for member in listed}
    wanted = [f"{part}_{kind}" for part in PARTS for kind in ("images", "labels")]
    for name in wanted:
        member = by_name.get(f"{name}.npy")
        if member is None:
            raise ValueError(f"{name} is missing; {', '.join(wanted)} are needed")
        if member.compress_type not in _METHODS or member.flag_bits & 1:
            raise ValueError(f"{name} is encrypted or packed in a way that is not read")
        if member.file_size > MOST_BYTES:
            raise ValueError(
                f"{name} claims {member.file_size:,} bytes; at most {MOST_BYTES:,} are read"
            )
    return {name: by_name[f"{name}.npy"] for name in wanted}


def _header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> _Stored:
    """What an array says it is, and as long as the archive says."""
    name = member.filename.removesuffix(".npy")
    with archive.open(member) as file:
        start = file.read(8)
        width = 2 if start[6:7] == b"\1" else 4
        length = int.from_bytes(file.read(width), "little")
        if start not in {b"\x93NUMPY\1\0", b"\x93NUMPY\2\0"} or length > MOST_HEADER_BYTES:
            raise ValueError(f"{name} is no array of numpy with a short header")
        said = _HEADER.fullmatch(file.read(length))
    if said is None:
        raise ValueError(f"{name} has a header that no array of plain numbers has")
    dtype = said["dtype"].decode("ascii", "replace")
    if not re.fullmatch(r"[<>|]?[iu][1248]", dtype):
        raise ValueError(f"{name} holds {dtype!r}; whole numbers are needed")
    shape = tuple(int(n) for n in said["shape"].decode().split(",") if n.strip())
    stored = _Stored(
        dtype=np.dtype(dtype),
        shape=shape,
        fortran=said["fortran"] == b"True",
        n_header=8 + width + length,
    )
    if stored.n_header + prod(shape) * stored.dtype.itemsize != member.file_size:
        raise ValueError(
            f"{name} claims the shape {shape}, which its {member.file_size:,} bytes do not hold"
        )
    return stored


def _refuse_shapes(stored: dict[str, _Stored]) -> None:
    for part in PARTS:
        pictures, labels = stored[f"{part}_images"], stored[f"{part}_labels"]
        if len(pictures.shape) == 4 and pictures.shape[3] == 3:
            raise ValueError(f"{part}_images are in colour; grey pictures are needed")
        if len(pictures.shape) != 3 or pictures.shape[1:] != (SIDE, SIDE):
            raise ValueError(
                f"{part}_images have the shape {pictures.shape}; (n, {SIDE}, {SIDE}) is needed"
            )
        if pictures.dtype != np.uint8:
            raise ValueError(f"{part}_images hold {pictures.dtype}; uint8 is needed")
        n = pictures.shape[0]
        if n == 0 or labels.shape not in {(n,), (n, 1)}:
            raise ValueError(
                f"{part} has {n:,} pictures and labels of the shape {labels.shape}; one label for "
                "each picture is needed, and one picture at least"
            )
    total = sum(stored[f"{part}_images"].shape[0] for part in PARTS)
    if total > MOST_PICTURES:
        raise ValueError(f"{total:,} pictures; at most {MOST_PICTURES:,} are read")


def _numbers(archive: zipfile.ZipFile, member: zipfile.ZipInfo, stored: _Stored) -> Numbers:
    with archive.open(member) as file:
        file.read(stored.n_header)
        raw = file.read()  # never more than the directory claims
    if len(raw) != prod(stored.shape) * stored.dtype.itemsize:
        raise EOFError
    numbers: Numbers = np.frombuffer(raw, stored.dtype)
    return np.ascontiguousarray(numbers.reshape(stored.shape, order="F" if stored.fortran else "C"))


def _split(part: str, arrays: dict[str, Numbers]) -> Split:
    labels = arrays[f"{part}_labels"].reshape(-1)
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= MOST_CLASSES:
        raise ValueError(
            f"{part}_labels run from {low} to {high}; they number the classes from 0, of which "
            f"there are at most {MOST_CLASSES}"
        )
    pictures = arrays[f"{part}_images"].astype(np.uint8, copy=False)  # what it is already
    return Split(pictures=pictures, labels=labels.astype(np.int64))


def _n_classes(splits: dict[str, Split]) -> int:
    n = max(int(split.labels.max()) for split in splits.values()) + 1
    if n < FEWEST_CLASSES:
        raise ValueError(f"all its labels are 0; at least {FEWEST_CLASSES} classes are needed")
    missing = np.setdiff1d(np.arange(n), splits["train"].labels)
    if len(missing):
        raise ValueError(f"train has no picture of class {missing[0]}, so nothing can learn it")
    return n
