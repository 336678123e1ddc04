"""Reading a file of torch.save from anywhere: nothing in it is run, and no size it claims believed.

Only the format of torch 1.6 and later is read, a zip archive that stores its parts as they are, so
that what they claim can be counted before memory is taken. In the older one a storage is allocated
as large as it says it is. Of what torch.load would call, only what rebuilds dense tensors is let
through: it would call bytearray(10**10), too. torch gets a copy made of the parts that were looked
at, for its own reader may find others in the same bytes. Tensors may share their numbers, as tied
weights do, but no tensor may lie across another. The caller gives bytes, so a file's name is never
used for anything here.

What training code puts around a state dict is taken off and named. Scripts keep it in a dictionary:
{"model": state, "epoch": 3, …}. torch.compile and DataParallel hold the model as a module of
theirs, with which every name then begins; of single layers that were compiled it stands inside the
names: "blocks.0._orig_mod.ln1.bias".
"""

import io
import pickletools
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TypeVar, cast

import torch
from torch import Tensor

from core.checkpoints.store import CheckpointError

MOST_BYTES = 200_000_000
HOLDERS = ("model", "state_dict", "model_state_dict")
MOST_HOLDERS = 3  # a dictionary may hold itself
MODULES = {
    "_orig_mod.": "torch.compile",
    "module.": "DataParallel",
    "model.": "a module that holds the model",
}
COMPILED = "_orig_mod"
Held = TypeVar("Held")
_ZIP = b"PK\x03\x04"
_OLDER = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # torch's magic number, pickled
_REBUILDS = re.compile(
    r"collections OrderedDict|torch \w+Storage|torch\._utils _rebuild_(tensor_v2|parameter)"
)


def read_file(path: Path) -> bytes:
    """The bytes of a file of at most MOST_BYTES. Raises CheckpointError for anything else."""
    if not path.is_file():
        raise CheckpointError("not a file" if path.exists() else "there is no such file")
    if path.stat().st_size > MOST_BYTES:
        raise CheckpointError(f"{path.stat().st_size:,} bytes, more than the {MOST_BYTES:,} read")
    try:
        return path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot be read ({error.strerror})") from None


def read_params(data: bytes) -> tuple[dict[str, Tensor], list[str]]:
    """The tensors of a state dict by name, dense and on the CPU; and notes on what was around it.

    Raises CheckpointError in one sentence for whatever else the bytes are.
    """
    content = _load(data)
    if not isinstance(content, dict):
        raise CheckpointError(f"holds a {type(content).__name__}, not a state dict")
    items, notes = state_inside(cast(dict[object, object], content))
    tensors = {_name(key): _tensor(key, value) for key, value in items.items()}
    if not tensors:
        raise CheckpointError("the state dict is empty")
    _refuse_overlaps(tensors)
    claimed = sum(tensor.nbytes for tensor in tensors.values())
    if claimed > MOST_BYTES:
        raise CheckpointError(
            f"its {len(tensors):,} tensors are {claimed:,} bytes, each with numbers of its own; at "
            f"most {MOST_BYTES:,} are read"
        )
    return tensors, [*notes, *_ties(tensors)]


def refuse_other_formats(start: bytes) -> None:
    """Raise CheckpointError for a file that does not begin as those of torch.save do."""
    if not start:
        raise CheckpointError("the file is empty")
    if start.startswith(_OLDER):
        raise CheckpointError(
            "is in the format from before torch 1.6, whose sizes cannot be checked before memory "
            "is taken: open it with torch.load and save it again with a current torch.save"
        )
    if not start.startswith(_ZIP):
        raise CheckpointError("not a whole file that torch.save wrote (no zip archive)")


def _load(data: bytes) -> object:
    refuse_other_formats(data)
    try:
        return torch.load(_checked_copy(data), map_location="cpu", weights_only=True)
    except CheckpointError:
        raise
    except Exception as error:  # noqa: BLE001 - a broken file makes torch.load raise anything
        raise CheckpointError(
            f"not a whole file that torch.save wrote ({type(error).__name__})"
        ) from None


def _checked_copy(data: bytes) -> io.BytesIO:
    """Raises CheckpointError for parts that are together larger than the file, which torch.save
    never writes, and for a pickle that asks for anything but tensors.
    """
    copy = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(copy, "w") as taken:
        parts = given.infolist()
        claimed = sum(part.file_size for part in parts)
        if claimed > len(data):
            raise CheckpointError(f"its parts claim {claimed:,} bytes; the file has {len(data):,}")
        names = {part.filename.lower() for part in parts}  # torch's reader ignores case
        if len(names) < len(parts):
            raise CheckpointError("two of its parts have the same name")
        for part in parts:
            content = given.read(part)
            if part.filename.lower().endswith("data.pkl"):
                _refuse_other_calls(content)
            taken.writestr(part.filename, content)
    copy.seek(0)
    return copy


def _refuse_other_calls(pickled: bytes) -> None:
    for operation, asked, _ in pickletools.genops(pickled):
        if operation.name == "GLOBAL" and not _REBUILDS.fullmatch(str(asked)):
            name = ".".join(str(asked).split())
            raise CheckpointError(
                f"holds more than tensors: it asks for {name:.60}, and nothing of it was run"
            )


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise CheckpointError(f"a key of the state dict is {key!r:.60}, not a name")
    return key


def _tensor(key: object, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise CheckpointError(
            f"{key!r:.60} is a {type(value).__name__}, not a tensor; "
            "save model.state_dict() and nothing around it"
        )
    dense = value.layout == torch.strided and not value.is_quantized and not value.is_nested
    if not dense or value.device.type != "cpu" or not value.is_contiguous():
        raise CheckpointError(f"{key!r:.60} is not an ordinary tensor of its own numbers")
    return value.detach()


def _refuse_overlaps(tensors: Mapping[str, Tensor]) -> None:
    """Raise CheckpointError for a tensor that shares some of its numbers, but not all."""
    spans = sorted((*_span(tensor), name) for name, tensor in tensors.items() if tensor.nbytes)
    for (storage, start, end, name), (other, begin, ends, its_name) in pairwise(spans):
        if storage == other and begin < end and (begin, ends) != (start, end):
            raise CheckpointError(f"{its_name!r:.60} lies across the numbers of {name!r:.60}")


def _ties(tensors: Mapping[str, Tensor]) -> list[str]:
    """A note on names that stand for the same numbers."""
    spans = [_span(tensor) for tensor in tensors.values() if tensor.nbytes]
    n_tied = len(spans) - len(set(spans))
    return [f"{n_tied} of its tensors are tied: they share the numbers of another"] * bool(n_tied)


def _span(tensor: Tensor) -> tuple[int, int, int]:
    """The storage, and the first and last byte in it."""
    start = int(tensor.storage_offset()) * tensor.element_size()
    return tensor.untyped_storage().data_ptr(), start, start + tensor.nbytes


def state_inside(content: dict[object, object]) -> tuple[dict[object, object], list[str]]:
    """The state dict that a dictionary holds, and a note a dictionary; itself if it holds none.

    Raises CheckpointError if two of its entries may be meant.
    """
    notes: list[str] = []
    for _ in range(MOST_HOLDERS):
        found = [key for key in HOLDERS if isinstance(content.get(key), dict)]
        if not found:
            break
        if len(found) > 1:
            raise CheckpointError(
                f"holds {' and '.join(map(repr, found))}: save the one that is meant alone"
            )
        notes.append(f"of the file {found[0]!r} alone was read, not what lies beside it")
        content = cast(dict[object, object], content[found[0]])
    return content, notes


def without_modules(tensors: Mapping[str, Held]) -> tuple[dict[str, Held], list[str]]:
    """The tensors, or what stands for them, under the model's own names, and a note a wrapper.

    Raises CheckpointError if two names become one.
    """
    names = {name: name for name in tensors}
    notes: list[str] = []
    while (module := _common(names.values())) is not None:
        names = {old: name.removeprefix(module) for old, name in names.items()}
        notes.append(f"{module!r} of {MODULES[module]} was taken off all names")
    inner = {old: _without_compiled(name) for old, name in names.items()}
    if n_compiled := sum(inner[old] != name for old, name in names.items()):
        notes.append(f"{COMPILED + '.'!r} of torch.compile was taken off inside {n_compiled} names")
    twice = [name for name, times in Counter(inner.values()).items() if times > 1]
    if twice:
        raise CheckpointError(f"two of its names are {twice[0]:.60} once wrappers are taken off")
    return {inner[old]: tensor for old, tensor in tensors.items()}, notes


def _common(names: Iterable[str]) -> str | None:
    """The wrapper with which all names begin."""
    all_names = list(names)
    for module in MODULES:
        if all_names and all(name.startswith(module) for name in all_names):
            return module
    return None


def _without_compiled(name: str) -> str:
    return ".".join(part for part in name.split(".") if part != COMPILED)
