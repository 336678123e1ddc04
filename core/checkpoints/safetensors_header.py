"""What a safetensors file lists, each place held against the bytes that are there.

    length of the header | {name: {dtype, shape, data_offsets}} | numbers

Free of torch; no number is read.
"""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, cast

from core.checkpoints.not_a_model import NotAModel
from core.reading import parse_json

MOST_HEADER_BYTES = 32_000_000
MOST_AXES = 8
_WIDTHS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64"), 8),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A tensor of a file."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def n_numbers(self) -> int:
        return prod(self.shape)


def read_safetensors_header(path: Path) -> list[Stored]:
    """Raises NotAModel naming the file and the tensor that is wrong; OSError where it cannot be
    read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        n_header = int.from_bytes(file.read(8), "little")
        if size < 8 or n_header > min(size - 8, MOST_HEADER_BYTES):
            raise NotAModel(
                f"{path}: not a whole safetensors file: its header claims {n_header:,} bytes of "
                f"{size:,}"
            )
        raw = file.read(n_header)
    try:
        header = parse_json(raw, str(path))
    except ValueError as error:
        raise NotAModel(str(error)) from None
    if not isinstance(header, dict):
        raise NotAModel(f"{path}: not a safetensors file: its header is no object")
    entries = cast(dict[str, Any], header)
    entries.pop("__metadata__", None)
    return _listed(path, entries, size - 8 - n_header)


def _listed(path: Path, entries: dict[str, Any], n_bytes: int) -> list[Stored]:
    placed = [(*_place(path, name, entry), name) for name, entry in entries.items()]
    end, stored = 0, list[Stored]()
    for start, stop, shape, dtype, name in sorted(placed, key=lambda place: place[:2]):
        if start != end or stop > n_bytes or prod(shape) * _WIDTHS[dtype] != stop - start:
            raise NotAModel(f"{path}: {name:.60} claims a shape and place that the file has not")
        end = stop
        stored.append(Stored(name=name, shape=shape, dtype=dtype))
    if end != n_bytes:
        raise NotAModel(f"{path}: holds {n_bytes:,} bytes of numbers, {end:,} are listed")
    return stored


def _place(path: Path, name: str, entry: object) -> tuple[int, int, tuple[int, ...], str]:
    stated = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
    shape, place, dtype = (stated.get(key) for key in ("shape", "data_offsets", "dtype"))
    if not _are_whole(shape) or not _are_whole(place) or len(cast(list[int], place)) != 2:
        raise NotAModel(f"{path}: {name:.60} is listed without a shape and a place")
    if not isinstance(dtype, str) or dtype not in _WIDTHS:
        raise NotAModel(f"{path}: {name:.60} is stored as {dtype!r:.40}, which is not known")
    start, stop = cast(list[int], place)
    return start, stop, tuple(cast(list[int], shape)), dtype


def _are_whole(value: object) -> bool:
    """Whether it is a short list of whole numbers, none below 0."""
    numbers = cast(list[object], value) if isinstance(value, list) else [None]
    return len(numbers) <= MOST_AXES and all(type(n) is int and n >= 0 for n in numbers)
