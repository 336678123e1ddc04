"""A file of torch.save of any length, of which only the tensors that are asked for are read.

What training code keeps in one file (the model, its optimizer, plain values) is listed by a pickle,
which is read but not run (core.checkpoints.pickled). The numbers lie beside it in parts of a zip
archive, stored as they are: a tensor is a part, a place in it and a shape. Each of these is held
against the others, and the shape against what the caller needs, before memory is taken.
"""

import zipfile
from dataclasses import dataclass
from math import prod
from types import TracebackType
from typing import BinaryIO, Self, cast

import torch
from torch import Tensor

from core.checkpoints.params_file import refuse_other_formats
from core.checkpoints.pickled import MOST_PICKLE_BYTES, Doors, Named, read_pickle
from core.checkpoints.store import CheckpointError

MOST_AXES = 8
MOST_NUMBERS = 2**40
_KINDS = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}
_STORAGES = {f"torch.{name}": dtype for name, dtype in _KINDS.items()}
_BROKEN = "not a whole file that torch.save wrote"


@dataclass(frozen=True, slots=True)
class Storage:
    """Numbers that a part of the archive should hold."""

    part: str
    dtype: torch.dtype
    size: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A tensor as the file lists it; nothing of it has been read."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        return prod(self.shape) * self.storage.dtype.itemsize


class TensorFile:
    """The archive, open while tensors are read from it. `content` is what the pickle lists."""

    def __init__(self, file: BinaryIO) -> None:
        """Raises CheckpointError in one sentence for a file that is none of torch.save."""
        refuse_other_formats(file.read(32))
        try:
            self._archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError):
            raise CheckpointError(_BROKEN) from None
        self._parts = _parts(self._archive)
        (self._folder,) = _folders(self._parts)
        self._refuse_other_order()
        doors = Doors(
            calls={
                "collections.OrderedDict": _ordered,
                "torch._utils._rebuild_tensor_v2": _listed,
                "torch._utils._rebuild_parameter": _parameter,
            },
            names=_STORAGES,
            hold=_storage,
            expected="tensors",
        )
        self.content = read_pickle(self._read("data.pkl", MOST_PICKLE_BYTES), doors)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._archive.close()

    def tensor(self, name: str, listed: Listed) -> Tensor:
        """The numbers of a tensor, which are all that its part holds. Raises CheckpointError naming
        the tensor. Whoever calls has compared its shape with what is needed.
        """
        storage, n_numbers = listed.storage, prod(listed.shape)
        if not _is_ordinary(listed) or (listed.offset, n_numbers) != (0, storage.size):
            raise CheckpointError(f"{name!r:.60} is not an ordinary tensor of its own numbers")
        data = self._read(f"data/{storage.part}", listed.n_bytes)
        if len(data) != listed.n_bytes:
            raise CheckpointError(
                f"{name!r:.60} claims {listed.n_bytes:,} bytes; {len(data):,} are there"
            )
        return torch.frombuffer(bytearray(data), dtype=storage.dtype).view(listed.shape)

    def _read(self, name: str, most: int) -> bytes:
        part = self._parts.get(f"{self._folder}/{name}")
        if part is None:
            raise CheckpointError(f"{_BROKEN}: its part {name:.60} is missing")
        if part.file_size > most:
            raise CheckpointError(
                f"its part {name:.60} has {part.file_size:,} bytes; at most {most:,} belong there"
            )
        try:
            return self._archive.read(part)
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError):
            raise CheckpointError(_BROKEN) from None

    def _refuse_other_order(self) -> None:
        if f"{self._folder}/byteorder" in self._parts and self._read("byteorder", 16) != b"little":
            raise CheckpointError("holds numbers whose bytes stand in another order than here")


def _parts(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    parts = archive.infolist()
    if any(part.compress_type != zipfile.ZIP_STORED for part in parts):
        raise CheckpointError("its parts are compressed, which torch.save never does")
    named = {part.filename.lower(): part for part in parts}  # torch's reader ignores case
    if len(named) < len(parts):
        raise CheckpointError("two of its parts have the same name")
    return {part.filename: part for part in parts}


def _folders(parts: dict[str, zipfile.ZipInfo]) -> list[str]:
    """The one folder of the archive."""
    found = [name.removesuffix("/data.pkl") for name in parts if name.endswith("/data.pkl")]
    if len(found) != 1 or f"{found[0]}/constants.pkl" in parts:
        raise CheckpointError(_BROKEN)
    return found


def _ordered() -> dict[object, object]:
    return {}


def _storage(
    kind: object, storage: object, part: object, _where: object, size: object, /
) -> Storage:
    if kind != "storage" or not isinstance(storage, Named) or not isinstance(part, str):
        raise TypeError
    return Storage(part, _STORAGES[storage.name], _whole(size))


def _listed(
    storage: object, offset: object, shape: object, stride: object, *_others: object
) -> Listed:
    if not isinstance(storage, Storage):
        raise TypeError
    sizes, steps = _wholes(shape), _wholes(stride)
    if len(sizes) != len(steps) or len(sizes) > MOST_AXES:
        raise TypeError
    return Listed(storage, _whole(offset), sizes, steps)


def _parameter(listed: object, *_others: object) -> Listed:
    if not isinstance(listed, Listed):
        raise TypeError
    return listed


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value < MOST_NUMBERS:
        raise TypeError
    return value


def _wholes(values: object) -> tuple[int, ...]:
    if type(values) is not tuple:
        raise TypeError
    return tuple(_whole(value) for value in cast(tuple[object, ...], values))


def _is_ordinary(listed: Listed) -> bool:
    """Whether its numbers stand one behind the other."""
    return 0 not in listed.shape and all(
        size == 1 or step == prod(listed.shape[axis + 1 :])
        for axis, (size, step) in enumerate(zip(listed.shape, listed.stride, strict=True))
    )
