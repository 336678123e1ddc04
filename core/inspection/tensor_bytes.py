"""The arrays of a safetensors file from anywhere: sizes checked before memory is taken. No torch.

The format: 8 bytes with the length of a header, the header (JSON: dtype, shape and place of each
array), then the bytes of all arrays, without a gap. Nothing in it can be run.
"""

import math
from collections.abc import Collection
from typing import Annotated, Any, Literal, cast

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from core.reading import parse_json

MOST_HEADER = 4_000_000  # bytes; that of a thousand tokens has two hundred thousand
METADATA = "__metadata__"
DTYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BOOL": np.dtype(np.uint8)}
Size = Annotated[int, Meta(ge=0, le=2**40)]


class Placed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a header says of one array."""

    dtype: Literal["F32", "F16", "BOOL"]
    shape: Annotated[tuple[Size, ...], Meta(max_length=8)]
    data_offsets: tuple[Size, Size]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize


def read_arrays(
    data: bytes, known: Collection[str], key: str
) -> tuple[dict[str, NDArray[Any]], str]:
    """The arrays by name, as views of the bytes, and the text under `key` of the metadata.

    Raises ValueError for whatever is not such a file, and for an array that is not `known`.
    """
    header, start = _header(data)
    metadata = header.pop(METADATA, None)
    said = cast(dict[str, Any], metadata).get(key) if isinstance(metadata, dict) else None
    if not isinstance(said, str):
        raise ValueError(f"no trace: its metadata has no text {key!r}")
    placed = {name: _placed(name, value, known) for name, value in header.items()}
    _refuse_gaps(placed, len(data) - start)
    return {name: _array(data, start, name, at) for name, at in placed.items()}, said


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """What the header says, and where the arrays begin."""
    if len(data) < 8:
        raise ValueError(f"no trace: {len(data)} bytes")
    length, rest = int.from_bytes(data[:8], "little"), len(data) - 8
    if length > min(rest, MOST_HEADER):
        raise ValueError(
            f"not a whole trace file: its header claims {length:,} bytes; {rest:,} follow, and at "
            f"most {MOST_HEADER:,} are read"
        )
    header = parse_json(data[8 : 8 + length], "its header")
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    return cast(dict[str, Any], header), 8 + length


def _placed(name: str, value: Any, known: Collection[str]) -> Placed:
    if name not in known:
        raise ValueError(f"holds an unknown array {name!r:.60}; known are {', '.join(known)}")
    try:
        return msgspec.convert(value, Placed)
    except msgspec.ValidationError as error:
        raise ValueError(f"its header says of {name}: {error}") from None


def _refuse_gaps(placed: dict[str, Placed], n_bytes: int) -> None:
    """Raise ValueError unless the arrays fill what is there, one behind the other."""
    end = 0
    for name, at in sorted(placed.items(), key=lambda item: item[1].data_offsets):
        begin, stop = at.data_offsets
        if begin != end or stop - begin != at.n_bytes:
            raise ValueError(
                f"{name} of shape {at.shape} lies from byte {begin:,} to {stop:,}; {at.n_bytes:,} "
                f"bytes from {end:,} are needed"
            )
        end = stop
    if end != n_bytes:
        raise ValueError(f"its arrays have {end:,} bytes, the file {n_bytes:,} for them")


def _array(data: bytes, start: int, name: str, at: Placed) -> NDArray[Any]:
    count, begin = math.prod(at.shape), start + at.data_offsets[0]
    found = np.frombuffer(data, DTYPES[at.dtype], count, begin).reshape(at.shape)
    if at.dtype != "BOOL":
        return found
    if found.size and found.max() > 1:
        raise ValueError(f"{name} holds {found.max()}, neither false nor true")
    return found.view(np.bool_)
