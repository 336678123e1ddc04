"""What a GGUF file says of itself, each count held against the bytes that are there.

    magic, version, n_tensors, n_values | key, kind, value … | name, shape, kind, offset … | numbers

The file is looked at through a memory map; no number of a tensor is read. Texts in lists (the
vocabulary) are counted and not kept. Free of torch and of transformers.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from core.checkpoints.not_a_model import NotAModel

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_ENTRIES = 2**16  # values, and tensors
MOST_KEY, MOST_TEXT, MOST_NAME = 2**10, 2**20, 256
MOST_LIST = 2**22  # of texts and numbers for each token of a vocabulary
MOST_LIST_BYTES, MOST_PIECE = 2**26, 2**11
MOST_KEPT = 2**12  # numbers of a list
MOST_AXES = 4
MOST_NUMBERS = 2**40
_KINDS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_TEXT, _LIST = 8, 9
_ALIGNMENT, _ARCHITECTURE = "general.alignment", "general.architecture"


@dataclass(frozen=True, slots=True, kw_only=True)
class GGUFTensor:
    """Where a tensor lies. shape: as torch has it, slowest axis first; kind: ggml's number."""

    name: str
    shape: tuple[int, ...]
    kind: int
    start: int
    n_bytes: int

    @property
    def n_numbers(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class GGUFHeader:
    """values: numbers, texts, short lists of numbers; of other lists their length. entries: where
    in the file each of them stands, from its key on.
    """

    path: Path
    version: int
    values: dict[str, Any]
    entries: dict[str, tuple[int, int]]
    tensors: tuple[GGUFTensor, ...]

    @property
    def architecture(self) -> str:
        return self.values[_ARCHITECTURE]

    @property
    def n_numbers(self) -> int:
        return sum(tensor.n_numbers for tensor in self.tensors)

    @property
    def dtype(self) -> str:
        """What the file calls its precisions; where it does not, that of most numbers."""
        from gguf import GGMLQuantizationType, LlamaFileType  # noqa: PLC0415 - it loads numpy

        stated = self.values.get("general.file_type")
        if isinstance(stated, int) and stated in {int(kind) for kind in LlamaFileType}:
            return LlamaFileType(stated).name.removeprefix("MOSTLY_").removeprefix("ALL_")
        counted = dict.fromkeys((tensor.kind for tensor in self.tensors), 0)
        for tensor in self.tensors:
            counted[tensor.kind] += tensor.n_numbers
        return GGMLQuantizationType(max(counted, key=counted.__getitem__)).name


def read_gguf_header(path: Path) -> GGUFHeader:
    """Raises NotAModel naming the file and what is wrong with it; OSError where it cannot be read.

    Cost: a pass over its values, 0.1 s for a vocabulary of 50,000.
    """
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise NotAModel(f"{path}: does not begin as a GGUF file does")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(path, data).read()


class _Reader:
    """A place in the file that moves on while it is read."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self.path, self.data, self.at = path, data, len(MAGIC)

    def read(self) -> GGUFHeader:
        version = self.number("I")
        if version not in VERSIONS:
            other = " (or its bytes stand in another order than here)" * (version & 0xFFFF == 0)
            raise self.refusal(f"is of version {version}{other}; {VERSIONS} are read")
        n_tensors, n_values = self.number("Q"), self.number("Q")
        for what, n, least in (("values", n_values, 13), ("tensors", n_tensors, 32)):
            if n > min(MOST_ENTRIES, self.n_left // least):
                raise self.refusal(f"claims {n:,} {what}, more than it can hold")
        values: dict[str, Any] = {}
        entries: dict[str, tuple[int, int]] = {}
        for _ in range(n_values):
            start, key = self.at, self.text(MOST_KEY, "a key")
            if key in values:
                raise self.refusal(f"says {key:.60} twice")
            values[key] = self.value(key)
            entries[key] = (start, self.at)
        self.refuse_unnamed(values)
        tensors = tuple(self.tensors(n_tensors, values.get(_ALIGNMENT, 32)))
        return GGUFHeader(
            path=self.path, version=version, values=values, entries=entries, tensors=tensors
        )

    def refuse_unnamed(self, values: dict[str, Any]) -> None:
        named, alignment = values.get(_ARCHITECTURE), values.get(_ALIGNMENT, 32)
        if not isinstance(named, str) or not named:
            raise self.refusal(f"names no architecture ({_ARCHITECTURE})")
        whole = isinstance(alignment, int) and not isinstance(alignment, bool)
        if not whole or not 0 < alignment <= 2**16 or alignment & (alignment - 1):
            raise self.refusal(f"{_ALIGNMENT} is {alignment!r:.40}, which is no power of two")

    def tensors(self, n_tensors: int, alignment: int) -> Iterator[GGUFTensor]:
        found = [self.listed() for _ in range(n_tensors)]
        if not found:
            raise self.refusal("holds no tensor")
        if len({name for name, *_ in found}) < len(found):
            raise self.refusal("lists a tensor twice")
        begin = -(-self.at // alignment) * alignment
        end = begin
        for name, shape, kind, offset in sorted(found, key=lambda entry: entry[3]):
            n_bytes, start = self.n_bytes(name, shape, kind), begin + offset
            if offset % alignment or start < end or start + n_bytes > len(self.data):
                raise self.refusal(f"{name:.60} claims a place that the file has not")
            end = start + n_bytes
            yield GGUFTensor(name=name, shape=shape, kind=kind, start=start, n_bytes=n_bytes)

    def listed(self) -> tuple[str, tuple[int, ...], int, int]:
        name, n_axes = self.text(MOST_NAME, "a tensor's name"), self.number("I")
        if not 0 < n_axes <= MOST_AXES:
            raise self.refusal(f"{name:.60} has {n_axes} axes; 1 to {MOST_AXES} are read")
        shape = tuple(self.number("Q") for _ in range(n_axes))[::-1]
        if not 0 < prod(shape) <= MOST_NUMBERS:
            raise self.refusal(f"{name:.60} claims {prod(shape):,} numbers")
        return name, shape, self.number("I"), self.number("Q")

    def n_bytes(self, name: str, shape: tuple[int, ...], kind: int) -> int:
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType  # noqa: PLC0415 - it loads numpy

        if kind not in {int(known) for known in GGMLQuantizationType}:
            raise self.refusal(f"{name:.60} is stored in a way that is not known ({kind})")
        in_block, n_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        if shape[-1] % in_block:
            raise self.refusal(f"{name:.60} has rows of {shape[-1]}, no multiple of {in_block}")
        return prod(shape) // in_block * n_bytes

    def value(self, key: str) -> Any:
        kind = self.number("I")
        if kind == _TEXT:
            return self.text(MOST_TEXT, key)
        if kind == _LIST:
            return self.list(key)
        return self.number(self.kind(kind, key))

    def list(self, key: str) -> Any:
        kind, n = self.number("I"), self.number("Q")
        width = 8 if kind == _TEXT else struct.calcsize(f"<{self.kind(kind, key)}")
        if n > min(MOST_LIST, self.n_left // width):
            raise self.refusal(f"{key:.60} claims {n:,} entries, more than it can hold")
        if kind == _TEXT:
            self.skip_texts(key, n)
            return n
        start = self.at
        self.skip(n * width)
        if n > MOST_KEPT:
            return n
        return list(struct.unpack_from(f"<{n}{_KINDS[kind]}", self.data, start))

    def skip_texts(self, key: str, n: int) -> None:
        """Without a call for each, of which there may be 300,000."""
        at, last, length = self.at, len(self.data) - 8, struct.Struct("<Q").unpack_from
        for _ in range(n):
            if at > last:
                raise self.refusal("ends in the middle")
            (n_bytes,) = length(self.data, at)
            if n_bytes > MOST_PIECE:
                raise self.refusal(f"{key:.60} claims a text of {n_bytes:,} bytes in a list")
            at += 8 + n_bytes
        if at - self.at > MOST_LIST_BYTES:
            raise self.refusal(
                f"{key:.60} has {at - self.at:,} bytes; {MOST_LIST_BYTES:,} are read"
            )
        self.skip(at - self.at)

    def kind(self, kind: int, key: str) -> str:
        if kind not in _KINDS:
            raise self.refusal(f"{key:.60} is of a kind that is not read ({kind})")
        return _KINDS[kind]

    def text(self, most: int, what: str) -> str:
        n = self.number("Q")
        if n > most:
            raise self.refusal(f"{what:.60} claims {n:,} bytes; at most {most:,} are read")
        start = self.at
        self.skip(n)
        try:
            return self.data[start : self.at].decode()
        except UnicodeDecodeError:
            raise self.refusal(f"{what:.60} is not UTF-8") from None

    def number(self, form: str) -> Any:
        start = self.at
        self.skip(struct.calcsize(f"<{form}"))
        return struct.unpack_from(f"<{form}", self.data, start)[0]

    def skip(self, n: int) -> None:
        if n > self.n_left:
            raise self.refusal("ends in the middle")
        self.at += n

    @property
    def n_left(self) -> int:
        return len(self.data) - self.at

    def refusal(self, said: str) -> NotAModel:
        return NotAModel(f"{self.path}: {said}")
